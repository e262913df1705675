// SPDX-License-Identifier: Apache-2.0
// What a handler and the agent's own thread share: whether descriptor and timer may be used yet.
#include "stress/sampled_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "stress/sampler.h"

namespace walkhammer::stress {
namespace {

TEST(RearmingTest, IsAllowedUntilItIsWithdrawn) {
  Rearming rearming;
  EXPECT_FALSE(rearming.Begin()) << "not yet";
  rearming.Allow();
  EXPECT_TRUE(rearming.Begin());
  rearming.End();
  EXPECT_TRUE(rearming.Withdraw());
  EXPECT_FALSE(rearming.Begin());
  EXPECT_TRUE(rearming.Withdraw()) << "a Begin that was refused holds nothing up";
  rearming.Allow();
  EXPECT_TRUE(rearming.Begin());
}

TEST(RearmingTest, AHandlerThatDoesNotEndIsToldOf) {
  Rearming rearming;
  rearming.Allow();
  ASSERT_TRUE(rearming.Begin());
  EXPECT_FALSE(rearming.Withdraw(20));
  rearming.End();
  EXPECT_FALSE(rearming.Begin()) << "withdrawn all the same";
  EXPECT_TRUE(rearming.Withdraw(20));
}

TEST(RearmingTest, NothingIsUsedOnceItIsClosed) {
  int used_when_closed = 0, rounds_used = 0;
  for (int round = 0; round < 300; round++) {
    Rearming rearming;
    std::atomic<int> uses{0}, wrong{0};
    std::atomic<bool> open{true}, over{false};
    rearming.Allow();
    std::thread handler([&] {
      while (!over.load()) {
        if (!rearming.Begin()) continue;
        uses++;
        for (int i = 0; i < 50; i++) wrong += !open.load();
        rearming.End();
      }
    });
    while (uses.load() == 0) std::this_thread::yield();
    ASSERT_TRUE(rearming.Withdraw());
    open.store(false);  // as close(fd) is
    const int uses_then = uses.load();
    std::this_thread::yield();
    over.store(true);
    handler.join();
    EXPECT_EQ(uses.load(), uses_then);
    used_when_closed += wrong.load();
    rounds_used += uses_then > 0;
  }
  EXPECT_EQ(used_when_closed, 0);
  EXPECT_EQ(rounds_used, 300);
}

// A program whose walks take longer than the interval got no instruction done between handlers.
TEST(WasQueued, OnlyRightAfterLongHandlers) {
  SampledThread thread;
  thread.handled_ns = 1'000'000;
  thread.long_handlers = kMostLongHandlers;
  EXPECT_TRUE(WasQueued(thread, 1'000'000));
  EXPECT_TRUE(WasQueued(thread, 1'000'000 + kQueuedWithinNs - 1));
  EXPECT_FALSE(WasQueued(thread, 1'000'000 + kQueuedWithinNs));
  EXPECT_LT(kQueuedWithinNs, kPeriodicFromNs / 2) << "the next signal would be left out, too";
  thread.long_handlers = kMostLongHandlers - 1;
  EXPECT_FALSE(WasQueued(thread, 1'000'000));
}

}  // namespace
}  // namespace walkhammer::stress
