// SPDX-License-Identifier: Apache-2.0
// A bci is inside its method, or is a declared special value: -3 for native methods.
// Signal-safe: yes.
#include <cstdio>

#include "harness/oracles/observation.h"
#include "harness/oracles/rows.h"

namespace walkhammer {
namespace {

constexpr OutcomeInfo kBciOutcomes[] = {
    {"inside", Grade::kAcceptable, "every bci lies inside its method"},
    {"outside", Grade::kForbidden, "a profiler would look up a line beyond the end of the table"},
    {"unknown", Grade::kInteresting, "-1: the walker found the method and not the place in it"},
    {"outside-at-first", Grade::kInteresting,
     "the method was shorter when its class was loaded; without vmStructs it is unknown whether "
     "it was redefined"},
};

constexpr int32_t kNativeBci = -3;

// The outcome of a bytecode that is not inside of its method. If the current size of the method is
// unknown, the method may have been redefined since the registry recorded it.
uint8_t OutcomeOutside(const Observation& seen, const Frame& frame, const MethodEntry& entry) {
  if (frame.bci == -1) return 2;
  const bool size_is_old = seen.sample != nullptr && seen.sample->code_size == nullptr;
  return size_is_old && frame.bci >= 0 && !entry.is_native ? 3 : 1;
}

uint8_t JudgeBci(const Observation& seen, char* detail, size_t size) {
  if (seen.trace.ending != Ending::kReturned) return 0;
  if (seen.trace.num_frames > seen.request->depth) return 0;
  uint8_t verdict = 0;
  for (int i = static_cast<int>(seen.true_frames); i < seen.trace.num_frames; i++) {
    const Frame& frame = seen.trace.frames[i];
    const size_t from_top = static_cast<size_t>(i);
    if (from_top < seen.truth.size() && seen.truth[from_top].method == frame.method &&
        seen.truth[from_top].bci == frame.bci)
      continue;
    const MethodEntry* entry = seen.methods->Find(frame.method);
    if (entry == nullptr) continue;  // left to the oracle method-id
    if (entry->is_native ? frame.bci == kNativeBci : frame.bci >= 0 && frame.bci < entry->code_size)
      continue;
    // The method may have been redefined since, with longer bytecode.
    if (seen.sample != nullptr && seen.sample->code_size != nullptr && frame.bci >= 0 &&
        !entry->unloaded.load(std::memory_order_relaxed) &&
        frame.bci < seen.sample->code_size(frame.method))
      continue;
    verdict = OutcomeOutside(seen, frame, *entry);
    std::snprintf(detail, size, "frame %d: bci %d of %s, which has %d bytes", i, frame.bci,
                  entry->name, entry->code_size);
    if (verdict == 1) return verdict;
  }
  return verdict;
}

}  // namespace

const Oracle kBciOracle = {"bci", "every bci lies inside its method", kBciOutcomes, JudgeBci,
                           kOtherFrames};

}  // namespace walkhammer
