// SPDX-License-Identifier: Apache-2.0
// A walker returns no more frames than asked for.
// Signal-safe: yes.
#include <cstdio>

#include "harness/oracles/observation.h"
#include "harness/oracles/rows.h"

namespace walkhammer {
namespace {

constexpr OutcomeInfo kFrameCountOutcomes[] = {
    {"within-depth", Grade::kAcceptable, "at most depth frames"},
    {"beyond-depth", Grade::kForbidden, "a profiler would read beyond its buffer"},
};

uint8_t JudgeFrameCount(const Observation& seen, char* detail, size_t size) {
  if (seen.trace.ending != Ending::kReturned) return 0;
  if (seen.trace.num_frames <= seen.request->depth) return 0;
  std::snprintf(detail, size, "%d frames returned for a depth of %d", seen.trace.num_frames,
                seen.request->depth);
  return 1;
}

}  // namespace

const Oracle kFrameCountOracle = {"frame-count", "no more frames than asked for",
                                  kFrameCountOutcomes, JudgeFrameCount, kTooManyFrames};

}  // namespace walkhammer
