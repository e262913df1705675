// SPDX-License-Identifier: Apache-2.0
// GuardOptions::jvm_ends_walks: a JVM whose own handlers end walks that fault, as OpenJ9's do.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>

#include "harness/guard/guard.h"
#include "harness/guard/guard_testing.h"

namespace walkhammer {
namespace {

// Where the stand-in for the JVM's handler goes on; null: it does not know the fault.
thread_local sigjmp_buf* volatile walk_end = nullptr;
volatile int asked = 0;
GuardSlot slot;  // static, as the watchdog may still read it

// A page that faults until the JVM has seen that.
void* volatile closed_page = nullptr;

void JvmsHandler(int, siginfo_t* info, void*) {
  asked = asked + 1;
  if (info->si_addr == closed_page && closed_page != nullptr) {
    mprotect(closed_page, PageSize(), PROT_READ | PROT_WRITE);
    return;
  }
  if (walk_end != nullptr) siglongjmp(*walk_end, 1);
}
void PlainHandler(int) { _exit(99); }

// A walk that faults, and that the JVM's handler ends. Returns true if the walk went on behind
// that.
bool ProtectedWalk(FunctionRef<void()> fault) {
  volatile bool ended = false;
  sigjmp_buf end;
  if (sigsetjmp(end, 1) == 0) {
    walk_end = &end;
    fault();
  } else {
    ended = true;
  }
  walk_end = nullptr;
  return ended;
}

class JvmEndsWalksTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    struct sigaction action {};
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    action.sa_sigaction = JvmsHandler;
    for (const int signal : {SIGSEGV, SIGILL}) sigaction(signal, &action, nullptr);
    action.sa_flags = SA_NODEFER;
    action.sa_handler = PlainHandler;
    sigaction(SIGFPE, &action, nullptr);
    GuardOptions options{};
    options.hang_limit_ms = kHangLimitMs;
    options.jvm_ends_walks = true;
    ASSERT_TRUE(InstallGuard(options).ok());
    EnterGuardedThread(slot);
  }
  void SetUp() override { asked = 0; }
  // ProtectedWalk in a guarded call, which must return.
  static bool EndsInCall(FunctionRef<void()> fault) {
    bool ended = false;
    EXPECT_EQ(GuardedCall(slot, [&] { ended = ProtectedWalk(fault); }), Ending::kReturned);
    return ended;
  }
};

TEST_F(JvmEndsWalksTest, TheJvmHasAFaultFirst) {
  EXPECT_TRUE(GuardInPlace());
  for (int i = 1; i <= 3; i++) {
    EXPECT_TRUE(EndsInCall([] { Write(0); }));
    EXPECT_EQ(asked, i);
    EXPECT_EQ(slot.protected_faults, 1);
    EXPECT_EQ(slot.fault.signal, SIGSEGV);
  }
}

TEST_F(JvmEndsWalksTest, AFaultBehindWhichTheWalkGoesOnIsNone) {
  const size_t size = PageSize();
  closed_page = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(closed_page, MAP_FAILED);
  for (int i = 1; i <= 20; i++) {  // more than are let through at once
    EXPECT_EQ(GuardedCall(slot, [] { Write(Address(closed_page)); }), Ending::kReturned);
    EXPECT_EQ(asked, i);
    EXPECT_EQ(slot.protected_faults, 0);
    mprotect(closed_page, size, PROT_NONE);
  }
  munmap(closed_page, size);
  closed_page = nullptr;
}

TEST_F(JvmEndsWalksTest, SoItHasOtherSignals) {
  EXPECT_TRUE(EndsInCall([] { raise(SIGILL); }));
  EXPECT_EQ(slot.fault.signal, SIGILL);
}

// OpenJ9 would end the process here.
TEST_F(JvmEndsWalksTest, AFaultThatComesAgainForEverIsAHang) {
  EXPECT_EQ(GuardedCall(slot, [] { Write(kNonCanonical); }), Ending::kHung);
  EXPECT_GT(asked, 1);
}

TEST_F(JvmEndsWalksTest, AHandlerThatTakesNoContextIsNotAsked) {
  EXPECT_EQ(GuardedCall(slot, [] { raise(SIGFPE); }), Ending::kCrashed);
  EXPECT_EQ(slot.fault.signal, SIGFPE);
  EXPECT_EQ(GuardedCall(slot, [] { raise(SIGBUS); }), Ending::kCrashed) << "nobody had a handler";
  EXPECT_EQ(slot.fault.signal, SIGBUS);
  EXPECT_EQ(asked, 0);
}

// The JVM leaves the fault's handler by a jump, for which the kernel puts no stack back.
TEST_F(JvmEndsWalksTest, TheSignalStackIsInForceAfterwards) {
  const stack_t mine = NewSignalStack(kDisarmedInHandlers);
  stack_t before{}, now{};
  ASSERT_EQ(sigaltstack(&mine, &before), 0);
  int ended = 0;
  EXPECT_EQ(GuardedCall(slot,
                        [&] {
                          for (int i = 0; i < 2; i++)
                            ended += ProtectedWalk([] { Write(0); }) ? 1 : 0;
                        }),
            Ending::kReturned);
  EXPECT_EQ(ended, 2);
  sigaltstack(nullptr, &now);
  EXPECT_EQ(now.ss_sp, mine.ss_sp);
  EXPECT_EQ(now.ss_flags & SS_DISABLE, 0);
  sigaltstack(&before, nullptr);
}

TEST_F(JvmEndsWalksTest, OutsideOfAWalkTheJvmIsAskedAsBefore) {
  EXPECT_TRUE(ProtectedWalk([] { Write(0); }));
  EXPECT_EQ(asked, 1);
}

TEST_F(JvmEndsWalksTest, HandlersStayOnTheirSignalStacks) {
  EXPECT_EQ(HandlerStackFlag(), SA_ONSTACK);
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP}) {
    struct sigaction now {};
    ASSERT_EQ(sigaction(signal, nullptr, &now), 0);
    EXPECT_NE(now.sa_flags & SA_ONSTACK, 0) << signal;
  }
}

}  // namespace
}  // namespace walkhammer
