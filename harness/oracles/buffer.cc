// SPDX-License-Identifier: Apache-2.0
// The walker writes only its own frames: canaries are below and above them.
// Signal-safe: yes.
#include <cstdio>

#include "harness/oracles/observation.h"
#include "harness/oracles/rows.h"

namespace walkhammer {
namespace {

constexpr OutcomeInfo kBufferOutcomes[] = {
    {"intact", Grade::kAcceptable, "the canaries around the buffer are unchanged"},
    {"overwritten", Grade::kForbidden, "memory of the profiler was overwritten"},
};

uint8_t JudgeBuffer(const Observation& seen, char* detail, size_t size) {
  if (seen.trace.ending != Ending::kReturned || seen.buffer_intact) return 0;
  std::snprintf(detail, size, "wrote outside of a buffer of %d frames", seen.request->depth);
  return 1;
}

}  // namespace

const Oracle kBufferOracle = {"buffer", "nothing is written around the frames", kBufferOutcomes,
                              JudgeBuffer, kOverwrote};

}  // namespace walkhammer
