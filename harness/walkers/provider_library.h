// SPDX-License-Identifier: Apache-2.0
// Where a walker of provider jdk finds its functions: in libjvm, or in the library that the user
// names instead. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_WALKERS_PROVIDER_LIBRARY_H_
#define WALKHAMMER_HARNESS_WALKERS_PROVIDER_LIBRARY_H_

#include <dlfcn.h>

#include <string>

#include "harness/base/result.h"
#include "harness/walkers/walker.h"

namespace walkhammer {

class ProviderLibrary {
 public:
  // Loads host.provider, where there is one; it is never unloaded. kBadInput where it cannot be.
  // A library that exports asgst_attach (asgst.h) is first given the JVM.
  static Result<ProviderLibrary> Open(const WalkerHost& host);

  // Null where the library has no such function.
  template <typename Function>
  void Find(const std::string& name, Function& function) const {
    function = reinterpret_cast<Function>(dlsym(handle_, name.c_str()));
  }
  // What to say where the function is missing.
  Failure Lacks(const std::string& function) const;

 private:
  ProviderLibrary(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}

  void* handle_;
  std::string name_;  // the file's; empty: libjvm
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_PROVIDER_LIBRARY_H_
