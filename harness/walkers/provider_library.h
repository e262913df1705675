// SPDX-License-Identifier: Apache-2.0
// ProviderLibrary: where a walker of provider jdk finds its functions: libjvm, or the library that
// the user names instead. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_WALKERS_PROVIDER_LIBRARY_H_
#define WALKHAMMER_HARNESS_WALKERS_PROVIDER_LIBRARY_H_

#include <dlfcn.h>

#include <string>

#include "harness/base/result.h"
#include "harness/walkers/walker.h"

namespace walkhammer {

class ProviderLibrary {
 public:
  // Loads host.provider, never unloads it, and calls its asgst_attach (asgst.h) if it exports that;
  // if host.provider is empty, takes libjvm. kBadInput: the library cannot be loaded; kUnable:
  // asgst_attach fails.
  static Result<ProviderLibrary> Open(const WalkerHost& host);

  // Sets `function` to null if the library does not export `name`.
  template <typename Function>
  void Find(const std::string& name, Function& function) const {
    function = reinterpret_cast<Function>(dlsym(handle_, name.c_str()));
  }
  // The failure to return if `function` is missing.
  Failure Lacks(const std::string& function) const;

 private:
  ProviderLibrary(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}

  void* handle_;
  std::string name_;  // the library's file; empty: libjvm
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_PROVIDER_LIBRARY_H_
