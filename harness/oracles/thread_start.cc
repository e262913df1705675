// SPDX-License-Identifier: Apache-2.0
// The outermost frame of a sample is where a thread starts: any other frame hints at lost callers.
// Signal-safe: yes.
#include <cstdio>

#include "harness/oracles/observation.h"
#include "harness/oracles/rows.h"

namespace walkhammer {
namespace {

constexpr OutcomeInfo kThreadStartOutcomes[] = {
    {"complete", Grade::kAcceptable, "the outermost frame is one that threads start with"},
    {"cut-off", Grade::kInteresting,
     "callers are missing, or the JVM called this method itself at a place not seen before"},
};

uint8_t JudgeThreadStart(const Observation& seen, char* detail, size_t size) {
  if (seen.sample == nullptr || seen.trace.ending != Ending::kReturned) return 0;
  const int frames = seen.trace.num_frames;
  if (frames <= 0 || frames >= seen.request->depth) return 0;
  const MethodEntry* last = seen.methods->Find(seen.trace.frames[frames - 1].method);
  if (last == nullptr || last->starts_threads.load(std::memory_order_relaxed)) return 0;
  std::snprintf(detail, size, "the outermost of %d frames is %s", frames, last->name);
  return 1;
}

}  // namespace

const Oracle kThreadStartOracle = {"thread-start", "samples reach the start of their thread",
                                   kThreadStartOutcomes, JudgeThreadStart, kSampled};

}  // namespace walkhammer
