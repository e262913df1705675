// SPDX-License-Identifier: Apache-2.0
#include "harness/walkers/profiler_frames.h"

#include <cstring>

namespace walkhammer {
namespace {

constexpr int32_t kErrorFrame = -18;     // BCI_ERROR: the method is a text
constexpr int32_t kNativeFrame = -11;    // BCI_NATIVE_FRAME of java-profiler: the same
constexpr int32_t kLastPlainIndex = -9;  // of AsyncGetCallTrace; below: other kinds of frames

constexpr ErrorFrame kVmErrors[] = {
    {"break_not_walkable", -1, WalkEnd::kUnreadable},
    {"break_stack_range", -2, WalkEnd::kUnreadable},
    {"unknown_nmethod", -3, WalkEnd::kNoCaller},
    {"break_deopt", -4, WalkEnd::kDeopt},
    {"break_interpreted", -5, WalkEnd::kNoMethod},
    {"break_compiled", -6, WalkEnd::kNoCaller},
    {"break_entry_frame", -7, WalkEnd::kAnchor},
    {"break_stub", -8, WalkEnd::kUnknownStub},
};

constexpr ErrorFrame kJavaTraceErrors[] = {
    {"GC_active", -2, WalkEnd::kState},     {"not_walkable_not_Java", -4, WalkEnd::kNoTop},
    {"unknown_Java", -5, WalkEnd::kNoTop},  {"not_walkable_Java", -6, WalkEnd::kNoTop},
    {"unknown_state", -7, WalkEnd::kState}, {"deoptimization", -9, WalkEnd::kDeopt},
    {"safepoint", -10, WalkEnd::kState},    {"call_stub", -11, WalkEnd::kUnknownStub},
};

ErrorFrame ErrorBy(const ProfilerFrames& kind, const void* text) {
  for (const ErrorFrame& known : kind.errors)
    if (std::strcmp(static_cast<const char*>(text), known.text) == 0) return known;
  return kind.other_error;
}

// java-profiler since 1.41 ends the stack of a virtual thread with this frame, unless its option
// carrier_frames is on.
bool EndsAtContinuation(const AgctFrame& frame) {
  return frame.lineno == kNativeFrame && frame.method_id != nullptr &&
         std::strcmp(reinterpret_cast<const char*>(frame.method_id), "JVM Continuation") == 0;
}

// FrameType::encode: 1 << 24 | type << 25 | bytecode index of 24 bits, -1 included.
bool IsJava(const AgctFrame& frame, bool encoded) {
  return encoded ? frame.lineno >> 24 > 0 : frame.lineno >= kLastPlainIndex;
}

int32_t ByteCodeIndexOf(const AgctFrame& frame, bool encoded) {
  if (!encoded) return frame.lineno;
  return static_cast<int32_t>(static_cast<uint32_t>(frame.lineno) << 8) >> 8;
}

}  // namespace

void ProfilerFrames::Keep(AgctFrame* frames, int count, int depth, bool (*is_native)(void*),
                          Trace& trace) const {
  trace.num_frames = count;
  if (count < 0 || count > depth) return;
  trace.ended_on_request = count == depth;
  trace.end = count == depth ? WalkEnd::kDepth : WalkEnd::kWhole;
  auto* kept = reinterpret_cast<Frame*>(frames);
  int java = 0;
  int32_t code = 0;
  for (int i = 0; i < count; i++) {
    const AgctFrame frame = frames[i];
    if (frame.lineno == kErrorFrame) {
      const ErrorFrame by = ErrorBy(*this, frame.method_id);
      code = by.code;
      trace.end = by.end;
      trace.broke_off = true;
    }
    if (EndsAtContinuation(frame)) trace.ended_on_request = true;
    if (!IsJava(frame, encoded)) continue;
    const bool native = is_native != nullptr && is_native(frame.method_id);
    kept[java++] = {native ? kAgctNativeBci : ByteCodeIndexOf(frame, encoded), 0, frame.method_id};
  }
  trace.num_frames = java > 0 ? java : code;
}

const ProfilerFrames kVmFrames = {
    kVmErrors, {"another error frame", -9, WalkEnd::kUnreadable}, true};

const ProfilerFrames kJavaTraceFrames = {
    kJavaTraceErrors, {"another error frame", -12, WalkEnd::kNoTop}, false};

}  // namespace walkhammer
