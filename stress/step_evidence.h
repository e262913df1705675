// SPDX-License-Identifier: Apache-2.0
// StepEvidence: of each step of a window, how the walkers' answers differ and which were proven
// wrong. A proof may come long after its step, so counts are made when the window is over.
// Signal-safe: yes.
#ifndef WALKHAMMER_STRESS_STEP_EVIDENCE_H_
#define WALKHAMMER_STRESS_STEP_EVIDENCE_H_

#include <cstdint>

#include "harness/shared/line_state.h"
#include "harness/shared/stress_state.h"

namespace walkhammer::stress {

class StepEvidence {
 public:
  static constexpr uint64_t kMostKept = 1 << 15;  // steps; proofs that come later are not counted

  explicit StepEvidence(StressState& state) : state_(state) {}

  // The next step; its number.
  uint64_t Begin(PcRegion region);
  // How the walker's answer to it differs from that of the one before; kCount: not compared.
  void Differs(int walker, Disagreement kind);
  // Any step's answer is wrong.
  void Wrong(int walker, uint64_t number);
  // Counts what was kept, and forgets it.
  void Tally();

 private:
  struct Kept {
    uint8_t region, wrong;  // wrong: a bit for each walker
    Disagreement kinds[kMaxWalkers];
  };

  StressState& state_;
  uint64_t first_ = 0, count_ = 0;  // numbers of what is kept
  Kept kept_[kMostKept];
};

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_STEP_EVIDENCE_H_
