// SPDX-License-Identifier: Apache-2.0
// The guard at its edges: signal stacks that overflow, what is seen of a hang, hangs that are none,
// walks within walks, resources that have run out.
#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include "harness/base/files.h"
#include "harness/guard/guard.h"
#include "harness/guard/guard_testing.h"
#include "harness/guard/interposition.h"

// The linker's: where the section of that name, which holds one function, begins and ends.
extern "C" const char __start_wh_loops[], __stop_wh_loops[];

namespace walkhammer {
namespace {

GuardSlot main_slot;  // static, as the watchdog may still read it

class GuardEdgesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ASSERT_TRUE(InstallGuard({kHangLimitMs, nullptr, {}}).ok());
    ASSERT_TRUE(EnterGuardedThread(main_slot));
  }
};

void* volatile in_second_fault = nullptr;  // the page of FaultTwice, to be made readable again

// --- signal stacks that overflow ---

// Faults with a frame record that cannot be read, so that following the native chain faults, too.
void FaultTwice() {
  volatile char on_the_stack[128 * 1024];
  const auto middle = reinterpret_cast<uint64_t>(on_the_stack) + sizeof on_the_stack / 2;
  const uint64_t page = middle - middle % PageSize();
  in_second_fault = reinterpret_cast<void*>(page);
  mprotect(in_second_fault, PageSize(), PROT_NONE);
  *static_cast<volatile uint64_t*>(__builtin_frame_address(0)) = page;
  volatile uint64_t nowhere = 0x10;
  *reinterpret_cast<volatile int*>(nowhere) = 1;
  sink = on_the_stack[0];
}

// A walker's call in the handler of a thread that has a signal stack; within that call, at will,
// the handler of a second signal with a call of its own.
struct InHandler {
  static constexpr uint64_t kCanary = 0x1122334455667788;
  stack_t inner[2];  // what the two handlers put in force
  GuardSlot slot[2];
  int overflows_inside = 0;   // of the second handler's call, to be done
  bool faults_twice = false;  // the first handler, before anything else
  Ending twice = Ending::kReturned;
  Ending first[3], second = Ending::kReturned;
  bool armed = true, intact = false;
  stack_t after{};
} in_handler;

void OnSecond(int) {
  GuardSlot* before = SetCurrentGuardSlot(&in_handler.slot[1]);
  in_handler.armed &= sigaltstack(&in_handler.inner[1], nullptr) == 0;
  in_handler.second = GuardedCall(in_handler.slot[1], [] { sink = Recurse(0); });
  SetCurrentGuardSlot(before);
}

void OnFirst(int) {
  volatile uint64_t canary[64];
  for (auto& word : canary) word = InHandler::kCanary;
  SetCurrentGuardSlot(&in_handler.slot[0]);
  in_handler.armed &= sigaltstack(&in_handler.inner[0], nullptr) == 0;
  if (in_handler.faults_twice) {
    in_handler.twice = GuardedCall(in_handler.slot[0], [] { FaultTwice(); });
    mprotect(in_second_fault, PageSize(), PROT_READ | PROT_WRITE);
  }
  for (Ending& ending : in_handler.first)
    ending = GuardedCall(in_handler.slot[0], [] {
      if (in_handler.overflows_inside-- > 0) raise(SIGUSR2);
      sink = Recurse(0);
    });
  in_handler.intact = true;
  for (auto& word : canary) in_handler.intact &= word == InHandler::kCanary;
  SetCurrentGuardSlot(nullptr);
}

// Sends the first signal to a new thread, has the results in `in_handler`, and expects that the
// first handler's calls were contained.
void OverflowInHandler(int overflows_inside) {
  struct sigaction action {};
  action.sa_flags = SA_ONSTACK;
  action.sa_handler = OnFirst;
  sigaction(SIGUSR1, &action, nullptr);
  action.sa_handler = OnSecond;
  sigaction(SIGUSR2, &action, nullptr);
  for (stack_t& stack : in_handler.inner) stack = NewSignalStack(kDisarmedInHandlers);
  in_handler.overflows_inside = overflows_inside;
  in_handler.intact = false;
  in_handler.second = Ending::kReturned;
  std::thread([] {
    GiveSignalStack(kDisarmedInHandlers);
    raise(SIGUSR1);
    sigaltstack(nullptr, &in_handler.after);
    LeaveGuardedThread();
  }).join();
  EXPECT_TRUE(in_handler.armed);
  for (const Ending ending : in_handler.first) EXPECT_EQ(ending, Ending::kCrashed);
  EXPECT_TRUE(in_handler.intact) << "the fault's handler ran over the frames of the first one";
}

