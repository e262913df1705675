// SPDX-License-Identifier: Apache-2.0
#include "harness/coverage/failing_loads.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "harness/base/testing/fails_with.h"
#include "harness/guard/arch.h"
#include "harness/guard/guard.h"
#include "harness/guard/guard_testing.h"

namespace walkhammer {
namespace {

using ::testing::HasSubstr;

struct Node {
  const Node* next;
  long value;
};

constexpr uint32_t kLimitMs = 200;  // of CPU time, then a walk hangs

std::atomic<FailingLoads*> active{nullptr};
GuardSlot slot;
int resumed = 0;

// A protection that lets the instruction run again.
void Resume(int, siginfo_t*, void*) { resumed++; }

class FailingLoadsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    GuardOptions options{};
    options.hang_limit_ms = kLimitMs;
    options.on_trap = [](ucontext_t* context, bool walking) {
      return active.load() != nullptr && active.load()->OnTrap(*context, walking);
    };
    options.on_step = [](siginfo_t*, ucontext_t* context) {
      return active.load() != nullptr && active.load()->OnStep(*context);
    };
    options.on_fault = [](siginfo_t* info, ucontext_t* context) {
      if (active.load() != nullptr) active.load()->OnFault(*info, *context);
    };
    ASSERT_TRUE(InstallGuard(options).ok());
    EnterGuardedThread(slot);
  }

  void SetUp() override {
    if (!kHasTrapFlag) GTEST_SKIP() << "no trap flag";
    library_ = dlopen(WALKHAMMER_READS, RTLD_NOW);
    ASSERT_NE(library_, nullptr) << dlerror();
    sum_ = Named<long(const Node*)>("Sum");
    auto loads = FailingLoads::Prepare(safefetch_);
    ASSERT_TRUE(loads.ok()) << loads.failure().message;
    loads_ = std::move(loads.value());
    active.store(loads_.get());
  }
  void TearDown() override { active.store(nullptr); }

  template <typename Function>
  Function* Named(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }

  // Traces `walk`; returns how many loads it makes.
  uint32_t Count(FunctionRef<void()> walk) {
    const Status traced = loads_->Trace(&given_, sizeof given_, [&] {
      EXPECT_EQ(GuardedCall(slot, [&] { loads_->Stepped(walk); }), Ending::kReturned);
    });
    EXPECT_TRUE(traced.ok());
    return loads_->count();
  }
  uint32_t CountSum() {
    return Count([&] { EXPECT_EQ(sum_(list_), 111); });
  }
  // Calls `walk` with a load that fails.
  Ending Fail(uint32_t number, FunctionRef<void()> walk) {
    loads_->Arm(number);
    const Ending ending = GuardedCall(slot, [&] { loads_->Stepped(walk); });
    loads_->Disarm();
    return ending;
  }

  std::vector<GuardOptions::Range> safefetch_;
  void* library_ = nullptr;
  long (*sum_)(const Node*) = nullptr;
  std::unique_ptr<FailingLoads> loads_;
  std::unique_ptr<Node> third_{new Node{nullptr, 100}}, second_{new Node{third_.get(), 10}},
      first_{new Node{second_.get(), 1}};
  const Node* list_ = first_.get();
  Node given_{nullptr, 5};  // what the walker is given
};

TEST_F(FailingLoadsTest, EachLoadOfAListFailsAtItsAddress) {
  ASSERT_EQ(CountSum(), 6U);
  EXPECT_TRUE(loads_->complete());
  const void* const read[] = {&first_->value, &first_->next,  &second_->value,
                              &second_->next, &third_->value, &third_->next};
  for (uint32_t i = 1; i <= 6; i++) {
    EXPECT_EQ(Fail(i, [&] { sum_(list_); }), Ending::kCrashed) << i;
    EXPECT_EQ(slot.fault.address, reinterpret_cast<uint64_t>(read[i - 1])) << i;
    EXPECT_EQ(slot.fault.signal, SIGSEGV);
    EXPECT_EQ(slot.fault.code, SEGV_MAPERR);
    EXPECT_EQ(slot.fault.registers.pc, loads_->failed_at()) << i;
    Dl_info place{};
    ASSERT_NE(dladdr(reinterpret_cast<void*>(loads_->failed_at()), &place), 0);
    EXPECT_STREQ(place.dli_sname, "Sum");
  }
  EXPECT_EQ(sum_(list_), 111) << "all code is as it was";
  EXPECT_EQ(CountSum(), 6U);
}

TEST_F(FailingLoadsTest, WhatCannotBeGoneDoesNotCount) {
  EXPECT_EQ(Count([&] { EXPECT_EQ(Named<long()>("SumOfConstants")(), 3); }), 0U);
  EXPECT_EQ(Count([&] { EXPECT_EQ(Named<long()>("SumOfFrame")(), 7); }), 0U);
  EXPECT_EQ(Count([&] { EXPECT_EQ(sum_(&given_), 5); }), 0U);
  EXPECT_TRUE(loads_->complete());
}

