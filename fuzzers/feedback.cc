// SPDX-License-Identifier: Apache-2.0
#include "fuzzers/feedback.h"

#include <bit>

#include "harness/base/hash.h"

namespace walkhammer {
namespace {

// Half of the shape counters are for crashes: each crash site is worth keeping an input.
constexpr size_t kCrashShapes = Feedback::kShapes / 2;

}  // namespace

void Feedback::NoteShape(const WalkRequest& request, const Trace& trace, const Fault& fault,
                         Disagreement differed) const {
  uint8_t* shapes = counters_ + kBlocks;
  if (trace.ending != Ending::kReturned) {
    // A hang counts without its site: the pc at which a loop was interrupted is chance.
    const uint64_t site = trace.ending == Ending::kHung ? 0 : fault.registers.pc;
    shapes[Scramble(site) % kCrashShapes] = 1;
    return;
  }
  // Frames: 64 + bit width of their number. Error: the code without its sign.
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
