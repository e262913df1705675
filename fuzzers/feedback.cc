// SPDX-License-Identifier: Apache-2.0
#include "fuzzers/feedback.h"

#include <bit>

#include "harness/base/hash.h"

namespace walkhammer {
namespace {

// Crashes have half of the shapes for themselves: each site is worth an input.
constexpr size_t kCrashShapes = Feedback::kShapes / 2;

}  // namespace

void Feedback::NoteShape(const WalkRequest& request, const Trace& trace, const Fault& fault,
                         Disagreement differed) const {
  uint8_t* shapes = counters_ + kBlocks;
  if (trace.ending != Ending::kReturned) {
    // Where a loop was left is chance, and would make each hang a find.
    const uint64_t site = trace.ending == Ending::kHung ? 0 : fault.registers.pc;
    shapes[Scramble(site) % kCrashShapes] = 1;
    return;
  }
  // An error: which one. Frames: how many, roughly.
  const uint64_t answer =
      trace.num_frames > 0
          ? 64 + static_cast<uint64_t>(std::bit_width(static_cast<uint32_t>(trace.num_frames)))
          : static_cast<uint64_t>(-trace.num_frames);
  const uint64_t anchored = request.anchor != AnchorMode::kCleared ? 1 : 0;
  const uint64_t shape =
      static_cast<uint64_t>(differed) << 32 | answer << 16 | request.scene << 1 | anchored;
  shapes[kCrashShapes + Scramble(shape) % kCrashShapes] = 1;
}

}  // namespace walkhammer
