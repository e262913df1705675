// SPDX-License-Identifier: Apache-2.0
// libasgst.so, as the walkers that drive it find it. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_WALKERS_REFERENCE_LIBRARY_H_
#define WALKHAMMER_HARNESS_WALKERS_REFERENCE_LIBRARY_H_

#include <dlfcn.h>
#include <jni.h>

#include <string>
#include <utility>

#include "harness/base/result.h"

namespace walkhammer {

// Loads it from beside what this code is part of (the child, the agent) and attaches it to the JVM;
// to be called on one of the JVM's threads. The value is a dlopen handle, never closed.
Result<void*> OpenReference(JavaVM* vm);

// Looks functions up: the name of each, and where its address goes.
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
