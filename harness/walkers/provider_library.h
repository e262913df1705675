// SPDX-License-Identifier: Apache-2.0
// Where walkers find their functions: those of provider ref in libasgst.so, those of provider jdk
// in libjvm or in the library that the user names instead. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_WALKERS_PROVIDER_LIBRARY_H_
#define WALKHAMMER_HARNESS_WALKERS_PROVIDER_LIBRARY_H_

#include <dlfcn.h>

#include <string>
#include <utility>

#include "harness/base/result.h"
#include "harness/walkers/walker.h"

namespace walkhammer {

// Loads libasgst.so from the folder of the file that this code is in (the child, the agent) and
// attaches it to the JVM. To be called on a thread that is attached to the JVM. Returns a dlopen
// handle that is never closed.
Result<void*> OpenReference(JavaVM* vm);

// Looks functions up: for each, its name, then the variable that gets its address. kToolFailed: one
// is missing.
template <typename Function, typename... More>
Status FindIn(void* library, const char* name, Function& function, More&&... more) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr)
    return ToolFailed(std::string("libasgst.so lacks ") + name + ": rebuild it");
  if constexpr (sizeof...(more) > 0)
    return FindIn(library, std::forward<More>(more)...);
  else
    return Ok();
}

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
  ProviderLibrary(void* handle, const WalkerHost& host)
      : handle_(handle), name_(host.provider), option_(host.option) {}

  void* handle_;
  std::string name_;  // the library's file; empty: libjvm
  std::string option_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_PROVIDER_LIBRARY_H_
