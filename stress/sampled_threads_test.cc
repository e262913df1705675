// SPDX-License-Identifier: Apache-2.0
// What a handler and the agent's own thread share: the table of threads, and whether descriptor and
// timer may be used yet.
#include "stress/sampled_threads.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "harness/base/clock.h"
#include "harness/guard/guard_testing.h"
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

TEST(ThreadCpu, IsTheThreadsAlone) {
  EXPECT_EQ(ThreadCpuNs(0), 0u);
  std::atomic<int> tid{0};
  std::atomic<bool> over{false};
  std::thread idle([&] {
    tid.store(gettid());
    while (!over.load()) usleep(1000);
  });
  while (tid.load() == 0) std::this_thread::yield();
  const uint64_t before = ThreadCpuNs(gettid());
  Burn(200);
  EXPECT_GE(ThreadCpuNs(gettid()), before + 200'000'000);
  EXPECT_GT(ThreadCpuNs(tid.load()), 0u);
  EXPECT_LT(ThreadCpuNs(tid.load()), 200'000'000u);
  over.store(true);
  idle.join();
  // join returns a moment before the kernel has taken the thread off its tables.
  const uint64_t patience = MonotonicNs() + 10'000'000'000;
  while (ThreadCpuNs(tid.load()) != 0 && MonotonicNs() < patience) usleep(1000);
  EXPECT_EQ(ThreadCpuNs(tid.load()), 0u) << "it has ended";
}

class ThreadTableTest : public testing::Test {
 protected:
  ThreadTableTest() { state_->job.seed = 7; }

  // The calling thread would otherwise keep an entry of a table that is gone.
  ~ThreadTableTest() override {
    if (SampledThread* thread = table_->Find(gettid())) table_->Remove(*thread, true);
  }

  std::unique_ptr<StressState> state_ = std::make_unique<StressState>();
  std::unique_ptr<ThreadTable> table_ = std::make_unique<ThreadTable>(*state_);
};

TEST_F(ThreadTableTest, FindsWhatWasAdded) {
  EXPECT_EQ(table_->Find(4711), nullptr);
  SampledThread* a = table_->Add(4711, "a", true);
  SampledThread* b = table_->Add(4712, "b", false);
  ASSERT_NE(a, nullptr);
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(table_->Find(4711), a);
  EXPECT_EQ(table_->Find(4712), b);
  EXPECT_EQ(table_->Find(4713), nullptr);
  EXPECT_EQ(a->counts, &state_->threads[1]) << "place 0 is for threads that have ended";
  EXPECT_STREQ(a->counts->name, "a");
  EXPECT_EQ(a->counts->tid.load(), 4711);
  EXPECT_EQ(a->counts->java, 1);
  EXPECT_EQ(b->counts->java, 0);
  EXPECT_EQ(a->counts->ended, 0);
  EXPECT_NE(a->random, b->random) << "or both would be sampled at the same moments";
  int visited = 0;
  table_->ForEach([&](SampledThread&) { visited++; });
  EXPECT_EQ(visited, 2);
  table_->Remove(*a, false);
  EXPECT_EQ(table_->Find(4711), nullptr);
  EXPECT_EQ(state_->threads[1].ended, 1);
  EXPECT_EQ(state_->threads[1].tid.load(), 4711) << "its counts stay";
}

TEST_F(ThreadTableTest, FreePlacesAreTakenBeforeThoseOfEndedThreads) {
  table_->Remove(*table_->Add(1, "ended", true), false);
  EXPECT_EQ(table_->Add(2, "next", true)->counts, &state_->threads[2]);
  EXPECT_EQ(state_->threads[0].tid.load(), 0);
}