TEST_F(GuardEdgesTest, OverflowOfTheSignalStackIsContained) {
  OverflowInHandler(0);
  EXPECT_EQ(in_handler.slot[0].fault.signal, SIGSEGV);
  // The thread has its own signal stack again.
  EXPECT_EQ(in_handler.after.ss_flags & ~kDisarmedInHandlers, 0);
  EXPECT_NE(in_handler.after.ss_sp, in_handler.inner[0].ss_sp);
}

TEST_F(GuardEdgesTest, OverflowInAWalkWithinAWalkIsContained) {
  OverflowInHandler(2);
  EXPECT_EQ(in_handler.second, Ending::kCrashed);
}

TEST_F(GuardEdgesTest, OverflowAfterASecondFaultIsContained) {
  in_handler.faults_twice = true;
  OverflowInHandler(0);
  in_handler.faults_twice = false;
  EXPECT_EQ(in_handler.twice, Ending::kCrashed);
}

// Address space of this process, bytes.
uint64_t MappedBytes() { return std::stoull(ReadFile("/proc/self/statm")) * PageSize(); }

TEST_F(GuardEdgesTest, ASignalStackThatCannotBeMadeLeavesNothing) {
  constexpr int kTurns = 3;  // a thread that starts during a turn maps memory of its own, once
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_DATA, &before), 0);
  const rlimit none{4096, before.rlim_max};  // counts memory from the moment that it is writable
  bool leaves = true;
  for (int turn = 0; turn < kTurns && leaves; turn++) {
    const uint64_t mapped = MappedBytes();
    ASSERT_EQ(setrlimit(RLIMIT_DATA, &none), 0);
    int disabled = 0;
    for (int i = 0; i < 8; i++) disabled += NewSignalStack().ss_flags == SS_DISABLE;
    ASSERT_EQ(setrlimit(RLIMIT_DATA, &before), 0);
    EXPECT_EQ(disabled, 8);
    leaves = MappedBytes() >= mapped + (1 << 20);  // eight stacks have more than 2 MiB
  }
  EXPECT_FALSE(leaves);
  const stack_t stack = NewSignalStack();
  EXPECT_EQ(stack.ss_flags, 0);
  EXPECT_GE(stack.ss_size, 64u * 1024);
}

// --- what is seen of a hang ---

// Loops by calling another function, in which it is nearly always interrupted.
__attribute__((noinline)) void BurnMore() { sink = sink + 1; }
__attribute__((noinline)) void BurnALittle(int rounds) {
  for (int i = 0; i < rounds; i++) BurnMore();
}
// A loop that all looks find in the same of its calls would seem to be in that call.
__attribute__((noinline, section("wh_loops"))) void LoopsOverCalls() {
  while (forever) {
    BurnALittle(300);
    BurnALittle(301);
    BurnALittle(302);
    BurnALittle(303);
    BurnALittle(304);
    BurnALittle(305);
  }
}

bool IsInLoop(uint64_t pc) {
  return pc >= Address(__start_wh_loops) && pc <= Address(__stop_wh_loops);
}

TEST_F(GuardEdgesTest, ALoopIsToldFromWhatItCalls) {
  for (int i = 0; i < 5; i++) {
    ASSERT_EQ(GuardedCall(main_slot, [] { LoopsOverCalls(); }), Ending::kHung);
    const Fault& fault = main_slot.fault;
    EXPECT_TRUE(IsInLoop(fault.looping)) << std::hex << fault.looping;
    ASSERT_GT(fault.lasting_calls, 0);
    ASSERT_LT(fault.lasting_calls, fault.native_count);
    for (int outer = 1; outer <= fault.lasting_calls; outer++)
      EXPECT_FALSE(IsInLoop(fault.native[fault.native_count - outer]));
  }
}

