// SPDX-License-Identifier: Apache-2.0
// ProfilerLibrary: a profiler's released library, unmodified, as the source of a walker that the
// library does not export: its functions are found by the names in .symtab. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_WALKERS_PROFILER_LIBRARY_H_
#define WALKHAMMER_HARNESS_WALKERS_PROFILER_LIBRARY_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/elf/elf_functions.h"
#include "harness/walkers/walker.h"

namespace walkhammer {

class ProfilerLibrary {
 public:
  // Loads host.provider, never unloads it, and has it initialise itself in this JVM, once per
  // process, as it does when a JVM loads it. What handler of SIGSEGV it installs becomes the
  // walkers' own protection, see AdoptWalkersProtection.
  // `profiler`: its name, for messages. kUnable: no library was named, or it refuses this JVM;
  // kBadInput: the file cannot be loaded.
  static Result<ProfilerLibrary> Open(const WalkerHost& host, const std::string& profiler);

  // The functions whose mangled name begins with `prefix`, without the parts and clones that a
  // compiler makes: their parameters may differ.
  std::vector<ElfFunction> Functions(std::string_view prefix) const;
  // The address in this process.
  void* AddressOf(const ElfFunction& function) const;

 private:
  ProfilerLibrary(std::string path, uint64_t bias) : path_(std::move(path)), bias_(bias) {}

  std::string path_;
  uint64_t bias_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_PROFILER_LIBRARY_H_
