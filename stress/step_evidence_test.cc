// SPDX-License-Identifier: Apache-2.0
// Steps that two walkers answered, and what was proven of them later.
#include "stress/step_evidence.h"

#include <gtest/gtest.h>

#include <memory>

#include "harness/ipc/line_state.h"

namespace walkhammer::stress {
namespace {

class StepEvidenceTest : public testing::Test {
 protected:
  StepEvidenceTest() { state_->job.walker_count = 2; }

  uint64_t Step(Disagreement kind) {
    const uint64_t number = evidence_->Begin(PcRegion::kStub);
    evidence_->Differs(0, Disagreement::kCount);
    evidence_->Differs(1, kind);
    return number;
  }
  uint64_t Counted(Disagreement kind, Against against) const {
    return state_
        ->evidence[1][static_cast<int>(PcRegion::kStub)][static_cast<int>(kind)]
                  [static_cast<int>(Witness::kSteps)][static_cast<int>(against)]
        .load();
  }

  std::unique_ptr<StressState> state_ = std::make_unique<StressState>();
  std::unique_ptr<StepEvidence> evidence_ = std::make_unique<StepEvidence>(*state_);
};

TEST_F(StepEvidenceTest, IsCountedWhenTheWindowIsOver) {
  const uint64_t first = Step(Disagreement::kTruncated);
  const uint64_t second = Step(Disagreement::kTruncated);
  Step(Disagreement::kTruncated);
  Step(Disagreement::kCount);  // neither has frames
  evidence_->Wrong(0, first);
  evidence_->Wrong(0, second);
  evidence_->Wrong(1, second);
  EXPECT_EQ(Counted(Disagreement::kTruncated, Against::kOther), 0u);
  evidence_->Tally();
  EXPECT_EQ(Counted(Disagreement::kTruncated, Against::kOther), 1u);
  EXPECT_EQ(Counted(Disagreement::kTruncated, Against::kBoth), 1u);
  EXPECT_EQ(Counted(Disagreement::kTruncated, Against::kNeither), 1u);
  EXPECT_EQ(Counted(Disagreement::kNone, Against::kNeither), 0u);
}

TEST_F(StepEvidenceTest, ProofsOfWhatWasCountedComeTooLate) {
  const uint64_t before = Step(Disagreement::kNone);
  evidence_->Tally();
  Step(Disagreement::kNone);
  evidence_->Wrong(1, before);
  evidence_->Tally();
  EXPECT_EQ(Counted(Disagreement::kNone, Against::kNeither), 2u);
}

TEST_F(StepEvidenceTest, LongWindowsAreCountedInParts) {
  for (uint64_t i = 0; i < StepEvidence::kMostKept + 1; i++) Step(Disagreement::kMethod);
  EXPECT_EQ(Counted(Disagreement::kMethod, Against::kNeither), StepEvidence::kMostKept);
}

}  // namespace
}  // namespace walkhammer::stress