TEST_F(ThreadTableTest, EndedThreadsMakeRoomAndAreAddedUp) {
  for (int i = 1; i < kMaxSampledThreads; i++) {
    SampledThread* thread = table_->Add(i, "thread", true);
    ASSERT_NE(thread, nullptr) << i;
    uint64_t number = 0;
    for (const auto sum : kThreadSums) (thread->counts->*sum).store(++number);
    if (i == 10 || i == 20) {
      thread->perf_fd = 99;
      thread->has_timer = thread->has_nested_timer = true;
      thread->shadow.store(reinterpret_cast<const ShadowStack*>(1));
    }
  }
  EXPECT_EQ(table_->Add(5000, "one too many", true), nullptr);
  for (int ended : {20, 10}) table_->Remove(*table_->Find(ended), false);
  for (int i = 1; i <= 2; i++) {
    SampledThread* next = table_->Add(5000 + i, "next", false);
    ASSERT_NE(next, nullptr);
    EXPECT_EQ(next->counts->ended, 0);
    EXPECT_EQ(next->perf_fd, -1);
    EXPECT_FALSE(next->has_timer);
    EXPECT_FALSE(next->has_nested_timer);
    EXPECT_EQ(next->shadow.load(), nullptr);
    const ThreadCounts& all = state_->threads[0];
    EXPECT_EQ(all.tid.load(), -1);
    EXPECT_EQ(all.ended, 1);
    uint64_t number = 0;
    for (const auto sum : kThreadSums) {
      EXPECT_EQ((next->counts->*sum).load(), 0u);
      EXPECT_EQ((all.*sum).load(), ++number * static_cast<uint64_t>(i));
    }
    EXPECT_EQ(number, 8u);
  }
  EXPECT_EQ(table_->Add(5003, "one too many", true), nullptr);
}

TEST_F(ThreadTableTest, AThreadKnowsItsOwnEntry) {
  SampledThread* entered = table_->Add(4711, "entered", true);
  EXPECT_EQ(CurrentSampledThread(), nullptr);
  SampledThread* mine = table_->Add(gettid(), "mine", true);
  SampledThread* in_other = mine;
  std::thread([&] { in_other = CurrentSampledThread(); }).join();
  EXPECT_EQ(in_other, nullptr);
  EXPECT_EQ(CurrentSampledThread(), mine) << "found by its id";
  EXPECT_NE(mine->thread_pointer, 0u);
  table_->Remove(*mine, true);
  EXPECT_EQ(CurrentSampledThread(), nullptr);
  table_->Enter(*entered);
  EXPECT_EQ(CurrentSampledThread(), entered);
  EXPECT_NE(entered->thread_pointer, 0u);
  table_->Remove(*entered, true);
  EXPECT_EQ(CurrentSampledThread(), nullptr);
}

TEST_F(ThreadTableTest, ClocksCountFromTheThreadsBirthInTheTable) {
  Burn(20);
  const uint64_t begin = MonotonicNs();
  SampledThread* mine = table_->Add(gettid(), "mine", true);
  Burn(30);
  table_->UpdateClocks(*mine);
  const uint64_t alive = mine->counts->alive_ns.load();
  EXPECT_GE(mine->counts->cpu_ns.load(), 30'000'000u);
  EXPECT_LE(mine->counts->cpu_ns.load(), alive);
  EXPECT_GE(alive, 30'000'000u);
  EXPECT_LE(alive, MonotonicNs() - begin);
  Burn(30);
  table_->Remove(*mine, true);
  EXPECT_GE(state_->threads[1].cpu_ns.load(), 60'000'000u) << "up to its end";
}

TEST_F(ThreadTableTest, EachWalkingHandlerHasAFaultStack) {
  state_->job.mode = WalkMode::kNested;
  SampledThread* mine = table_->Add(gettid(), "mine", true);
  stack_t before{}, now{};
  ASSERT_EQ(sigaltstack(nullptr, &before), 0);
  void* last = nullptr;
  for (const auto handler : {WalkingHandler::kSample, WalkingHandler::kNested}) {
    EXPECT_TRUE(UseFaultStack(*mine, handler, *state_));
    ASSERT_EQ(sigaltstack(nullptr, &now), 0);
    EXPECT_EQ(now.ss_sp, mine->fault_stacks[static_cast<int>(handler)].ss_sp);
    EXPECT_NE(now.ss_sp, last);
    last = now.ss_sp;
  }
  ASSERT_EQ(sigaltstack(&before, nullptr), 0);
}

TEST_F(ThreadTableTest, AFaultStackThatNoHandlerUsesIsNotMade) {
  SampledThread* mine = table_->Add(gettid(), "mine", true);
  EXPECT_NE(mine->fault_stacks[static_cast<int>(WalkingHandler::kSample)].ss_sp, nullptr);
  EXPECT_EQ(mine->fault_stacks[static_cast<int>(WalkingHandler::kNested)].ss_sp, nullptr);
  EXPECT_EQ(state_->foreign_stacks.load(), 0u);
  EXPECT_FALSE(UseFaultStack(*mine, WalkingHandler::kNested, *state_));
  EXPECT_EQ(state_->foreign_stacks.load(), 1u);
}

}  // namespace
}  // namespace walkhammer::stress