// A look would wake a sleeper that does not go on sleeping.
TEST_F(GuardEdgesTest, ASleeperIsLookedAtOnce) {
  for (const int times : {1, 1000}) {
    ASSERT_EQ(GuardedCall(main_slot,
                          [&] {
                            // Ends early for any signal.
                            for (int i = 0; forever && i < times; i++)
                              poll(nullptr, 0, kSleepLimitMs * 4);
                          }),
              Ending::kHung);
    const Fault& fault = main_slot.fault;
    EXPECT_EQ(fault.lasting_calls, fault.native_count - 1);
    // libc keeps no frame pointers: maybe no caller is known.
    EXPECT_EQ(fault.looping, fault.native_count > 1 ? fault.native[0] : 0);
    EXPECT_EQ(fault.looping_returns, 0);
  }
  ASSERT_EQ(GuardedCall(main_slot, [] { raise(SIGSEGV); }), Ending::kCrashed);
  EXPECT_EQ(main_slot.fault.lasting_calls, 0);
  EXPECT_EQ(main_slot.fault.looping, 0u);
}

// A call that the looks do not end goes on as if nothing had been.
TEST_F(GuardEdgesTest, ALookLeavesACallAsItWas) {
  ASSERT_EQ(GuardedCall(main_slot,
                        [] {
                          errno = EXDEV;
                          const uint64_t start = CpuMs();
                          while (CpuMs() - start <= kHangLimitMs) sink = sink + 1;
                          if (errno != EXDEV) abort();
                        }),
            Ending::kReturned);
}

// --- hangs that are none ---

TEST_F(GuardEdgesTest, AStoppedProcessDoesNotHang) {
  const uint64_t begun = WallMs();
  EXPECT_EQ(GuardedCall(main_slot,
                        [] {
                          const pid_t helper = fork();
                          if (helper == 0) {
                            kill(getppid(), SIGSTOP);
                            usleep(1000 * kSleepLimitMs * 2);
                            kill(getppid(), SIGCONT);
                            usleep(1000 * kSleepLimitMs / 4);  // time for the watchdog to be wrong
                            _exit(0);
                          }
                          while (waitpid(helper, nullptr, 0) < 0 && errno == EINTR) {
                          }
                        }),
            Ending::kReturned);
  EXPECT_GE(WallMs() - begun, static_cast<uint64_t>(kSleepLimitMs) * 2);
}

TEST_F(GuardEdgesTest, AThreadThatGetsNoProcessorDoesNotHang) {
  static GuardSlot slot;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<size_t>(sched_getcpu()), &one);
  std::atomic<bool> over{false};
  const auto compete = [&] {
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    while (!over.load()) sink = sink + 1;
  };
  std::thread first(compete), second(compete);
  Ending ending = Ending::kHung;
  uint64_t cpu_ms = 0;
  std::thread([&] {
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    const sched_param none{};
    ASSERT_EQ(sched_setscheduler(0, SCHED_IDLE, &none), 0);
    EnterGuardedThread(slot);
    cpu_ms = CpuMs();
    ending = GuardedCall(slot, [] {
      for (const uint64_t end = WallMs() + kSleepLimitMs * 2; WallMs() < end;) sink = sink + 1;
    });
    cpu_ms = CpuMs() - cpu_ms;
    LeaveGuardedThread();
  }).join();
  over.store(true);
  first.join();
  second.join();
  ASSERT_LT(cpu_ms, static_cast<uint64_t>(kHangLimitMs)) << "it got more than its share";
  EXPECT_EQ(ending, Ending::kReturned);
}

TEST_F(GuardEdgesTest, SleepCountsOnceHoweverOftenASlotIsWatched) {
  static GuardSlot earlier, slot;
  Ending ending = Ending::kReturned;
  uint64_t slept_ms = 0;
  ASSERT_TRUE(InstallGuard({kHangLimitMs, nullptr, {}}).ok());
  std::thread([&] {
    ASSERT_TRUE(WatchGuardSlot(earlier));
    ASSERT_TRUE(WatchGuardSlot(slot));
    SetCurrentGuardSlot(&earlier);
    LeaveGuardedThread();  // which frees the earlier place
    ASSERT_TRUE(EnterGuardedThread(slot));
    slept_ms = WallMs();
    ending = GuardedCall(slot, [] {
      while (forever) usleep(5000000);
    });
    slept_ms = WallMs() - slept_ms;
    LeaveGuardedThread();
  }).join();
  EXPECT_EQ(ending, Ending::kHung);
  EXPECT_GE(slept_ms, static_cast<uint64_t>(kSleepLimitMs) * 9 / 10);
}

