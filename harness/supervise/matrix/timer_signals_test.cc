// SPDX-License-Identifier: Apache-2.0
// Which threads get the signals, how often, and what they look like.
#include "harness/supervise/matrix/timer_signals.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "harness/base/clock.h"

namespace walkhammer {
namespace {

using std::chrono::milliseconds;

// What a process in place of a JVM sees, in memory that it shares with the test.
struct Seen {
  std::atomic<uint64_t> as_of_timer, other, by_idle_thread;
};
Seen* seen = nullptr;
thread_local bool idle = false;

void Count(int, siginfo_t* info, void*) {
  if (idle)
    seen->by_idle_thread++;
  else if (info->si_code == SI_TIMER && info->si_overrun == 0)
    seen->as_of_timer++;
  else
    seen->other++;
}

void HandleProfilingSignal() {
  struct sigaction action {};
  action.sa_sigaction = Count;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGPROF, &action, nullptr);
}

class TimerSignalsTest : public testing::Test {
 protected:
  TimerSignalsTest() {
    void* memory =
        mmap(nullptr, sizeof(Seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    seen = new (memory) Seen{};
  }
  ~TimerSignalsTest() override {
    if (child_ > 0) kill(child_, SIGKILL);
    if (child_ > 0) waitpid(child_, nullptr, 0);
    munmap(seen, sizeof(Seen));
  }
  // A process with one thread that runs and one that waits.
  void Fork(bool handles) {
    child_ = fork();
    if (child_ == 0) {
      if (handles) HandleProfilingSignal();
      std::thread waits([] {
        idle = true;
        for (;;) pause();
      });
      for (std::atomic<uint64_t> turns{0};;) turns++;
    }
    ASSERT_GT(child_, 0);
    std::this_thread::sleep_for(milliseconds(200));
  }
  uint64_t SentFor(milliseconds time, uint64_t min_ns, uint64_t max_ns) const {
    const TimerSignals signals(child_, SIGPROF, min_ns, max_ns);
    std::this_thread::sleep_for(time);
    return signals.sent();
  }

  pid_t child_ = 0;
};

TEST_F(TimerSignalsTest, ARunningThreadGetsThemAsFromATimer) {
  Fork(true);
  const uint64_t sent = SentFor(milliseconds(1000), 100'000, 100'000);
  EXPECT_GT(sent, 500U);  // more often than the clock ticks
  EXPECT_LE(sent, 10'001U);
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_GT(seen->as_of_timer, 300U);  // some find the last one not yet taken
  EXPECT_LE(seen->as_of_timer, sent + 1);
  EXPECT_EQ(seen->other, 0U);
  EXPECT_EQ(seen->by_idle_thread, 0U);
}

TEST_F(TimerSignalsTest, IntervalsAreThoseAskedFor) {
  Fork(true);
  const uint64_t sent = SentFor(milliseconds(500), 50'000'000, 100'000'000);
  EXPECT_GE(sent, 2U);
  EXPECT_LE(sent, 11U);
}

TEST_F(TimerSignalsTest, AProcessThatDoesNotHandleThemGetsNone) {
  Fork(false);
  EXPECT_EQ(SentFor(milliseconds(100), 0, 0), 0U);
  EXPECT_EQ(waitpid(child_, nullptr, WNOHANG), 0);  // it lives
}

TEST_F(TimerSignalsTest, EndsAtOnceInTheMiddleOfALongInterval) {
  Fork(true);
  const uint64_t begin = MonotonicNs();
  EXPECT_LE(SentFor(milliseconds(50), 3'600'000'000'000, 3'600'000'000'000), 1U);
  EXPECT_LT(MonotonicNs() - begin, 2'000'000'000U);
}

TEST_F(TimerSignalsTest, NoneAreSentOnceTheProcessHasEnded) {
  Fork(true);
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
  EXPECT_EQ(SentFor(milliseconds(50), 0, 0), 0U);
  child_ = 0;
}

}  // namespace
}  // namespace walkhammer
