// SPDX-License-Identifier: Apache-2.0
// What probes of a walker's layout need: CallFromJava calls our own code from two known Java
// frames, for which it defines a Java class, so it needs no class path. CallUnknown makes the first
// call of an unknown implementation. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_WALKERS_FROM_JAVA_H_
#define WALKHAMMER_HARNESS_WALKERS_FROM_JAVA_H_

#include <jni.h>

#include "harness/base/function_ref.h"
#include "harness/base/result.h"

namespace walkhammer {

// The two newest Java frames of the thread, newest first.
struct KnownFrames {
  jmethodID native;  // a native method
  jmethodID caller;  // a method in bytecode, at `bci`
  int bci;
};

// Calls probe(frames) from the native method, on the calling thread, which must be attached to
// `vm`. kToolFailed: `probe` was not called, or left a Java exception.
Status CallFromJava(JavaVM* vm, FunctionRef<void(const KnownFrames&)> probe);

// Runs `call`, inside the guard if that is in place (the agent installs the guard later). kUnable:
// `call` crashed or hung inside the guard. One thread at a time.
Status CallUnknown(FunctionRef<void()> call);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_FROM_JAVA_H_
