// SPDX-License-Identifier: Apache-2.0
// A walker returns only codes that the API's documents declare.
// Signal-safe: yes.
#include <cstdio>

#include "harness/oracles/observation.h"
#include "harness/oracles/rows.h"

namespace walkhammer {
namespace {

constexpr OutcomeInfo kReturnCodeOutcomes[] = {
    {"declared", Grade::kAcceptable, "frames, or a code that the API declares"},
    {"undeclared", Grade::kForbidden, "a profiler cannot know what this code means"},
};

uint8_t JudgeReturnCode(const Observation& seen, char* detail, size_t size) {
  if (seen.trace.ending != Ending::kReturned || seen.trace.num_frames > 0) return 0;
  if (CodeName(*seen.walker, seen.trace.num_frames) != nullptr) return 0;
  std::snprintf(detail, size, "returned %d, which %s does not declare", seen.trace.num_frames,
                seen.walker->name);
  return 1;
}

}  // namespace

const Oracle kReturnCodeOracle = {"return-code", "only declared codes come back",
                                  kReturnCodeOutcomes, JudgeReturnCode, kNoFrames};

}  // namespace walkhammer
