// SPDX-License-Identifier: Apache-2.0
// A guarded call tells whether it may have made a system call.
#include "harness/guard/system_calls.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness/guard/guard.h"
#include "harness/guard/guard_testing.h"

namespace walkhammer {
namespace {

GuardSlot slots[8];  // static, as the watchdog may still read them
int used = 0;

class SystemCallsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    GuardOptions options{};
    options.hang_limit_ms = kHangLimitMs;
    ASSERT_TRUE(InstallGuard(options).ok());
  }
  void SetUp() override {
    EnterGuardedThread(slot_);
    if (!WatchSystemCalls()) GTEST_SKIP() << "this kernel cannot watch system calls";
  }
  void TearDown() override { LeaveGuardedThread(); }

  // A call that ends so, and may or may not have called the kernel.
  void ExpectCall(FunctionRef<void()> body, bool called, Ending ending = Ending::kReturned) {
    EXPECT_EQ(GuardedCall(slot_, body), ending);
    EXPECT_EQ(slot_.may_have_called_kernel, called);
  }

  GuardSlot& slot_ = slots[used++];
};

TEST_F(SystemCallsTest, ACallThatOnlyComputesDidNotCallTheKernel) {
  for (int i = 0; i < 3; i++) {
    ExpectCall([] { sink = sink + 1; }, false);
    (void)getppid();  // outside of the call
  }
}

// From the first system call on, each call may have made one: a signal each time costs too much.
TEST_F(SystemCallsTest, SystemCallsDoAsTheyShouldAndAreTold) {
  const pid_t parent = getppid();
  pid_t seen[2] = {};
  EXPECT_EQ(GuardedCall(slot_, [&] { seen[0] = getppid(), seen[1] = getppid(); }),
            Ending::kReturned);
  EXPECT_EQ(seen[0], parent);
  EXPECT_EQ(seen[1], parent);
  EXPECT_TRUE(slot_.may_have_called_kernel);
  ExpectCall([] { sink = sink + 1; }, true);
  EXPECT_TRUE(WatchSystemCalls());
  ExpectCall([] { sink = sink + 1; }, false);
}

TEST_F(SystemCallsTest, AChangedSignalMaskStays) {
  const uint64_t before = ThreadSignalMask();
  EXPECT_EQ(GuardedCall(slot_,
                        [] {
                          sigset_t all;
                          sigfillset(&all);
                          pthread_sigmask(SIG_BLOCK, &all, nullptr);
                          sink = getppid();  // while SIGSYS is blocked
                        }),
            Ending::kReturned);
  EXPECT_TRUE(slot_.may_have_called_kernel);
  EXPECT_NE(ThreadSignalMask(), before);
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, sizeof before);
}

// The guard's own handlers make system calls.
TEST_F(SystemCallsTest, CallsThatTheGuardEndsAreContained) {
  ExpectCall([] { Write(0x10); }, true, Ending::kCrashed);
  ExpectCall([] { Spin(); }, true, Ending::kHung);
  ExpectCall([] { sink = sink + 1; }, false);  // no system call of the walker's own so far
}

TEST_F(SystemCallsTest, OtherThreadsAreNotWatched) {
  GuardSlot& slot = slots[used++];
  EXPECT_EQ(CallOnThread(slot, [] { sink = sink + 1; }), Ending::kReturned);
  EXPECT_TRUE(slot.may_have_called_kernel);
}

TEST_F(SystemCallsTest, AThreadThatBlocksTheSignalIsNotWatched) {
  UnwatchSystemCalls();
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGSYS);
  pthread_sigmask(SIG_BLOCK, &one, nullptr);
  EXPECT_FALSE(WatchSystemCalls());
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  EXPECT_EQ(GuardedCall(slot_, [] { sink = getppid(); }), Ending::kReturned);
}

using SystemCallsDeathTest = SystemCallsTest;

TEST_F(SystemCallsDeathTest, ASentSignalIsNotSwallowed) {
  EXPECT_EXIT(raise(SIGSYS), testing::KilledBySignal(SIGSYS), "");
}

}  // namespace
}  // namespace walkhammer
