// SPDX-License-Identifier: Apache-2.0
#include "stress/step_evidence.h"

#include "harness/ipc/line_state.h"

namespace walkhammer::stress {

uint64_t StepEvidence::Begin(PcRegion region) {
  if (count_ == kMostKept) Tally();
  Kept& kept = kept_[count_];
  kept.region = static_cast<uint8_t>(region);
  kept.wrong = 0;
  for (Disagreement& kind : kept.kinds) kind = Disagreement::kCount;
  return first_ + count_++;
}

void StepEvidence::Differs(int walker, Disagreement kind) {
  if (count_ > 0) kept_[count_ - 1].kinds[walker] = kind;
}

void StepEvidence::Wrong(int walker, uint64_t number) {
  if (number < first_ || number - first_ >= count_) return;
  uint8_t& wrong = kept_[number - first_].wrong;
  wrong = static_cast<uint8_t>(wrong | 1U << walker);
}

void StepEvidence::Tally() {
  for (uint64_t i = 0; i < count_; i++) {
    const Kept& kept = kept_[i];
    for (int w = 1; w < state_.job.walker_count; w++) {
      if (kept.kinds[w] == Disagreement::kCount) continue;
      const bool walker = (kept.wrong >> w & 1) != 0, other = (kept.wrong >> (w - 1) & 1) != 0;
      state_
          .evidence[w][kept.region][static_cast<int>(kept.kinds[w])]
                   [static_cast<int>(Witness::kSteps)][static_cast<int>(AgainstOf(walker, other))]
          .fetch_add(1, std::memory_order_relaxed);
    }
  }
  first_ += count_;
  count_ = 0;
}

}  // namespace walkhammer::stress
