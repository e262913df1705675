// SPDX-License-Identifier: Apache-2.0
#include "harness/guard/entry_hooks.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <thread>
#include <vector>

#include "harness/guard/arch.h"

namespace walkhammer {
namespace {

std::atomic<uint64_t> hook_calls{0}, after_calls{0}, last_first{0}, last_second{0};
bool on_signal_stack = false;

HookedFunction original_one = nullptr, original_many = nullptr, original_refused = nullptr,
               original_jump = nullptr, original_jumps = nullptr, original_trap = nullptr;

template <HookedFunction& original>
void NoteEntry(uint64_t first, uint64_t second) {
  stack_t stack{};
  sigaltstack(nullptr, &stack);
  on_signal_stack |= (stack.ss_flags & SS_ONSTACK) != 0;
  last_first = first;
  last_second = second;
  hook_calls++;
  original(first, second);
  after_calls++;
}

// Each a function of its own for a test, which hooks it for good.
std::atomic<uint64_t> sum{0};
#define HOOKED_FUNCTION(name)                                                       \
  extern "C" __attribute__((noinline, noclone)) void name(uint64_t a, uint64_t b) { \
    asm volatile("" ::: "memory");                                                  \
    sum += a + 10 * b;                                                              \
  }
HOOKED_FUNCTION(EntryHooksTestOne)
HOOKED_FUNCTION(EntryHooksTestMany)
HOOKED_FUNCTION(EntryHooksTestRefused)

uint64_t AddressOfFunction(HookedFunction function) { return reinterpret_cast<uint64_t>(function); }

class EntryHooksTest : public testing::Test {
 protected:
  void SetUp() override {
    if (kElfMachine != 62) GTEST_SKIP() << "x86_64 alone";
    hook_calls = after_calls = sum = 0;
  }
};

TEST_F(EntryHooksTest, IsCalledInsteadAndCallsTheFunction) {
  EntryHooksTestOne(1, 2);
  EXPECT_EQ(sum, 21u);
  const EntryHook hook = {AddressOfFunction(EntryHooksTestOne), NoteEntry<original_one>,
                          &original_one};
  ASSERT_TRUE(HookEntries({&hook, 1}).ok());
  EXPECT_EQ(hook_calls, 0u);
  EntryHooksTestOne(1, 2);
  EntryHooksTestOne(5, 6);
  EXPECT_EQ(sum, 21u + 21u + 65u);
  EXPECT_EQ(hook_calls, 2u);
  EXPECT_EQ(after_calls, 2u);
  EXPECT_EQ(last_first, 5u);
  EXPECT_EQ(last_second, 6u);
  EXPECT_FALSE(on_signal_stack) << "runs outside of the trap's handler";
}

// A function that adds its first argument to `sum`, and begins as one of libjvm.
// push rbp; mov rbp, rsp; push r12; mov rax, &sum; add [rax], rdi; pop r12; pop rbp; ret
HookedFunction MakeFunction() {
  const uint8_t kBegin[] = {0x55, 0x48, 0x89, 0xe5, 0x41, 0x54, 0x48, 0xb8},
                kEnd[] = {0x48, 0x01, 0x38, 0x41, 0x5c, 0x5d, 0xc3};
  auto* code = static_cast<uint8_t*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const void* const to = &sum;
  std::memcpy(code, kBegin, sizeof kBegin);
  std::memcpy(code + sizeof kBegin, &to, sizeof to);
  std::memcpy(code + sizeof kBegin + sizeof to, kEnd, sizeof kEnd);
  return reinterpret_cast<HookedFunction>(code);
}

// A thread that blocks SIGTRAP would end the process at a trap.
TEST_F(EntryHooksTest, IsAJumpWhereItsTargetIsFree) {
  const HookedFunction function = MakeFunction();
  const EntryHook hook = {AddressOfFunction(function), NoteEntry<original_jump>, &original_jump};
  ASSERT_TRUE(HookEntries({&hook, 1}).ok());
  ASSERT_EQ(*reinterpret_cast<uint8_t*>(hook.entry), 0xe9);
  sigset_t trap, before;
  sigemptyset(&trap);
  sigaddset(&trap, SIGTRAP);
  pthread_sigmask(SIG_BLOCK, &trap, &before);
  function(3, 4);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(hook_calls, 1u);
  EXPECT_EQ(after_calls, 1u);
  EXPECT_EQ(last_second, 4u);
  EXPECT_EQ(sum, 3u);
}

TEST_F(EntryHooksTest, StaysATrapWhereTheJumpsTargetIsNotFree) {
  const HookedFunction function = MakeFunction();
  const uint64_t target = EntryJumpTarget(AddressOfFunction(function));
  auto* const page = reinterpret_cast<uint8_t*>(target & ~uint64_t{4095});
  ASSERT_EQ(mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), page);
  const EntryHook hook = {AddressOfFunction(function), NoteEntry<original_trap>, &original_trap};
  ASSERT_TRUE(HookEntries({&hook, 1}).ok());
  EXPECT_EQ(*reinterpret_cast<uint8_t*>(hook.entry), kTrapCode);
  EXPECT_EQ(page[target % 4096], 0);
  function(3, 4);
  EXPECT_EQ(hook_calls, 1u);
  EXPECT_EQ(sum, 3u);
}

// Four threads call the function while it is hooked. Returns the number of calls.
uint64_t HookWhileCalled(HookedFunction function, const EntryHook& hook) {
  constexpr uint64_t kCalls = 20'000;
  std::atomic<uint64_t> called{0}, begun{0};
  std::vector<std::thread> threads;
  const auto call = [&] {
    function(1, 0);
    called++;
  };
  for (int t = 0; t < 4; t++)
    threads.emplace_back([&] {
      begun++;
      for (uint64_t i = 0; i < kCalls; i++) call();
      while (hook_calls == 0) call();
    });
  while (begun < 4) std::this_thread::yield();
  EXPECT_TRUE(HookEntries({&hook, 1}).ok());
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(hook_calls, 0u);
  EXPECT_EQ(after_calls, hook_calls);
  return called;
}

TEST_F(EntryHooksTest, ManyThreadsWhileItIsHooked) {
  const uint64_t called = HookWhileCalled(
      EntryHooksTestMany,
      {AddressOfFunction(EntryHooksTestMany), NoteEntry<original_many>, &original_many});
  EXPECT_EQ(sum, called);
}

// Its `add` is not atomic: the sum tells nothing.
TEST_F(EntryHooksTest, ManyThreadsWhileItBecomesAJump) {
  const HookedFunction function = MakeFunction();
  HookWhileCalled(function,
                  {AddressOfFunction(function), NoteEntry<original_jumps>, &original_jumps});
  EXPECT_EQ(*reinterpret_cast<uint8_t*>(AddressOfFunction(function)), 0xe9);
}

TEST_F(EntryHooksTest, RefusesWhatItCannotMove) {
  alignas(16) static const uint8_t kJumpAtOnce[16] = {0xe9, 0, 0, 0, 0, 0xc3};
  const EntryHook jump = {reinterpret_cast<uint64_t>(kJumpAtOnce), NoteEntry<original_refused>,
                          &original_refused};
  EXPECT_FALSE(HookEntries({&jump, 1}).ok());
  EXPECT_EQ(kJumpAtOnce[0], 0xe9);
}

TEST_F(EntryHooksTest, RefusesTooManyAndThreadsThatBlockTraps) {
  const EntryHook hook = {AddressOfFunction(EntryHooksTestRefused), NoteEntry<original_refused>,
                          &original_refused};
  EXPECT_FALSE(HookEntries(std::vector<EntryHook>(kMostEntryHooks + 1, hook)).ok());
  sigset_t trap, before;
  sigemptyset(&trap);
  sigaddset(&trap, SIGTRAP);
  pthread_sigmask(SIG_BLOCK, &trap, &before);
  EXPECT_FALSE(HookEntries({&hook, 1}).ok());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EntryHooksTestRefused(1, 2);
  EXPECT_EQ(sum, 21u);
  EXPECT_EQ(hook_calls, 0u);
}

// Such a handler need not pass traps on.
TEST(EntryHooksDeathTest, AnotherHandlerAllowsNoMoreHooks) {
  if (kElfMachine != 62) GTEST_SKIP() << "x86_64 alone";
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto hook_twice = [] {
    const EntryHook one = {AddressOfFunction(EntryHooksTestOne), NoteEntry<original_one>,
                           &original_one};
    const EntryHook many = {AddressOfFunction(EntryHooksTestMany), NoteEntry<original_many>,
                            &original_many};
    if (!HookEntries({&one, 1}).ok()) _exit(1);
    signal(SIGTRAP, [](int) { _exit(2); });
    const bool refused = !HookEntries({&many, 1}).ok();
    EntryHooksTestMany(1, 2);
    _exit(refused && sum == 21 ? 7 : 3);
  };
  EXPECT_EXIT(hook_twice(), testing::ExitedWithCode(7), "");
}

// A function that pushes, and then stays at its second byte until it is sent SIGTRAP there.
std::atomic<uint64_t> spin_at{0}, traps_passed{0};
HookedFunction original_spin = nullptr;

void LeaveSpin(int, siginfo_t*, void* raw_context) {
  auto& context = *static_cast<ucontext_t*>(raw_context);
  Registers registers = ReadContext(context);
  if (registers.pc == spin_at) {
    registers.pc += 2;
    WriteContext(registers, context);
  }
  traps_passed++;
}

// A sent SIGTRAP comes with any pc: also with that of a hook's trap.
TEST(EntryHooksDeathTest, ASentTrapIsNotAHooks) {
  if (kElfMachine != 62) GTEST_SKIP() << "x86_64 alone";
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto call_and_send = [] {
    constexpr uint8_t kSpin[] = {0x55, 0xeb, 0xfe, 0x5d, 0xc3};  // push; jmp to itself; pop; ret
    void* code = mmap(nullptr, sizeof kSpin, PROT_READ | PROT_WRITE | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memcpy(code, kSpin, sizeof kSpin);
    const auto entry = reinterpret_cast<uint64_t>(code);
    spin_at = entry + 1;
    struct sigaction leave {};
    leave.sa_sigaction = LeaveSpin;
    leave.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &leave, nullptr);
    const EntryHook hook = {entry, NoteEntry<original_spin>, &original_spin};
    if (!HookEntries({&hook, 1}).ok()) _exit(1);
    std::thread spinning([&] { reinterpret_cast<HookedFunction>(code)(1, 2); });
    // One that is pending when the trap is met would take the trap's place: see entry_hooks.h.
    while (hook_calls == 0) std::this_thread::yield();
    while (after_calls == 0 && hook_calls < 2) {
      const uint64_t before = traps_passed;  // one at a time: handlers are nested
      pthread_kill(spinning.native_handle(), SIGTRAP);
      while (traps_passed == before && after_calls == 0 && hook_calls < 2)
        std::this_thread::yield();
    }
    _exit(hook_calls == 1 ? 7 : 2);
  };
  EXPECT_EXIT(call_and_send(), testing::ExitedWithCode(7), "");
}

// A trap that is not a hook's goes to the handler from before, or ends the process.
TEST(EntryHooksDeathTest, OtherTrapsAreAsBefore) {
  if (kElfMachine != 62) GTEST_SKIP() << "x86_64 alone";
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const EntryHook hook = {AddressOfFunction(EntryHooksTestRefused), NoteEntry<original_refused>,
                          &original_refused};
  const auto trap = [&](void (*before)(int)) {
    signal(SIGTRAP, before);
    if (!HookEntries({&hook, 1}).ok()) _exit(2);
    raise(SIGTRAP);
    EntryHooksTestRefused(1, 2);
    _exit(hook_calls == 1 ? 1 : 3);
  };
  EXPECT_EXIT(trap([](int) { _exit(7); }), testing::ExitedWithCode(7), "");
  EXPECT_EXIT(trap(SIG_DFL), testing::KilledBySignal(SIGTRAP), "");
  EXPECT_EXIT(trap(SIG_IGN), testing::ExitedWithCode(1), "");
}

}  // namespace
}  // namespace walkhammer
