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
  // Whether the byte code index holds the kind of frame, too (FrameType::encode of vmEntry.h), or
  // is as AsyncGetCallTrace gives it.
  bool encoded;

  // Keeps the Java frames of the `count` at `frames`, at their front, as the trace's frames. A
  // frame of an error marks the answer as truncated: the walker says that there may be more.
  // `is_native` as in WalkerHost.
  void Keep(AgctFrame* frames, int count, int depth, bool (*is_native)(void*), Trace& trace) const;
};

// StackWalker::walkVM of both profilers: its mangled name without its parameters, and what it
// writes. "break_not_walkable" is written by the
// walker's crash protection.
inline constexpr char kWalkVm[] = "_ZN11StackWalker6walkVME";
extern const ProfilerFrames kVmFrames;
inline constexpr int32_t kNoLock = -11;  // no jump buffer was free
inline constexpr DeclaredCode kVmFramesCodes[] = {
    {0, "no_Java_frame"},      {-1, "break_not_walkable"}, {-2, "break_stack_range"},
    {-3, "unknown_nmethod"},   {-4, "break_deopt"},        {-5, "break_interpreted"},
    {-6, "break_compiled"},    {-7, "break_entry_frame"},  {-8, "break_stub"},
    {-9, "other_error_frame"}, {kNoLock, "skipped"},
};

// Profiler::getJavaTraceAsync of both profilers, over AsyncGetCallTrace: its codes, by the texts of
// Profiler::asgctError.
extern const ProfilerFrames kJavaTraceFrames;
inline constexpr DeclaredCode kJavaTraceCodes[] = {
    {0, "no_Java_frame"},       {-2, "GC_active"},         {-4, "not_walkable_not_Java"},
    {-5, "unknown_Java"},       {-6, "not_walkable_Java"}, {-7, "unknown_state"},
    {-9, "deoptimization"},     {-10, "safepoint"},        {-11, "call_stub"},
    {-12, "other_error_frame"},
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_PROFILER_FRAMES_H_
