// SPDX-License-Identifier: Apache-2.0
// The JVM of this process, as the reference provider knows it once it is attached.
// Signal-safe: all but Attach.
#ifndef WALKHAMMER_HARNESS_ASGST_PROCESS_ATTACH_H_
#define WALKHAMMER_HARNESS_ASGST_PROCESS_ATTACH_H_

#include <jni.h>
#include <ucontext.h>

#include "harness/asgst/walk/java_walk.h"
#include "harness/base/result.h"

namespace walkhammer::asgst {

// Reads through HotSpot's SafeFetch, which survives any address; where a JVM hides it, through the
// kernel. What lies between `trusted_low` and `trusted_high` is read plainly.
class LiveMemory final : public MemoryReader {
 public:
  LiveMemory(uint64_t trusted_low, uint64_t trusted_high)
      : trusted_low_(trusted_low), trusted_bytes_(trusted_high - trusted_low) {}
  bool ReadWord(uint64_t address, uint64_t& word) const override;

 private:
  uint64_t trusted_low_, trusted_bytes_;
};

// To be called on a thread of the JVM, once the JVM is initialised.
Status Attach(JavaVM* vm);
// Which Attach was given.
JavaVM* TheVm();
// Null before Attach has succeeded.
const WalkLayout* Live();
// The current thread's JavaThread*, or 0 if it has none.
uint64_t CurrentJavaThread();
// Its JNIEnv, or null. Not for signal handlers.
JNIEnv* CurrentEnv();

// What a walk of the current thread starts from; no context: its anchor alone.
// `non_java`: with frames of stubs, C and C++.
WalkStart StartOf(const ucontext_t* context, uint64_t thread, bool non_java = false);
// For that walk: its own stack above the guard zones is trusted.
LiveMemory MemoryOf(const WalkStart& start);

// What a walk of another thread starts from. That thread may change or be gone at any time: all of
// it is to be read through SafeFetch alone, with LiveMemory(0, 0). False if there is no such thread
// any more.
bool StartOfOther(const ucontext_t* context, uint64_t thread, WalkStart& start,
                  bool non_java = false);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_PROCESS_ATTACH_H_
