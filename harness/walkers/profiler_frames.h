// SPDX-License-Identifier: Apache-2.0
// The list of frames that async-profiler and its descendants write, and what of it is the answer:
// Java frames between frames of stubs, of C and of errors. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_WALKERS_PROFILER_FRAMES_H_
#define WALKHAMMER_HARNESS_WALKERS_PROFILER_FRAMES_H_

#include <cstdint>
#include <span>

#include "harness/base/walk_end.h"
#include "harness/request/walker_table.h"
#include "harness/walkers/agct.h"

namespace walkhammer {

// The text of an error frame, the answer where there is no Java frame above it, and the end of the
// walk where there is.
struct ErrorFrame {
  const char* text;
  int32_t code;
  WalkEnd end;
};

struct ProfilerFrames {
  std::span<const ErrorFrame> errors;
  ErrorFrame other_error;  // for a text that is not in `errors`
  // Whether the bytecode index holds the kind of frame, too (FrameType::encode of vmEntry.h), or
  // is as AsyncGetCallTrace gives it.
  bool encoded;

  // Keeps the Java frames of the `count` at `frames`, at their front, as the trace's frames. A
  // frame of an error marks the answer as truncated: the walker says that there may be more.
  // `is_native` as in WalkerHost.
  void Keep(AgctFrame* frames, int count, int depth, bool (*is_native)(void*), Trace& trace) const;
};

// What StackWalker::walkVM of both profilers writes; its crash protection writes
// "break_not_walkable".
extern const ProfilerFrames kVmFrames;
inline constexpr int32_t kNoLock = -11;  // no jump buffer was free

// What Profiler::getJavaTraceAsync of both profilers, over AsyncGetCallTrace, writes.
extern const ProfilerFrames kJavaTraceFrames;

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_PROFILER_FRAMES_H_
