// SPDX-License-Identifier: Apache-2.0
// Every method id is one that the JVM has handed out.
// Signal-safe: yes.
#include <cstdio>

#include "harness/oracles/observation.h"
#include "harness/oracles/rows.h"

namespace walkhammer {
namespace {

constexpr OutcomeInfo kMethodIdOutcomes[] = {
    {"known", Grade::kAcceptable, "every method exists"},
    {"never-existed", Grade::kForbidden, "a profiler that asks for its name may crash"},
    {"unloaded", Grade::kInteresting, "it existed; a profiler must be ready for that"},
    {"none", Grade::kInteresting, "a frame without a method tells a profiler nothing"},
};

// True if frame `i` has the true method, counted from either end: it needs no look-up then.
bool IsTrueFrame(const Observation& seen, int i) {
  const Frame& frame = seen.trace.frames[i];
  const size_t from_top = static_cast<size_t>(i);
  if (from_top < seen.truth.size() && seen.truth[from_top].method == frame.method) return true;
  const size_t from_bottom = static_cast<size_t>(seen.trace.num_frames - i);
  return from_bottom <= seen.truth.size() &&
         seen.truth[seen.truth.size() - from_bottom].method == frame.method;
}

// True if the JVM has the id though the registry does not: its class was loaded without an event.
bool IsUntold(const Observation& seen, void* method) {
  return seen.sample != nullptr && seen.sample->keeps != nullptr && seen.sample->keeps(method);
}

uint8_t JudgeMethodId(const Observation& seen, char* detail, size_t size) {
  if (seen.trace.ending != Ending::kReturned) return 0;
  if (seen.trace.num_frames > seen.request->depth) return 0;  // left to the oracle frame-count
  uint8_t verdict = 0;
  for (int i = static_cast<int>(seen.true_frames); i < seen.trace.num_frames; i++) {
    if (IsTrueFrame(seen, i)) continue;
    void* method = seen.trace.frames[i].method;
    const MethodEntry* entry = seen.methods->Find(method);
    if (entry != nullptr && !entry->unloaded.load(std::memory_order_relaxed)) continue;
    if (entry == nullptr && method != nullptr &&
        (!seen.methods->IsComplete() || IsUntold(seen, method)))
      continue;
    const bool existed = entry != nullptr || seen.methods->MayBeFreed(method);
    verdict = method == nullptr ? 3 : existed ? 2 : 1;
    std::snprintf(detail, size, "frame %d of %d holds method id %p%s%s", i, seen.trace.num_frames,
                  method, entry == nullptr ? "" : ", once ", entry == nullptr ? "" : entry->name);
    if (verdict == 1) return verdict;
  }
  return verdict;
}

}  // namespace

const Oracle kMethodIdOracle = {"method-id", "every method id exists", kMethodIdOutcomes,
                                JudgeMethodId, kOtherFrames};

}  // namespace walkhammer
