// SPDX-License-Identifier: Apache-2.0
// Finds libasgst.so and its functions for the walkers that drive it. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_WALKERS_REFERENCE_LIBRARY_H_
#define WALKHAMMER_HARNESS_WALKERS_REFERENCE_LIBRARY_H_

#include <dlfcn.h>
#include <jni.h>

#include <string>
#include <utility>

#include "harness/base/result.h"

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

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_REFERENCE_LIBRARY_H_
