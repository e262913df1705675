// SPDX-License-Identifier: Apache-2.0
// Access to the JVM of this process for the reference provider, once Attach has succeeded.
// Signal-safe: all but Attach and CurrentEnv.
#ifndef WALKHAMMER_HARNESS_ASGST_PROCESS_ATTACH_H_
#define WALKHAMMER_HARNESS_ASGST_PROCESS_ATTACH_H_

#include <jni.h>
#include <ucontext.h>

#include "harness/asgst/walk/java_walk.h"
#include "harness/base/result.h"

namespace walkhammer::asgst {

// Reads this process through HotSpot's SafeFetch, which survives any address; through the kernel
// where SafeFetch was not found, and on threads on which SafeFetch does not work. Use it only on
// the thread that has made it.
class LiveMemory final : public MemoryReader {
 public:
  LiveMemory();
  bool ReadWord(uint64_t address, uint64_t& word) const override;
  bool is_safefetch() const { return fetch_ != 0; }

 private:
  friend LiveMemory MemoryOf(const WalkStart& start);
  // Addresses in [trusted_low, trusted_high) are read plainly. `fetch`: SafeFetch, or 0.
  LiveMemory(uint64_t trusted_low, uint64_t trusted_high, uint64_t fetch)
      : trusted_low_(trusted_low), trusted_bytes_(trusted_high - trusted_low), fetch_(fetch) {}

  uint64_t trusted_low_, trusted_bytes_, fetch_;
};

// Finds what walks need to know of the JVM `vm`. Call on a thread that is attached to the JVM, once
// the JVM is initialised. After a success, further calls do nothing. Several threads may call it.
Status Attach(JavaVM* vm);
// The JavaVM that Attach was given; null before Attach.
JavaVM* TheVm();
// Layout that walks need; null until Attach has succeeded.
const WalkLayout* Live();
// JavaThread* of the current thread; 0 if the thread has none. Call after Attach has succeeded.
// After DestroyJavaVM, the remaining threads keep theirs.
uint64_t CurrentJavaThread();
// JNIEnv of the current thread; null if the thread has none, or before Attach has succeeded.
// Signal-safe: no.
JNIEnv* CurrentEnv();

// Start of a walk of the current thread, whose JavaThread* is `thread`, from the registers of
// `context`; null: from the thread's anchor alone. `non_java`: the walk also gives frames of stubs,
// C and C++.
WalkStart StartOf(const ucontext_t* context, uint64_t thread, bool non_java = false);
// Start of a walk of the current thread, which is not a Java thread, from `registers` or, if that
// is null, those of `context`; both null: the walk finds nothing. Its stack's bounds are unknown,
// so its memory must be read through LiveMemory().
WalkStart StartOutsideJava(const ucontext_t* context, const Registers* registers = nullptr);
// Memory for a walk of the current thread from `start`: the thread's own stack above the guard
// zones is trusted.
LiveMemory MemoryOf(const WalkStart& start);

// Start of a walk of another thread; `context` and `non_java` as for StartOf. The other thread may
// change or end at any time: read its memory through LiveMemory() alone. False if the
// JavaThread cannot be read, or its stack bounds make no sense.
bool StartOfOther(const ucontext_t* context, uint64_t thread, WalkStart& start,
                  bool non_java = false);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_PROCESS_ATTACH_H_
