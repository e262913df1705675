// SPDX-License-Identifier: Apache-2.0
#include "harness/findings/witness_findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "harness/oracles/oracle.h"
#include "harness/request/walker_table.h"

namespace walkhammer {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class WitnessFindingsTest : public testing::Test {
 protected:
  WitnessFindingsTest() {
    state_->job.walkers[0] = static_cast<uint8_t>(FindWalker("agct").value());
    state_->job.walker_count = 1;
    state_->job.witness = static_cast<uint8_t>(1 + FindWalker("asgst").value());
  }
  void Set(Testimony testimony, uint64_t count, int place = 0, int slice = 0) {
    state_->witnessed[place][static_cast<int>(testimony)][slice].store(count);
  }

  const std::unique_ptr<StressState> state_ = std::make_unique<StressState>();
};

TEST_F(WitnessFindingsTest, WhatIsTooFrequentIsAFinding) {
  Set(Testimony::kAgrees, 100);
  Set(Testimony::kCutOff, 900);
  const auto found = WitnessFindings(state_->job, *state_);
  ASSERT_THAT(found, SizeIs(1));
  const FindingRecord& record = found[0].record;
  EXPECT_EQ(found[0].count, (WitnessFinding::Count{0, Testimony::kCutOff}));
  EXPECT_EQ(record.oracle, "witness");
  EXPECT_EQ(record.outcome, "cut-off");
  EXPECT_EQ(record.grade, Grade::kForbidden);
  EXPECT_EQ(record.realism, Realism::kGenuine);
  EXPECT_EQ(record.signature.title,
            "witness/cut-off: agct ends before the outermost frames of asgst");
  EXPECT_EQ(WitnessShares(*state_), " (90.00 % cut-off)");
  EXPECT_THAT(record.detail, HasSubstr("in 900 of 1,000 samples of threads in Java (90.0 %)"));
}

TEST_F(WitnessFindingsTest, AnOracleThatIsLeftOutFindsNothing) {
  Set(Testimony::kCutOff, 900);
  state_->job.without = ~0U & ~(1U << (FindOracle("witness") - AllOracles().data()));
  EXPECT_THAT(WitnessFindings(state_->job, *state_), SizeIs(1));
  state_->job.without = ~0U;
  EXPECT_THAT(WitnessFindings(state_->job, *state_), IsEmpty());
}

// Such shares were measured of AsyncGetCallTrace, whose failures depend on the program.
TEST_F(WitnessFindingsTest, AnHonestWalkersSharesAreNone) {
  Set(Testimony::kAgrees, 4500);
  Set(Testimony::kNoFrame, 5300);
  EXPECT_THAT(WitnessFindings(state_->job, *state_), IsEmpty());
  Set(Testimony::kNoFrame, 2000);
  Set(Testimony::kCallers, 980);
  Set(Testimony::kCutOff, 300);
  Set(Testimony::kNewest, 30);
  EXPECT_THAT(WitnessFindings(state_->job, *state_), IsEmpty());
}

TEST_F(WitnessFindingsTest, ChanceAndFewAnswersAreNone) {
  Set(Testimony::kAgrees, 980);
  Set(Testimony::kNewest, 7);  // 0.7 %, and by chance: 0.5 % of as many have up to 12
  EXPECT_THAT(WitnessFindings(state_->job, *state_), IsEmpty());
  Set(Testimony::kAgrees, 9800);
  Set(Testimony::kNewest, 100);
  EXPECT_THAT(WitnessFindings(state_->job, *state_), SizeIs(1));
  Set(Testimony::kAgrees, 0);
  Set(Testimony::kNewest, 99);
  EXPECT_THAT(WitnessFindings(state_->job, *state_), IsEmpty());
  Set(Testimony::kNewest, 100);
  EXPECT_THAT(WitnessFindings(state_->job, *state_), SizeIs(1));
}

TEST_F(WitnessFindingsTest, ALongMomentIsNoFinding) {
  for (int slice = 0; slice < kWitnessSlices; slice++) Set(Testimony::kAgrees, 1000, 0, slice);
  Set(Testimony::kNewest, 150, 0, 3);  // 0.9 % of all
  EXPECT_THAT(WitnessFindings(state_->job, *state_), IsEmpty());
  for (int slice = 0; slice < kWitnessSlices; slice++) Set(Testimony::kNewest, 10, 0, slice);
  EXPECT_THAT(WitnessFindings(state_->job, *state_), SizeIs(1));
  EXPECT_EQ(WitnessedAnswers(*state_, {0, Testimony::kNewest}), 160U);
}

TEST_F(WitnessFindingsTest, EachWalkerIsJudgedByItself) {
  state_->job.walkers[1] = static_cast<uint8_t>(FindWalker("asgst@jdk").value());
  state_->job.walker_count = 2;
  Set(Testimony::kAgrees, 1000);
  Set(Testimony::kNoFrame, 1000, 1);
  const auto found = WitnessFindings(state_->job, *state_);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].count, (WitnessFinding::Count{1, Testimony::kNoFrame}));
  EXPECT_EQ(found[0].record.signature.title,
            "witness/no-frame: asgst@jdk has no frame, unlike asgst");
  EXPECT_EQ(WitnessedAnswers(*state_, 1), 1000u);
  state_->job.witness = 0;
  EXPECT_THAT(WitnessFindings(state_->job, *state_), IsEmpty());
}

}  // namespace
}  // namespace walkhammer
