// SPDX-License-Identifier: Apache-2.0
// The frames of an undisturbed walk have the types and compile levels that the scene was set up
// with. Signal-safe: yes.
#include <cstdio>

#include "harness/oracles/observation.h"
#include "harness/oracles/rows.h"

namespace walkhammer {
namespace {

constexpr OutcomeInfo kFrameKindOutcomes[] = {
    {"right", Grade::kAcceptable, "as set up, or nothing is known of it"},
    {"wrong-type", Grade::kForbidden,
     "an inlined frame for a real one, a native one for Java, ..."},
    {"wrong-level", Grade::kForbidden, "another compile level than that of the code on the stack"},
    {"guessed", Grade::kInteresting, "one of these, of a frame that the walker called a guess"},
};

uint8_t JudgeFrameKind(const Observation& seen, char* detail, size_t size) {
  if (!seen.pristine || seen.trace.ending != Ending::kReturned) return 0;
  for (size_t i = seen.true_frames;
       i < seen.truth.size() && static_cast<int>(i) < seen.trace.num_frames; i++) {
    const Frame &want = seen.truth[i], &have = seen.trace.frames[i];
    // Other methods are left to the oracle truth.
    if (i >= seen.request->depth || want.method != have.method) return 0;
    if (want.kind == 0 || have.kind == 0 || want.kind == have.kind) continue;
    std::snprintf(detail, size, "frame %zu is of type %d at level %d, should be %d at %d", i,
                  have.kind & 0xff, have.kind >> 8, want.kind & 0xff, want.kind >> 8);
    if (seen.trace.IsGuess(static_cast<int>(i))) return 3;
    return (want.kind & 0xff) != (have.kind & 0xff) ? 1 : 2;
  }
  return 0;
}

}  // namespace

const Oracle kFrameKindOracle = {
    "frame-kind", "frames of undisturbed walks have the types and compile levels of the scene",
    kFrameKindOutcomes, JudgeFrameKind, kPristine | kOtherFrames};

}  // namespace walkhammer
