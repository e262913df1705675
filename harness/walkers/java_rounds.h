// SPDX-License-Identifier: Apache-2.0
// What live examinations of an API need: CallRounds calls our own code from Java frames that then
// return to each other. It defines a Java class, so it needs no class path. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_WALKERS_JAVA_ROUNDS_H_
#define WALKHAMMER_HARNESS_WALKERS_JAVA_ROUNDS_H_

#include <jni.h>

#include "harness/base/function_ref.h"
#include "harness/base/result.h"

namespace walkhammer {

// A round: outer() calls inner(), which calls the native method inside() and returns; then outer()
// calls the native method after(), and returns.
struct RoundMethods {
  // At kInnerBci, inner() calls inside(). Its line number table says: bytecode 0 is in kFirstLine,
  // kInnerBci in kCallLine.
  static constexpr int kInnerBci = 4, kFirstLine = 100, kCallLine = 200;
  static constexpr char kClass[] = "walkhammer/JavaRounds", kInner[] = "inner",
                        kSignature[] = "(J)V";
  jclass klass = nullptr;
  jmethodID inside = nullptr, inner = nullptr, outer = nullptr;
};

// Plays `rounds` rounds on the calling thread, which must be attached to `vm`. `inside` and `after`
// are what the native methods do. The first call of `inside` is guarded, see CallUnknown.
// kToolFailed: the class does not run, or leaves a Java exception. kUnable: the guarded call
// crashed or hung.
Status CallRounds(JavaVM* vm, int rounds, FunctionRef<void(const RoundMethods&)> inside,
                  FunctionRef<void()> after);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_JAVA_ROUNDS_H_
