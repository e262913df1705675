// SPDX-License-Identifier: Apache-2.0
// The three layouts that AsyncGetStackTrace has had under the one name, and the probe that tells
// which of them a function follows. Frames are those of asgst.h in all three; the trace before
// them differs.
// Signal-safe: the structures yes, the probe no.
#ifndef WALKHAMMER_HARNESS_WALKERS_ASGST_LAYOUT_H_
#define WALKHAMMER_HARNESS_WALKERS_ASGST_LAYOUT_H_

#include <cstddef>
#include <cstdint>

#include "harness/asgst/include/asgst.h"
#include "harness/walkers/from_java.h"

namespace walkhammer {

enum class AsgstLayout : uint8_t {
  kDraft,  // JEP 435's draft: ASGST_CallTrace
  kEarly,  // the early prototype: AsgstEarlyTrace
  kLate,   // the late prototype: AsgstLateTrace
};
const char* AsgstLayoutWord(AsgstLayout layout);

struct AsgstEarlyTrace {
  jint num_frames;
  uint8_t kind;  // 0 Java, 1 C++, 2 GC, 3 deoptimisation, 4 unknown
  ASGST_CallFrame* frames;
  void* frame_info;
};

struct AsgstLateTrace {
  jint num_frames;
  uint8_t kind;  // out: one of AsgstKind; in: those that are wanted, 0 for all
  jint state;    // JVMTI's thread state; in: those that are wanted, 0 for all
  ASGST_CallFrame* frames;
  void* frame_info;
};

static_assert(offsetof(AsgstEarlyTrace, frames) == offsetof(ASGST_CallTrace, frames));
static_assert(offsetof(AsgstLateTrace, state) == 8 && offsetof(AsgstLateTrace, frames) == 16);
static_assert(offsetof(AsgstEarlyTrace, kind) == 4 && offsetof(AsgstLateTrace, kind) == 4);

// The late prototype's kinds of traces.
enum AsgstKind : uint8_t {
  kAsgstJava = 1,
  kAsgstCpp = 2,
  kAsgstGc = 4,
  kAsgstDeopt = 8,
  kAsgstNewThread = 16,
  kAsgstUnknown = 32,
};

// Options of the prototypes.
inline constexpr uint32_t kAsgstNonJavaThreads = 2;
inline constexpr uint32_t kAsgstUnsafeStates = 4;  // late only
// Late only; without it, that layout refuses to walk the current thread.
inline constexpr uint32_t kAsgstSameThread = 8;

// The late prototype's further codes.
inline constexpr int kAsgstNoThread = -11, kAsgstUnsafeState = -12, kAsgstWrongState = -13,
                     kAsgstWrongKind = -14;

// Its type of a frame in C or C++. Of the others' it is a stub's.
inline constexpr uint8_t kAsgstLateCppFrame = 4;

using AsgstFunction = void (*)(void* trace, jint depth, void* context, uint32_t options);

// Walks the current thread, whose newest frames are `known`, into a trace of which each word is a
// canary or leads to an area of its own, and looks at what was written where. Whatever layout the
// function follows, it finds memory behind each pointer. Fails with kUnable where no layout fits,
// and says what was seen.
Result<AsgstLayout> ProbeAsgst(AsgstFunction function, const KnownFrames& known, void* context);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_ASGST_LAYOUT_H_
