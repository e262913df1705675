// SPDX-License-Identifier: Apache-2.0
// How stepping by ptrace ends, whatever the stepped thread does.
#include "harness/supervise/stress_runs/ptrace_stepper.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "harness/base/clock.h"
#include "harness/supervise/stress_runs/cell_results.h"

namespace walkhammer {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// A process that is stepped in place of a JVM.
class PtraceStepperTest : public testing::Test {
 protected:
  PtraceStepperTest() { memory_.state->job.step_window = 1'000'000; }
  ~PtraceStepperTest() override {
    if (child_ > 0) kill(child_, SIGKILL);
    if (child_ > 0) waitpid(child_, nullptr, 0);
  }
  void Fork(void (*body)()) {
    child_ = fork();
    if (child_ == 0) {
      body();
      _exit(3);
    }
    ASSERT_GT(child_, 0);
    std::this_thread::sleep_for(milliseconds(200));
  }
  // Steps the process for a while. Returns how long End() took; -1 s: tracing is not allowed here.
  std::chrono::nanoseconds EndTakes() {
    PtraceStepper stepper(*memory_.state, child_);
    memory_.state->step_tid.store(child_);
    std::this_thread::sleep_for(milliseconds(300));
    if (!stepper.Trouble().empty()) return std::chrono::seconds(-1);
    const auto begin = steady_clock::now();
    stepper.End();
    return steady_clock::now() - begin;
  }

  // Steps a process that exits with status 7 at SIGUSR2. Null: the kernel refuses to trace.
  std::unique_ptr<PtraceStepper> StepOneThatExits() {
    Fork([] {
      // The handler never returns: when stepping ends, the program's signal is pending or in its
      // handler.
      signal(SIGUSR2, [](int) { _exit(7); });
      signal(kSampleSignal, SIG_IGN);
      for (;;) pause();
    });
    auto stepper = std::make_unique<PtraceStepper>(*memory_.state, child_);
    memory_.state->step_tid.store(child_);
    std::this_thread::sleep_for(milliseconds(300));
    return stepper->Trouble().empty() ? std::move(stepper) : nullptr;
  }
  // How the process ended, or -1.
  int StatusWithin5Seconds() {
    int status = -1;
    for (int i = 0; i < 500; i++) {
      if (waitpid(child_, &status, WNOHANG) == child_) {
        child_ = -1;
        return status;
      }
      std::this_thread::sleep_for(milliseconds(10));
    }
    return -1;
  }

  StressMemory memory_ = MakeStressState(StressJob{}, MonotonicNs()).value();
  pid_t child_ = -1;
};

void SleepWithAllBlocked() {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  for (;;) pause();
}

TEST_F(PtraceStepperTest, AThreadThatSleepsWithTheSignalBlockedIsLetGo) {
  Fork(SleepWithAllBlocked);
  const auto took = EndTakes();
  if (took.count() < 0) GTEST_SKIP() << "the kernel refuses to trace";
  EXPECT_LT(took, std::chrono::seconds(6));
  EXPECT_EQ(kill(child_, 0), 0);
  EXPECT_EQ(waitpid(child_, nullptr, WNOHANG), 0);  // it lives on
}

// The parent reaps the process, whoever steps it.
TEST_F(PtraceStepperTest, TheEndOfASteppedProcessIsTheParents) {
  const auto stepper = StepOneThatExits();
  if (stepper == nullptr) GTEST_SKIP() << "the kernel refuses to trace";
  kill(child_, SIGUSR2);
  std::this_thread::sleep_for(milliseconds(300));  // it ends while it is stepped
  stepper->End();
  EXPECT_EQ(StatusWithin5Seconds(), 7 << 8);
}

TEST_F(PtraceStepperTest, ASignalInDeliveryIsNotLost) {
  const auto stepper = StepOneThatExits();
  if (stepper == nullptr) GTEST_SKIP() << "the kernel refuses to trace";
  kill(child_, SIGUSR2);
  stepper->End();
  EXPECT_EQ(StatusWithin5Seconds(), 7 << 8);
}

TEST_F(PtraceStepperTest, AMachineWithoutRoomForAThread) {
  pthread_attr_t usual;
  ASSERT_EQ(pthread_getattr_default_np(&usual), 0);
  pthread_attr_t huge = usual;
  ASSERT_EQ(pthread_attr_setstacksize(&huge, size_t{1} << 60), 0);
  ASSERT_EQ(pthread_setattr_default_np(&huge), 0);
  PtraceStepper stepper(*memory_.state, getpid());
  ASSERT_EQ(pthread_setattr_default_np(&usual), 0);
  EXPECT_NE(stepper.Trouble().find("cannot start the thread wh-stepper"), std::string::npos);
  stepper.End();
}

}  // namespace
}  // namespace walkhammer