TEST_F(FailingLoadsTest, OurOwnLoadsDoNotCountAndThoseOfTheCLibraryDo) {
  std::vector<char> from(4096, 'x'), to(4096);
  const auto copy = Named<void(void*, const void*, unsigned long)>("Copy");
  EXPECT_EQ(Count([&] { std::memcpy(to.data(), from.data(), from.size()); }), 0U);
  EXPECT_GT(Count([&] { copy(to.data(), from.data(), from.size()); }), 0U);
  EXPECT_EQ(Fail(1, [&] { copy(to.data(), from.data(), from.size()); }), Ending::kCrashed);
  EXPECT_GE(slot.fault.address, reinterpret_cast<uint64_t>(from.data()));
  EXPECT_LT(slot.fault.address, reinterpret_cast<uint64_t>(from.data() + from.size()));
}

TEST_F(FailingLoadsTest, LoadsOfSafeFetchDoNotCount) {
  ASSERT_EQ(CountSum(), 6U);
  Fail(1, [&] { sum_(list_); });
  safefetch_ = {{loads_->failed_at(), loads_->failed_at() + 1}};
  auto loads = FailingLoads::Prepare(safefetch_);
  ASSERT_TRUE(loads.ok());
  loads_ = std::move(loads.value());
  active.store(loads_.get());
  EXPECT_EQ(CountSum(), 3U);
}

// As on a virtual machine that says "breakpoint" of a step, and there is none.
TEST_F(FailingLoadsTest, AStepWhoseCauseIsLostIsAStep) {
  if (!kHasTrapFlag) GTEST_SKIP() << "no trap flag";
  siginfo_t lost{};
  lost.si_signo = SIGTRAP;
  lost.si_code = TRAP_BRKPT;
  EXPECT_EQ(Count([&] {
              syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGTRAP, &lost);
              EXPECT_EQ(sum_(list_), 111);
            }),
            6U);
  EXPECT_TRUE(loads_->complete());
}

// By single steps, a long list takes more than three times the hang limit.
TEST_F(FailingLoadsTest, StepsAreNoHang) {
  std::vector<Node> nodes;
  uint32_t length = 2000;
  for (uint64_t took = 0; took <= 3 * kLimitMs;) {
    length *= 2;
    nodes.assign(length, Node{nullptr, 1});
    for (size_t i = 0; i + 1 < length; i++) nodes[i].next = &nodes[i + 1];
    const uint64_t begin = CpuMs();
    ASSERT_EQ(Count([&] { EXPECT_EQ(sum_(nodes.data()), length); }), 2 * length);
    took = CpuMs() - begin;
    ASSERT_TRUE(loads_->complete());
  }
  EXPECT_EQ(Fail(2 * length - 1, [&] { sum_(nodes.data()); }), Ending::kCrashed);
  EXPECT_EQ(slot.fault.address, reinterpret_cast<uint64_t>(&nodes.back().value));
}

TEST_F(FailingLoadsTest, AWalkThatCannotBeFollowedToItsEndIsNotComplete) {
  const auto unstepped = Named<long(const Node*)>("SumUnstepped");
  EXPECT_EQ(Count([&] { EXPECT_EQ(unstepped(list_), 111); }), 0U);
  EXPECT_FALSE(loads_->complete());
  EXPECT_EQ(CountSum(), 6U);
  EXPECT_TRUE(loads_->complete());
}

TEST_F(FailingLoadsTest, ALoadThatIsNotReachedFailsNothing) {
  ASSERT_EQ(CountSum(), 6U);
  EXPECT_EQ(Fail(5, [&] { sum_(second_.get()); }), Ending::kReturned);
  EXPECT_EQ(loads_->failed_at(), 0U);
  EXPECT_EQ(sum_(list_), 111);
}

// Another thread takes the trap away at most: nothing crashes, and no sum is wrong.
TEST_F(FailingLoadsTest, OtherThreadsRunTheSameCode) {
  ASSERT_EQ(CountSum(), 6U);
  std::atomic<bool> stop{false};
  std::atomic<long> sums{0}, wrong{0};
  std::thread other([&] {
    while (!stop.load()) {
      wrong += sum_(list_) != 111;
      sums++;
    }
  });
  int failed = 0;
  for (uint32_t i = 0; i < 3000; i++) {
    const Ending ending = Fail(i % 6 + 1, [&] { EXPECT_EQ(sum_(list_), 111); });
    EXPECT_EQ(ending == Ending::kCrashed, loads_->failed_at() != 0);
    failed += ending == Ending::kCrashed;
  }
  const long before = sums.load();
  while (sums.load() == before) std::this_thread::yield();
  stop.store(true);
  other.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_GT(failed, 0);
}

// Last, as a protection cannot be given up. The registers are those of the load again.
TEST_F(FailingLoadsTest, TheProtectionComesFirstAndMayResume) {
  ASSERT_EQ(CountSum(), 6U);
  ASSERT_TRUE(AdoptWalkersProtection([]() -> Status {
                struct sigaction action {};
                action.sa_sigaction = Resume;
                action.sa_flags = SA_SIGINFO;
                sigaction(SIGSEGV, &action, nullptr);
                return Ok();
              }).ok());
  for (uint32_t i = 1; i <= 6; i++) {
    long sum = 0;
    EXPECT_EQ(Fail(i, [&] { sum = sum_(list_); }), Ending::kReturned);
    EXPECT_EQ(sum, 111) << i;
    EXPECT_EQ(resumed, static_cast<int>(i));
    EXPECT_NE(loads_->failed_at(), 0U);
  }
}

}  // namespace
}  // namespace walkhammer
