// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/progress_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "harness/ipc/shared_mapping.h"

namespace walkhammer {
namespace {

using ::testing::HasSubstr;

// Without a terminal, as in CI, a line is due every ten seconds.
class ProgressLineTest : public testing::Test {
 protected:
  ProgressLineTest() {
    progress_.shared = &state_->state();
    progress_.seconds = 10;
  }
  void Walk(int code, uint64_t count) {
    state_->state().counts[0][2][8][static_cast<int>(PcRegion::kNmethod)][code] = count;
    state_->state().walks.store(state_->state().walks.load() + count);
  }
  std::string Shown() {
    testing::internal::CaptureStderr();
    ProgressLine().Show(progress_);
    return testing::internal::GetCapturedStderr();
  }

  const std::unique_ptr<SharedMapping> state_ = std::move(SharedMapping::Create().value());
  FuzzProgress progress_{};
};

TEST_F(ProgressLineTest, SharesAreOfAllWalks) {
  Walk(kCodeFrames, 500);
  Walk(1, 300);  // no_Java_frame
  Walk(kCodeCrash, 150);
  Walk(kCodeHang, 50);
  EXPECT_THAT(Shown(), HasSubstr("  10s 1,000 walks, "));
  EXPECT_THAT(Shown(), HasSubstr("frames 50 %, errors 30 %, crashes 15.0 %, hangs 50, 0 buckets"));
}

TEST_F(ProgressLineTest, BeforeTheFirstWalkThePhaseIsTold) {
  state_->state().phase.store(ChildPhase::kScenes);
  EXPECT_THAT(Shown(), HasSubstr("setting up scenes"));
}

TEST_F(ProgressLineTest, ALineIsDueEveryTenSeconds) {
  progress_.seconds = 9.9;
  EXPECT_EQ(Shown(), "");
  progress_.stage = FuzzStage::kConfirming;  // another stage: at once
  progress_.buckets = 7;
  progress_.confirmed = 2;
  EXPECT_THAT(Shown(), HasSubstr("replaying: 2 of 7 buckets confirmed"));
}

}  // namespace
}  // namespace walkhammer
