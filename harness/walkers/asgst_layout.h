// SPDX-License-Identifier: Apache-2.0
// The three layouts that AsyncGetStackTrace has had under the one name, and the probe that finds
// the layout of a function. All three have the frames of asgst.h; their traces differ.
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

struct AsgstEarlyTrace {
  jint num_frames;
  uint8_t kind;  // 0 Java, 1 C++, 2 GC, 3 deoptimisation, 4 unknown
  ASGST_CallFrame* frames;
  void* frame_info;
};

struct AsgstLateTrace {
  jint num_frames;
  uint8_t kind;  // in: mask of the wanted AsgstKinds, 0 for all; out: the trace's AsgstKind
  jint state;    // in: mask of the wanted states, 0 for all; out: JVMTI's thread state
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
// Late only; without this option, the late prototype refuses to walk the current thread.
inline constexpr uint32_t kAsgstSameThread = 8;

// The late prototype's further codes.
inline constexpr int kAsgstNoThread = -11, kAsgstUnsafeState = -12, kAsgstWrongState = -13,
                     kAsgstWrongKind = -14;

// The late prototype's type of a frame in C or C++; in the other two layouts, a stub's type.
inline constexpr uint8_t kAsgstLateCppFrame = 4;

using AsgstFunction = void (*)(void* trace, jint depth, void* context, uint32_t options);

// Returns the layout that `function` follows. Walks the current thread, whose newest frames are
// `known`, as `context`, a ucontext_t, shows it, and checks what was written where: each word of
// the trace is a canary or points to an area of its own, so every layout finds memory at its
// pointers. kUnable, with what was seen: no layout fits.
Result<AsgstLayout> ProbeAsgst(AsgstFunction function, const KnownFrames& known, void* context);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_ASGST_LAYOUT_H_
