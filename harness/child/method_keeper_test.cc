// SPDX-License-Identifier: Apache-2.0
// A child's methods over a long night of churn, without a JVM: a jmethodID is the address of a
// word, which is cleared when its class goes.
#include "harness/child/method_keeper.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "harness/ipc/shared_mapping.h"

namespace walkhammer {
namespace {

using std::chrono::milliseconds;

constexpr uint64_t kMethod = 0x700000001000;
constexpr int kSweepsToFree = 6;  // at most

class MethodKeeperTest : public testing::Test {
 protected:
  void Load(std::vector<uint64_t>& ids) {
    for (uint64_t& id : ids) {
      id = kMethod;
      methods_.Add(&id, "wh.Guest.run()V", 10, false);
    }
  }
  void Step(MethodKeeper::Clock::duration later) { keeper_.Step(now_ += later); }
  void SweepUntilFreed() {
    for (int i = 0; i < kSweepsToFree; i++) Step(MethodKeeper::kSweepEvery);
  }

  const std::unique_ptr<SharedMapping> shared_ = std::move(SharedMapping::Create().value());
  SharedState& state_ = shared_->state();
  MethodRegistry methods_;
  MethodKeeper::Clock::time_point now_{};
  MethodKeeper keeper_{methods_, nullptr, state_, now_};
};

TEST_F(MethodKeeperTest, ThreeTimesTheRoomComesAndGoes) {
  std::vector<uint64_t> lasting(1000);
  Load(lasting);
  std::vector<std::vector<uint64_t>> generations(
      6, std::vector<uint64_t>(MethodRegistry::kMostMethods / 2));
  for (std::vector<uint64_t>& ids : generations) {
    Load(ids);
    EXPECT_NE(methods_.Find(&ids.back()), nullptr);
    for (uint64_t& id : ids) id = 0;
    SweepUntilFreed();
    EXPECT_EQ(methods_.Find(&ids.back()), nullptr);
  }
  EXPECT_TRUE(methods_.IsComplete());
  EXPECT_EQ(state_.unknown_methods.load(), 0U);
  for (const uint64_t& id : lasting) EXPECT_NE(methods_.Find(&id), nullptr);
}

TEST_F(MethodKeeperTest, SweepsNoMoreOftenThanItShould) {
  std::vector<uint64_t> ids(1);
  Load(ids);
  ids[0] = 0;
  Step(MethodKeeper::kSweepEvery - milliseconds(1));
  EXPECT_FALSE(methods_.Find(&ids[0])->unloaded.load());
  Step(milliseconds(1));
  EXPECT_TRUE(methods_.Find(&ids[0])->unloaded.load());
  for (int i = 0; i < 100; i++) Step(milliseconds(1));
  EXPECT_NE(methods_.Find(&ids[0]), nullptr) << "others may still have it";
}

TEST_F(MethodKeeperTest, WhatFoundNoRoomIsToldOnceForEachChild) {
  std::vector<uint64_t> ids(MethodRegistry::kMostMethods + 3);
  Load(ids);
  Step(milliseconds(1));
  Step(milliseconds(1));
  EXPECT_EQ(state_.unknown_methods.load(), 3U);
  // A successor, whose registry begins anew, adds its own.
  MethodRegistry methods;
  MethodKeeper successor(methods, nullptr, state_, now_);
  successor.Step(now_);
  EXPECT_EQ(state_.unknown_methods.load(), 3U);
}

}  // namespace
}  // namespace walkhammer
