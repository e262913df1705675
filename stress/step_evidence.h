// SPDX-License-Identifier: Apache-2.0
// StepEvidence: keeps for each step of a window how the walkers' answers differ and which were
// proven wrong. A proof may come long after its step, so steps are counted when the window is over.
// Signal-safe: yes.
#ifndef WALKHAMMER_STRESS_STEP_EVIDENCE_H_
#define WALKHAMMER_STRESS_STEP_EVIDENCE_H_

#include <cstdint>

#include "harness/ipc/line_state.h"
#include "harness/ipc/stress_state.h"

namespace walkhammer::stress {

class StepEvidence {
 public:
  static constexpr uint64_t kMostKept = 1 << 15;  // steps; proofs that come later are not counted

  explicit StepEvidence(StressState& state) : state_(state) {}

  // Begins the next step; returns its number.
  uint64_t Begin(PcRegion region);
  // Notes how the walker's answer to the newest step differs from that of the walker before;
  // kCount: not compared.
  void Differs(int walker, Disagreement kind);
  // Notes that the walker's answer to step `number` is wrong, unless that step is counted already.
  void Wrong(int walker, uint64_t number);
  // Counts the kept steps, and forgets them.
  void Tally();

 private:
  struct Kept {
    uint8_t region, wrong;  // wrong: a bit for each walker
    Disagreement kinds[kMaxWalkers];
  };

  StressState& state_;
  uint64_t first_ = 0, count_ = 0;  // the kept steps: first_ .. first_ + count_ - 1
  Kept kept_[kMostKept];
};

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_STEP_EVIDENCE_H_