// --- walks within walks ---

// Burns CPU time in a call, in a second call within that one, and then again; returns how the
// outer and the inner call end.
std::pair<Ending, Ending> BurnNested(uint64_t before_ms, uint64_t within_ms, uint64_t after_ms) {
  static GuardSlot inner;
  EXPECT_TRUE(WatchGuardSlot(inner));
  Ending inside{};
  const Ending outside = GuardedCall(main_slot, [&] {
    Burn(before_ms);
    SetCurrentGuardSlot(&inner);
    inside = GuardedCall(inner, [&] { Burn(within_ms); });
    SetCurrentGuardSlot(&main_slot);
    Burn(after_ms);
  });
  return {outside, inside};
}

// The outer call's limit is reached in the inner one.
TEST_F(GuardEdgesTest, AHangThatAWalkWithinHidesEndsLater) {
  EXPECT_EQ(BurnNested(kHangLimitMs * 5 / 8, kHangLimitMs * 6 / 8, kHangLimitMs * 20),
            std::pair(Ending::kHung, Ending::kReturned));
}

TEST_F(GuardEdgesTest, AHangWithinDoesNotCountAsTheOuterOnes) {
  EXPECT_EQ(BurnNested(kHangLimitMs / 2, kHangLimitMs * 20, kHangLimitMs / 4),
            std::pair(Ending::kReturned, Ending::kHung));
}

// --- room ---

TEST_F(GuardEdgesTest, ASlotThatIsNotWatchedIsTold) {
  static GuardSlot slots[kMaxGuardSlots + 1];
  int room = 0;
  while (room <= kMaxGuardSlots && WatchGuardSlot(slots[room])) room++;
  EXPECT_GT(room, kMaxGuardSlots / 2);
  EXPECT_LT(room, kMaxGuardSlots) << "the main thread's slot has a place, too";
  EXPECT_FALSE(WatchGuardSlot(slots[kMaxGuardSlots]));
  EXPECT_TRUE(WatchGuardSlot(slots[0])) << "it has its place";
  std::thread([&] {
    for (GuardSlot& slot : slots) {
      SetCurrentGuardSlot(&slot);
      LeaveGuardedThread();
    }
  }).join();
  EXPECT_TRUE(WatchGuardSlot(slots[kMaxGuardSlots]));
}

// This program is not linked with interpose.cc.
TEST_F(GuardEdgesTest, TheCheckFindsThatNothingIsInterposed) {
  const std::string reason = WhatIsNotInterposed();
  EXPECT_EQ(reason.rfind("malloc is that of ", 0), 0u) << reason;
  EXPECT_NE(reason.find("libc"), std::string::npos) << reason;
  EXPECT_EQ(CurrentGuardSlot(), &main_slot);
}

// --- reads of what may not be readable ---

TEST_F(GuardEdgesTest, AReadThatFaultsIsContained) {
  const uint64_t word = 0x1234;
  uint64_t read = 0;
  const auto reads = [&](uint64_t from, size_t size) {
    return Contained(main_slot, [&, from, size] {
      std::memcpy(&read, reinterpret_cast<const void*>(from), size);
    });
  };
  main_slot.unsafe_call.function = "malloc";  // what an oracle has yet to judge
  EXPECT_TRUE(reads(Address(&word), sizeof word));
  EXPECT_EQ(read, word);
  const auto size = PageSize();
  auto* pages =
      static_cast<char*>(mmap(nullptr, 2 * size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  munmap(pages + size, size);
  const auto end = Address(pages) + size;
  EXPECT_TRUE(reads(end - 8, 8));
  EXPECT_EQ(read, 0u);
  EXPECT_FALSE(reads(end - 4, 8));
  for (const uint64_t nowhere : {uint64_t{0}, uint64_t{0x18}, uint64_t{1} << 63, UINT64_MAX})
    EXPECT_FALSE(reads(nowhere, 1)) << nowhere;
  EXPECT_STREQ(main_slot.unsafe_call.function, "malloc");
  munmap(pages, size);
}

}  // namespace
}  // namespace walkhammer
