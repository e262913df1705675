// SPDX-License-Identifier: Apache-2.0
// ProfilerLibrary: a profiler's released library, unmodified, as the source of a walker that the
// library does not export: its functions are found by the names in .symtab. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_WALKERS_PROFILER_LIBRARY_H_
#define WALKHAMMER_HARNESS_WALKERS_PROFILER_LIBRARY_H_

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "harness/walkers/walker.h"

namespace walkhammer {

class ProfilerLibrary {
 public:
  // Loads host.provider, never unloads it, and has it initialise itself in this JVM, once per
  // process, as it does when a running JVM loads it. What handler of SIGSEGV it installs becomes
  // the walkers' own protection, see AdoptWalkersProtection. `profiler`: its name, for messages.
  // kUnable: no library was named, or it refuses this JVM; kBadInput: the file cannot be loaded.
  static Result<ProfilerLibrary> Open(const WalkerHost& host, const std::string& profiler);

  // A function in the first of some forms that the library has.
  struct Form {
    size_t index;   // in `forms`
    void* address;  // in this process
  };
  // `name` is what messages call the function, `prefixes` its mangled names without parameters,
  // `forms` the mangled names of the forms that the caller knows. kUnable: there is none of them; a
  // message lists the other forms. Parts and clones that a compiler made do not count: their
  // parameters may differ.
  Result<Form> Find(const std::string& name, std::span<const char* const> prefixes,
                    std::span<const std::string_view> forms) const;
  Result<Form> Find(const std::string& name, std::span<const char* const> prefixes,
                    std::initializer_list<std::string_view> forms) const {
    return Find(name, prefixes, std::span(forms.begin(), forms.size()));
  }
  // The variable of that mangled name, or null.
  void* Variable(std::string_view name) const;

 private:
  ProfilerLibrary(std::string path, uint64_t bias) : path_(std::move(path)), bias_(bias) {}

  std::string path_;
  uint64_t bias_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_PROFILER_LIBRARY_H_
