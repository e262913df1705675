// SPDX-License-Identifier: Apache-2.0
#include "stress/answer_hash.h"

#include "harness/base/hash.h"

namespace walkhammer::stress {

uint64_t HashOfFrames(const Trace& trace) {
  uint64_t hash = Mix(static_cast<uint64_t>(trace.num_frames), trace.MayGoOn() ? 1 : 0);
  for (int i = 0; i < trace.num_frames; i++)
    hash = Mix(Mix(hash, trace.frames[i].method), static_cast<uint32_t>(trace.frames[i].bci));
  return hash | 1;
}

uint64_t HashOfAnswer(const Observation& seen) {
  if (seen.trace.ending != Ending::kReturned || !seen.buffer_intact ||
      seen.unsafe_call->function != nullptr || seen.stack_write.found ||
      seen.before != seen.after || seen.sample->shadow != nullptr || seen.other.walker != nullptr ||
      seen.trace.described != nullptr || seen.trace.complaint != nullptr ||
      seen.trace.num_frames > seen.request->depth)
    return 0;
  return HashOfFrames(seen.trace);
}

}  // namespace walkhammer::stress
