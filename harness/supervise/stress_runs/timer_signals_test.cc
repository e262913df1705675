// SPDX-License-Identifier: Apache-2.0
// Which threads get the signals, how often, and what they look like.
#include "harness/supervise/stress_runs/timer_signals.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "harness/base/clock.h"

namespace walkhammer {
namespace {

using std::chrono::milliseconds;

constexpr uint64_t kHour = 3'600'000'000'000;  // ns

// What a process in place of a JVM sees, in memory that it shares with the test.
struct Seen {
  std::atomic<uint64_t> as_of_timer, other, by_idle, by_untimed;
  std::atomic<int> ready;
};
Seen* seen = nullptr;
thread_local std::atomic<uint64_t>* others_count = nullptr;  // of a thread that should get none

void Count(int, siginfo_t* info, void*) {
  if (others_count != nullptr)
    (*others_count)++;
  else if (info->si_code == SI_TIMER && info->si_overrun == 0)
    seen->as_of_timer++;
  else
    seen->other++;
}

void HandleSignals() {
  struct sigaction action {};
  action.sa_sigaction = Count;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (const int signal : {SIGPROF, SIGUSR2}) sigaction(signal, &action, nullptr);
}

// A timer of the calling thread, which does not expire as long as the test runs.
void MakeTimer() {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGPROF;
  event._sigev_un._tid = gettid();
  timer_t timer;
  if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0) _exit(3);
  const itimerspec after_an_hour{{3600, 0}, {3600, 0}};
  timer_settime(timer, 0, &after_an_hour, nullptr);
}

[[noreturn]] void RunForEver() {
  seen->ready++;
  for (std::atomic<uint64_t> turns{0};;) turns++;
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
  void SetUp() override {
    if (access("/proc/self/timers", R_OK) != 0)
      GTEST_SKIP() << "this kernel has no /proc/PID/timers";
  }
  // A process of three threads: one has a timer and runs; one has a timer and waits; one runs.
  void Fork(bool handles) {
    child_ = fork();
    ASSERT_GE(child_, 0);
    if (child_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (handles) HandleSignals();
      std::thread waits([] {
        others_count = &seen->by_idle;
        MakeTimer();
        seen->ready++;
        for (;;) pause();
      });
      std::thread untimed([] {
        others_count = &seen->by_untimed;
        RunForEver();
      });
      MakeTimer();
      RunForEver();
    }
    while (seen->ready < 3) std::this_thread::sleep_for(milliseconds(10));
    std::this_thread::sleep_for(milliseconds(100));  // until the idle thread waits
  }
  uint64_t SentFor(milliseconds time, uint64_t min_ns, uint64_t max_ns) const {
    const TimerSignals signals(child_, SIGPROF, min_ns, max_ns);
    std::this_thread::sleep_for(time);
    return signals.sent();
  }

  pid_t child_ = 0;
};

TEST_F(TimerSignalsTest, AThreadThatRunsAndHasATimerGetsThemAsFromThat) {
  Fork(true);
  uint64_t sent = 0, came = 0;
  for (int tries = 0; came < 300 && tries < 10; tries++) {  // others may keep this machine busy
    came = seen->as_of_timer;
    sent += SentFor(milliseconds(1000), 100'000, 100'000);
    std::this_thread::sleep_for(milliseconds(50));
    came = seen->as_of_timer - came;
  }
  EXPECT_GE(came, 300U);  // in a second, more than the clock ticks
  EXPECT_LE(seen->as_of_timer, sent + 100);
  EXPECT_EQ(seen->other, 0U);
  EXPECT_EQ(seen->by_untimed, 0U);
  EXPECT_EQ(seen->by_idle, 0U);
}

TEST_F(TimerSignalsTest, IntervalsAreThoseAskedFor) {
  Fork(true);
  const uint64_t begin = MonotonicNs();
  uint64_t sent = 0;
  for (int tries = 0; sent < 2 && tries < 10; tries++)
    sent += SentFor(milliseconds(500), 50'000'000, 100'000'000);
  EXPECT_GE(sent, 2U);
  EXPECT_LE(sent, (MonotonicNs() - begin) / 50'000'000 + 1);
}

TEST_F(TimerSignalsTest, AProcessThatDoesNotHandleThemGetsNone) {
  Fork(false);
  EXPECT_EQ(SentFor(milliseconds(100), 0, 0), 0U);
  EXPECT_EQ(waitpid(child_, nullptr, WNOHANG), 0);  // it lives
}

TEST_F(TimerSignalsTest, ASignalThatNoTimerSendsIsNotSent) {
  Fork(true);
  const TimerSignals signals(child_, SIGUSR2, 0, 0);
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_EQ(signals.sent(), 0U);
  EXPECT_EQ(waitpid(child_, nullptr, WNOHANG), 0);
}

TEST_F(TimerSignalsTest, EndsAtOnceInTheMiddleOfALongInterval) {
  Fork(true);
  const uint64_t begin = MonotonicNs();
  EXPECT_LE(SentFor(milliseconds(50), kHour, kHour), 1U);
  EXPECT_LT(MonotonicNs() - begin, kHour / 100);
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
