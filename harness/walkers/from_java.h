// SPDX-License-Identifier: Apache-2.0
// CallFromJava: calls our own code from two known Java frames, which a probe of a walker's layout
// compares with. Defines a Java class for that, so it needs no class path.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_WALKERS_FROM_JAVA_H_
#define WALKHAMMER_HARNESS_WALKERS_FROM_JAVA_H_

#include <jni.h>

#include "harness/base/result.h"

namespace walkhammer {

// The two newest Java frames of the thread, newest first.
struct KnownFrames {
  jmethodID native;  // a native method
  jmethodID caller;  // a method in byte code, at `bci`
  int bci;
};

// Calls fun(frames, argument) from the native method, on the calling thread, which must be attached
// to `vm`. kToolFailed: `fun` was not called, or left a Java exception.
Status CallFromJava(JavaVM* vm, void (*fun)(const KnownFrames&, void*), void* argument);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_FROM_JAVA_H_
