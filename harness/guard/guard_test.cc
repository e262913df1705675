// SPDX-License-Identifier: Apache-2.0
#include "harness/guard/guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "harness/guard/guard_testing.h"

// Functions whose extent a test must know are in sections of their own, which the linker marks.
#define WH_SECTION(name) __attribute__((noinline, section(name)))
extern "C" const char __start_wh_inner[], __stop_wh_inner[], __start_wh_outer[], __stop_wh_outer[],
    __start_wh_fetch[], __stop_wh_fetch[], __start_wh_doubt[], __stop_wh_doubt[];

namespace walkhammer {
namespace {

using ::testing::AnyOf;

GuardOptions::Range FetchRange() { return {Address(__start_wh_fetch), Address(__stop_wh_fetch)}; }
GuardOptions::Range DoubtfulRange() {
  return {Address(__start_wh_doubt), Address(__stop_wh_doubt)};
}

// A page that faults until Unprotect is called.
struct Trap {
  char* page;
  Trap()
      : page(static_cast<char*>(
            mmap(nullptr, PageSize(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {}
  ~Trap() { munmap(page, PageSize()); }
  Trap(const Trap&) = delete;
  Trap& operator=(const Trap&) = delete;
};
void Unprotect(const siginfo_t* info) {
  const uint64_t page = Address(info->si_addr) & ~(PageSize() - 1);
  if (mprotect(reinterpret_cast<void*>(page), PageSize(), PROT_READ) != 0) _exit(99);
}

// What the handlers from before the guard saw, and what the test's stand-in for the JVM's saw.
struct Seen {
  int previous_segv, previous_fpe;
  uint64_t previous_address;
  int jvm_asked;
  int jvm_answer;
  int32_t state_while_asked;
} seen;
volatile int32_t thread_state = 0;

void PreviousSegv(int, siginfo_t* info, void*) {
  seen.previous_segv++;
  seen.previous_address = Address(info->si_addr);
  Unprotect(info);
  errno = ENOTTY;
}
void PreviousFpe(int) {
  seen.previous_fpe++;
  errno = ENOTTY;
}
int JvmHandler(int, siginfo_t* info, void*, int abort_if_unrecognized) {
  EXPECT_EQ(abort_if_unrecognized, 0);
  seen.jvm_asked++;
  seen.state_while_asked = thread_state;
  if (seen.jvm_answer != 0) Unprotect(info);
  errno = ENOTTY;
  return seen.jvm_answer;
}

GuardSlot main_slot;  // static, as the watchdog may still read it

class GuardTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    struct sigaction action {};
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    action.sa_sigaction = PreviousSegv;
    sigaction(SIGSEGV, &action, nullptr);
    action.sa_flags = SA_NODEFER;
    action.sa_handler = PreviousFpe;
    sigaction(SIGFPE, &action, nullptr);
    const GuardOptions options{kHangLimitMs, JvmHandler, {FetchRange()}, {DoubtfulRange()}};
    ASSERT_TRUE(InstallGuard(options).ok());
    EnterGuardedThread(main_slot);
  }
  void SetUp() override { seen = {}; }
  void TearDown() override { main_slot.thread_state = nullptr; }
};

Ending Call(FunctionRef<void()> body) { return GuardedCall(main_slot, body); }

void Sleep(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

// --- faults ---

TEST_F(GuardTest, CallReturns) {
  int x = 0;
  EXPECT_EQ(Call([&] { x = 1; }), Ending::kReturned);
  EXPECT_EQ(x, 1);
}

TEST_F(GuardTest, NullPointer) {
  EXPECT_EQ(Call([] { Write(0x10); }), Ending::kCrashed);
  EXPECT_EQ(main_slot.fault.signal, SIGSEGV);
  EXPECT_EQ(main_slot.fault.code, SEGV_MAPERR);
  EXPECT_EQ(main_slot.fault.address, 0x10u);
  EXPECT_EQ(seen.previous_segv, 0);
}

TEST_F(GuardTest, NonCanonicalAddress) {
  EXPECT_EQ(Call([] { Write(kNonCanonical); }), Ending::kCrashed);
  EXPECT_EQ(main_slot.fault.signal, SIGSEGV);
}

TEST_F(GuardTest, JumpToNowhere) {
  void (*volatile nowhere)() = reinterpret_cast<void (*)()>(0x10);
  EXPECT_EQ(Call([&] { nowhere(); }), Ending::kCrashed);
  EXPECT_EQ(main_slot.fault.registers.pc, 0x10u);
}

TEST_F(GuardTest, TruncatedFile) {
  const int fd = memfd_create("truncated", 0);
  ASSERT_EQ(ftruncate(fd, static_cast<off_t>(PageSize())), 0);
  void* page = mmap(nullptr, PageSize(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ASSERT_NE(page, MAP_FAILED);
  ASSERT_EQ(ftruncate(fd, 0), 0);
  EXPECT_EQ(Call([&] { Write(Address(page) + 8); }), Ending::kCrashed);
  EXPECT_EQ(main_slot.fault.signal, SIGBUS);
  EXPECT_EQ(main_slot.fault.address, Address(page) + 8);
  munmap(page, PageSize());
  close(fd);
}

TEST_F(GuardTest, TrapInstruction) {
  EXPECT_EQ(Call([] {
              if (forever) __builtin_trap();
            }),
            Ending::kCrashed);
  EXPECT_THAT(main_slot.fault.signal, AnyOf(SIGILL, SIGTRAP));  // as the architecture has it
}

TEST_F(GuardTest, RaisedSignals) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP}) {
    EXPECT_EQ(Call([&] { raise(signal); }), Ending::kCrashed) << signal;
    EXPECT_EQ(main_slot.fault.signal, signal);
  }
  EXPECT_EQ(seen.previous_segv + seen.previous_fpe, 0);
}

// Another process sends `signal` to this thread, which has it once this returns. The other process
// waits until fork() has returned here: an emulator dies of a signal that comes before.
void LetAnotherSend(int signal, bool to_thread) {
  const pid_t here = getpid();
  int returned[2];
  ASSERT_EQ(pipe(returned), 0);
  const pid_t sender = fork();
  if (sender == 0) {
    char byte;
    if (read(returned[0], &byte, 1) != 1) _exit(1);
    to_thread ? syscall(SYS_tgkill, here, here, signal) : kill(here, signal);
    _exit(0);
  }
  EXPECT_EQ(write(returned[1], "", 1), 1);
  waitpid(sender, nullptr, 0);
  close(returned[0]);
  close(returned[1]);
}

TEST_F(GuardTest, SignalsOfAnotherProcessAreNoFaults) {
  for (const bool to_thread : {false, true}) {
    seen = {};
    EXPECT_EQ(Call([&] { LetAnotherSend(SIGFPE, to_thread); }), Ending::kReturned);
    EXPECT_EQ(seen.previous_fpe, 1) << "whoever had a handler decides";
    for (const int signal : {SIGBUS, SIGTRAP}) {
      const pid_t child = fork();  // an emulator cannot start death tests as programs
      if (child == 0) {
        Call([&] { LetAnotherSend(signal, to_thread); });
        _exit(0);
      }
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
    }
  }
}

WH_SECTION("wh_inner") void Inner(uint64_t address) {
  getpid();  // not a leaf: leaves may have no frame record
  Write(address);
  asm volatile("" ::: "memory");
}
WH_SECTION("wh_outer") void Outer(uint64_t address) {
  Inner(address);
  asm volatile("" ::: "memory");
}

TEST_F(GuardTest, FaultSaysWhere) {
  ASSERT_EQ(Call([] { Outer(0x10); }), Ending::kCrashed);
  const Fault& fault = main_slot.fault;
  ASSERT_GE(fault.native_count, 3);
  EXPECT_EQ(fault.native[0], fault.registers.pc);
  EXPECT_GE(fault.native[0], Address(__start_wh_inner));
  EXPECT_LT(fault.native[0], Address(__stop_wh_inner));
  EXPECT_GT(fault.native[1], Address(__start_wh_outer));
  EXPECT_LE(fault.native[1], Address(__stop_wh_outer));
  // The chain ends at the guarded call itself.
  EXPECT_LT(fault.native_count, kMaxNativeFrames);
  const auto here = Address(__builtin_frame_address(0));
  EXPECT_LT(fault.registers.sp, here);
  EXPECT_LT(main_slot.stack_end, here);
}

TEST_F(GuardTest, FiftyThousandFaults) {
  const uint64_t mask = ThreadSignalMask();
  stack_t before{}, after{};
  sigaltstack(nullptr, &before);
  int contained = 0;
  for (int i = 0; i < 50000; i++)
    contained += Call([&] { Write(i % 2 == 0 ? 0x10 : kNonCanonical); }) == Ending::kCrashed;
  EXPECT_EQ(contained, 50000);
  EXPECT_EQ(ThreadSignalMask(), mask);
  sigaltstack(nullptr, &after);
  EXPECT_EQ(after.ss_flags, 0);  // neither in use nor switched off
  EXPECT_EQ(after.ss_sp, before.ss_sp);
  EXPECT_EQ(after.ss_size, before.ss_size);
  EXPECT_EQ(Call([] {}), Ending::kReturned);
}

// A walker may crash with anything in its frame records.
__attribute__((noinline)) void CrashWithFrameRecordAt(const char* record) {
  getpid();
  *static_cast<volatile uint64_t*>(__builtin_frame_address(0)) = Address(record);
  Write(0x10);
  asm volatile("" ::: "memory");
}

TEST_F(GuardTest, UnreadableFrameRecordOnlyEndsTheChain) {
  const char* volatile page = nullptr;
  for (int i = 0; i < 3; i++) {
    EXPECT_EQ(Call([&] {
                volatile char on_the_stack[64 * 1024];
                page = const_cast<const char*>(on_the_stack) + sizeof on_the_stack / 2;
                page = page - Address(page) % PageSize();
                mprotect(const_cast<char*>(page), PageSize(), PROT_NONE);
                CrashWithFrameRecordAt(page);
                sink = on_the_stack[0];
              }),
              Ending::kCrashed);
    mprotect(const_cast<char*>(page), PageSize(), PROT_READ | PROT_WRITE);
    EXPECT_EQ(main_slot.fault.address, 0x10u);  // the walker's fault, not the guard's
    EXPECT_GE(main_slot.fault.native_count, 1);
    EXPECT_EQ(main_slot.fault.native[0], main_slot.fault.registers.pc);
  }
}

TEST_F(GuardTest, StackOverflow) {
  // On a thread with a small stack and a guard page: the main thread's stack may be unlimited.
  static GuardSlot slot;
  Ending endings[3] = {};
  std::thread([&] {
    EnterGuardedThread(slot);
    for (Ending& ending : endings) ending = GuardedCall(slot, [] { sink = Recurse(0); });
    LeaveGuardedThread();
  }).join();
  for (const Ending ending : endings) EXPECT_EQ(ending, Ending::kCrashed);
  EXPECT_EQ(slot.fault.native_count, kMaxNativeFrames);
}

// --- hangs ---

TEST_F(GuardTest, EndlessLoop) {
  const uint64_t start = CpuMs();
  EXPECT_EQ(Call([] { Spin(); }), Ending::kHung);
  EXPECT_GE(CpuMs() - start, kHangLimitMs * 0.9);
  EXPECT_LT(CpuMs() - start, kHangLimitMs * 8u);  // well before the wall limit
  EXPECT_GT(main_slot.fault.native_count, 0);
}

TEST_F(GuardTest, EndlessSleep) {
  constexpr int kMostTries = 5;  // on a busy machine the watchdog itself may be late
  uint64_t took = 0;
  for (int i = 0; i < kMostTries && (i == 0 || took >= kSleepLimitMs * 4u); i++) {
    const uint64_t start = WallMs();
    EXPECT_EQ(Call([] {
                while (forever) Sleep(5000);
              }),
              Ending::kHung);
    took = WallMs() - start;
    EXPECT_GE(took, kSleepLimitMs * 0.9);
  }
  EXPECT_LT(took, kSleepLimitMs * 4u);
}

TEST_F(GuardTest, HangsInARow) {
  for (int i = 0; i < 5; i++) {
    EXPECT_EQ(Call([] { Spin(); }), Ending::kHung);
    EXPECT_EQ(Call([] {}), Ending::kReturned);
  }
}

// The call that the watchdog means may be over.
TEST_F(GuardTest, ALateSignalEndsNoOtherCall) {
  int x = 0;
  EXPECT_EQ(Call([&] {
              raise(HangSignal());
              x = 1;
            }),
            Ending::kReturned);
  EXPECT_EQ(x, 1);
}

TEST_F(GuardTest, SlowIsNoHang) {
  EXPECT_EQ(Call([] { Burn(kHangLimitMs / 4); }), Ending::kReturned);
  EXPECT_EQ(Call([] { Sleep(kHangLimitMs * 5); }), Ending::kReturned);
  // The limit is per call, not for calls in a row.
  for (int i = 0; i < 20; i++) EXPECT_EQ(Call([] { Burn(kHangLimitMs / 4); }), Ending::kReturned);
}

TEST_F(GuardTest, EachThreadsHangEnds) {
  static GuardSlot slots[3];  // each hangs in its first call
  for (GuardSlot& slot : slots)
    EXPECT_EQ(CallOnThread(slot,
                           [end = WallMs() + 5000] {
                             while (WallMs() < end) sink = sink + 1;
                           }),
              Ending::kHung);
}

TEST_F(GuardTest, HangIsOneThreadsOwn) {
  // Both threads are in their first call when the watchdog checks; the second has used less CPU.
  static GuardSlot busy, fresh;
  const auto sleep = [] { Sleep(kHangLimitMs); };
  EXPECT_EQ(CallOnThread(busy, sleep, 100), Ending::kReturned);
  EXPECT_EQ(CallOnThread(fresh, sleep), Ending::kReturned);
}

// --- faults that are not the walker's ---

TEST_F(GuardTest, FaultOutsideGoesToThePreviousHandler) {
  const Trap trap;
  errno = EXDEV;
  sink = *static_cast<volatile char*>(trap.page + 24);
  EXPECT_EQ(errno, EXDEV);
  EXPECT_EQ(seen.previous_segv, 1);
  EXPECT_EQ(seen.previous_address, Address(trap.page + 24));
  EXPECT_EQ(seen.jvm_asked, 0);
}

TEST_F(GuardTest, FaultOutsideGoesToAPreviousHandlerOfTheOldKind) {
  errno = EXDEV;
  raise(SIGFPE);
  EXPECT_EQ(errno, EXDEV);
  EXPECT_EQ(seen.previous_fpe, 1);
}

TEST_F(GuardTest, FaultOnAThreadThatNeverWalksGoesToThePreviousHandler) {
  const Trap trap;
  std::thread([&] { sink = *static_cast<volatile char*>(trap.page); }).join();
  EXPECT_EQ(seen.previous_segv, 1);
}

TEST_F(GuardTest, FaultAfterAContainedOneGoesToThePreviousHandler) {
  const Trap trap;
  ASSERT_EQ(Call([] { Write(0x10); }), Ending::kCrashed);
  sink = *static_cast<volatile char*>(trap.page);
  EXPECT_EQ(seen.previous_segv, 1);
}

using GuardDeathTest = GuardTest;

TEST_F(GuardDeathTest, WithoutAPreviousHandlerTheDefaultActionFollows) {
  EXPECT_EXIT(
      if (forever) __builtin_trap(),
      [](int status) {
        return testing::KilledBySignal(SIGILL)(status) || testing::KilledBySignal(SIGTRAP)(status);
      },
      "");
}

TEST_F(GuardDeathTest, SentSignalsAreNotSwallowed) {
  EXPECT_EXIT(raise(SIGBUS), testing::KilledBySignal(SIGBUS), "");
  EXPECT_EXIT(raise(SIGTRAP), testing::KilledBySignal(SIGTRAP), "");
}

// --- where the JVM faults on purpose ---

WH_SECTION("wh_fetch") int Fetch(const volatile char* from) { return *from; }

TEST_F(GuardTest, JvmResumesInItsTrueState) {
  const Trap trap;
  thread_state = 8;  // as presented
  main_slot.thread_state = &thread_state;
  main_slot.true_state = 4;
  seen.jvm_answer = 1;
  int32_t state_after = 0, errno_after = 0;
  EXPECT_EQ(Call([&] {
              errno = EXDEV;
              sink = Fetch(trap.page);
              errno_after = errno;
              state_after = thread_state;
            }),
            Ending::kReturned);
  EXPECT_EQ(seen.jvm_asked, 1);
  EXPECT_EQ(seen.state_while_asked, 4);
  EXPECT_EQ(state_after, 8);
  EXPECT_EQ(errno_after, EXDEV);
}

TEST_F(GuardTest, JvmMayRefuse) {
  const Trap trap;
  thread_state = 8;
  main_slot.thread_state = &thread_state;
  main_slot.true_state = 4;
  EXPECT_EQ(Call([&] { sink = Fetch(trap.page); }), Ending::kCrashed);
  EXPECT_EQ(seen.jvm_asked, 1);
  EXPECT_EQ(thread_state, 8);
  EXPECT_EQ(main_slot.fault.address, Address(trap.page));
}

TEST_F(GuardTest, JvmIsNotAskedElsewhere) {
  // The JVM would take a fault in its polling page for a safepoint poll.
  const Trap trap;
  seen.jvm_answer = 1;
  EXPECT_EQ(Call([&] { sink = *static_cast<volatile char*>(trap.page); }), Ending::kCrashed);
  EXPECT_EQ(seen.jvm_asked, 0);
}

TEST_F(GuardTest, JvmIsNotAskedOutsideOfCalls) {
  const Trap trap;
  seen.jvm_answer = 1;
  sink = Fetch(trap.page);
  EXPECT_EQ(seen.jvm_asked, 0);
  EXPECT_EQ(seen.previous_segv, 1);
}

// --- where the JVM may fault on purpose ---

WH_SECTION("wh_doubt") int DoubtfulRead(const volatile char* from) { return *from; }
WH_SECTION("wh_doubt") void DoubtfulTrap() { __builtin_trap(); }

TEST_F(GuardTest, FaultsWhereSafeFetchMayLieAreDoubtful) {
  const Trap trap;
  seen.jvm_answer = 1;
  EXPECT_EQ(Call([&] { sink = DoubtfulRead(trap.page); }), Ending::kCrashed);
  EXPECT_EQ(main_slot.fault.doubtful, 1);
  EXPECT_EQ(seen.jvm_asked, 0);
  EXPECT_EQ(Call([&] { sink = *static_cast<volatile char*>(trap.page); }), Ending::kCrashed);
  EXPECT_EQ(main_slot.fault.doubtful, 0) << "elsewhere";
}

TEST_F(GuardTest, OnlyReadsOfBadMemoryAreDoubtful) {
  EXPECT_EQ(Call([] { DoubtfulTrap(); }), Ending::kCrashed);
  EXPECT_EQ(main_slot.fault.doubtful, 0);
  seen.jvm_answer = 0;
  const Trap trap;
  EXPECT_EQ(Call([&] { sink = Fetch(trap.page); }), Ending::kCrashed);
  EXPECT_EQ(main_slot.fault.doubtful, 0) << "where it is known";
}

// --- helpers ---

TEST(NativeChain, StopsAtWhatIsNoFrameRecord) {
  uint64_t stack[8] = {};
  const uint64_t low = Address(stack), end = Address(stack + 8);
  uint64_t pcs[kMaxNativeFrames] = {};
  // Two records: stack[2] leads to stack[5], which leads down again.
  stack[2] = Address(stack + 5);
  stack[3] = 0x111;
  stack[5] = Address(stack + 2);
  stack[6] = 0x222;
  EXPECT_EQ(NativeChain(0x99, Address(stack + 2), low, end, pcs), 3);
  EXPECT_EQ(pcs[0], 0x99u);
  EXPECT_EQ(pcs[1], 0x111u);
  EXPECT_EQ(pcs[2], 0x222u);
  EXPECT_EQ(NativeChain(0x99, Address(stack + 2) + 4, low, end, pcs), 1);
  EXPECT_EQ(NativeChain(0x99, low - 8, low, end, pcs), 1);
  EXPECT_EQ(NativeChain(0x99, end - 8, low, end, pcs), 1);
  EXPECT_EQ(NativeChain(0x99, UINT64_MAX - 7, low, end, pcs), 1);
}

TEST_F(GuardTest, SignalMaskIsTheKernels) {
  sigset_t set, old;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, &old);
  EXPECT_NE(ThreadSignalMask() & (1ULL << (SIGUSR1 - 1)), 0u);
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  EXPECT_EQ(ThreadSignalMask() & (1ULL << (SIGUSR1 - 1)), 0u);
}

}  // namespace
}  // namespace walkhammer
