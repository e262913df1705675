// SPDX-License-Identifier: Apache-2.0
// A load of the walker was made to fail as if its page were gone. A walker that protects the load
// gets over that: it answers with less, and its thread's next walk is as good as any. A load that
// nothing protects is no more than a risk: the page was not gone.
// Signal-safe: yes.
#include <cstdio>

#include "harness/oracles/observation.h"
#include "harness/oracles/rows.h"

namespace walkhammer {
namespace {

constexpr OutcomeInfo kFailingLoadOutcomes[] = {
    {"contained", Grade::kAcceptable, "no load failed, or the walker got over it"},
    {"unprotected", Grade::kInteresting,
     "nothing protects this load: if its page were gone, the profiled program would end"},
    {"wrong-next-walk", Grade::kForbidden,
     "a profiler goes on after a fault that the walker ended: the next stack must be true"},
    {"wrong-frames", Grade::kInteresting,
     "the walker guessed what it could not read: a stack may end there, but not be another"},
};
constexpr uint8_t kUnprotected = 1, kWrongFrames = 3;

// Frames without a known method are the oracle method-id's, too many frames frame-count's.
uint8_t JudgeFrames(const Observation& seen, char* detail, size_t size) {
  if (seen.trace.num_frames > seen.request->depth) return 0;
  for (int i = 0; i < seen.trace.num_frames; i++) {
    const Frame& have = seen.trace.frames[i];
    const MethodEntry* found = seen.methods->Find(have.method);
    if (found == nullptr) continue;
    const bool is_more = static_cast<size_t>(i) >= seen.undisturbed.size();
    const Frame want = is_more ? Frame{} : seen.undisturbed[static_cast<size_t>(i)];
    if (have.method == want.method && have.bci == want.bci) continue;
    const MethodEntry* wanted = is_more ? nullptr : seen.methods->Find(want.method);
    std::snprintf(detail, size, "load %u failed, and frame %d is %s @ %d, not %s @ %d",
                  seen.request->fault, i, found->name, have.bci,
                  wanted == nullptr ? "none" : wanted->name, want.bci);
    return kWrongFrames;
  }
  return 0;
}

uint8_t JudgeFailingLoad(const Observation& seen, char* detail, size_t size) {
  if (seen.failed_load == 0) return 0;
  if (seen.trace.ending == Ending::kReturned) return JudgeFrames(seen, detail, size);
  if (!seen.CrashedAtFailedLoad()) return 0;
  std::snprintf(detail, size, "load %u of the walk failed at address 0x%llx, unprotected",
                seen.request->fault, static_cast<unsigned long long>(seen.fault->address));
  return kUnprotected;
}

}  // namespace

const Oracle kFailingLoadOracle = {kFailingLoadOracleName,
                                   "the walker gets over a load whose page is gone",
                                   kFailingLoadOutcomes,
                                   JudgeFailingLoad,
                                   kLoadFailed,
                                   true};

}  // namespace walkhammer
