// SPDX-License-Identifier: Apache-2.0
#include "stress/seen_place.h"

#include <gtest/gtest.h>

#include <span>
#include <vector>

namespace walkhammer::stress {
namespace {

constexpr uint64_t kSp = 0x7f0000001000, kReturnPc = 0x7f1234;

SteppedCall CallAt(uint64_t slot) {
  SteppedCall call;
  call.caller = SteppedCall::Caller::kCompiled;
  call.slot = slot;
  call.return_pc = kReturnPc;
  call.sender = slot + 8;
  return call;
}

class SeenPlaceTest : public ::testing::Test {
 protected:
  void Step(const SteppedCall& call, uint64_t sp, uint64_t fp,
            std::vector<uint64_t> registers = std::vector<uint64_t>(16), uint64_t in_frame = 0) {
    SteppedPoint at{};
    at.sp = sp;
    at.fp = fp;
    See(std::vector<SteppedCall>{call}, at, registers, in_frame, seen_, sender_);
  }
  SeenPlace seen_{};
  SeenSender sender_{};
};

TEST_F(SeenPlaceTest, DistancesFromBothPointers) {
  Step(CallAt(kSp + 16), kSp, kSp + 8);
  Step(CallAt(kSp + 16), kSp, kSp + 8);
  EXPECT_EQ(seen_.steps, 2u);
  EXPECT_EQ(seen_.from_sp, 16);
  EXPECT_EQ(seen_.from_fp, 8);
  EXPECT_EQ(seen_.other_sp + seen_.other_fp + seen_.in_register, 0u);
}

TEST_F(SeenPlaceTest, OtherDistancesAreCounted) {
  Step(CallAt(kSp + 16), kSp, kSp + 8);
  Step(CallAt(kSp + 24), kSp, kSp + 16);
  Step(CallAt(kSp + 16), kSp, kSp);
  EXPECT_EQ(seen_.steps, 3u);
  EXPECT_EQ(seen_.other_sp, 1u);
  EXPECT_EQ(seen_.last_sp, 24);
  EXPECT_EQ(seen_.other_fp, 1u);
}

TEST_F(SeenPlaceTest, ADistanceThatDoesNotFitIsFar) {
  Step(CallAt(kSp), kSp, 0);
  EXPECT_EQ(seen_.from_sp, 0);
  EXPECT_EQ(seen_.from_fp, SeenPlace::kFar);
}

TEST_F(SeenPlaceTest, RegistersThatHoldTheAddressAtAllSteps) {
  SteppedCall call = CallAt(kSp);
  call.is_away = true;
  Step(call, kSp + 8, 0, {kReturnPc, 1, kReturnPc});
  Step(call, kSp + 8, 0, {2, 1, kReturnPc});
  EXPECT_EQ(seen_.in_register, 2u);
  EXPECT_EQ(seen_.steps, 0u);
  EXPECT_EQ(seen_.registers, 1U << 2);
}

// What SeeAmbiguity counts at a step of a frame of four words, whose return address is in word 1.
uint32_t Ambiguous(std::vector<uint64_t> stack, int fp_word = 7, uint64_t end_word = 9,
                   SteppedCall call = CallAt(0)) {
  stack.resize(9);
  const auto sp = reinterpret_cast<uint64_t>(stack.data());
  if (!call.is_away) stack[1] = call.return_pc;
  call.slot = sp + 8;
  SteppedPoint at{};
  at.sp = sp;
  at.fp = sp + 8 * static_cast<uint64_t>(fp_word);
  SeenPlace seen{};
  SeeAmbiguity(std::vector<SteppedCall>{call}, {}, at, 4, sp + 8 * end_word, seen);
  return seen.ambiguous;
}

TEST(AmbiguousPlaces, ACopyIsWhereAWalkerLooks) {
  EXPECT_EQ(Ambiguous({}), 0u);
  EXPECT_EQ(Ambiguous({0, 0, kReturnPc, 0, kReturnPc, kReturnPc}), 0u);
  EXPECT_EQ(Ambiguous({kReturnPc}), 1u);                                // on top
  EXPECT_EQ(Ambiguous({0, 0, 0, kReturnPc}), 1u);                       // by the frame's size
  EXPECT_EQ(Ambiguous({0, 0, 0, 0, 0, 0, 0, 0, kReturnPc}), 1u);        // by fp
  EXPECT_EQ(Ambiguous({0, 0, 0, 0, 0, 0, 0, 0, kReturnPc}, 7, 8), 0u);  // beyond the stack
  EXPECT_EQ(Ambiguous({0, 0, 0, 0, 0, 0, 0, 0, kReturnPc}, -9, 9), 0u);
}

TEST(AmbiguousPlaces, AnAddressInARegisterMayLieWhereItWas) {
  SteppedCall call = CallAt(0);
  call.is_away = true;
  EXPECT_EQ(Ambiguous({}, 7, 9, call), 0u);
  EXPECT_EQ(Ambiguous({0, kReturnPc}, 7, 9, call), 1u);
}

TEST(AmbiguousPlaces, ACallThatIsNotKnown) {
  SteppedCall call = CallAt(0);
  call.caller = SteppedCall::Caller::kUnknown;
  EXPECT_EQ(Ambiguous({}, 7, 9, call), 1u);
}

// What SeeAmbiguity counts as replaced at a step, where two calls pushed theirs into the second and
// fourth word of the stack, `newest` of them are the newest, and these words are there now.
uint32_t Replaced(uint64_t word, uint64_t older_word, size_t newest = 2, bool is_away = false) {
  const std::vector<uint64_t> stack = {0, word, 0, older_word};
  const auto sp = reinterpret_cast<uint64_t>(stack.data());
  std::vector<SteppedCall> calls = {CallAt(sp + 32), CallAt(sp + 24), CallAt(sp + 8)};
  calls.back().is_away = is_away;
  SteppedPoint at{};
  at.sp = sp;
  at.fp = sp;
  SeenPlace seen{};
  SeeAmbiguity(calls, std::span(calls).last(newest), at, 4, sp + 32, seen);
  return seen.replaced;
}

TEST(ReplacedAddresses, AreThoseThatTheirCallDidNotPush) {
  EXPECT_EQ(Replaced(kReturnPc, kReturnPc), 0u);
  EXPECT_EQ(Replaced(1, kReturnPc), 1u);
  EXPECT_EQ(Replaced(kReturnPc, 1), 1u);
  EXPECT_EQ(Replaced(1, 1), 1u);  // steps are counted
  EXPECT_EQ(Replaced(1, kReturnPc, 2, true), 0u);
  EXPECT_EQ(Replaced(kReturnPc, kReturnPc, 3), 0u);  // beyond the stack
}

TEST(ReplacedAddresses, OfOlderCallsDoNotCount) {
  EXPECT_EQ(Replaced(kReturnPc, 1, 1), 0u);
  EXPECT_EQ(Replaced(1, 1, 0), 0u);
}

// The interpreter pushes a return address, and runs on in its own frame up to the jump.
TEST_F(SeenPlaceTest, APushedAddressIsNotYetThatOfTheFrame) {
  SteppedCall pushed = CallAt(kSp);
  pushed.is_pushed = true;
  SteppedPoint at{};
  at.sp = kSp;
  See(std::vector<SteppedCall>{CallAt(kSp + 64), pushed}, at, {}, 0, seen_, sender_);
  EXPECT_EQ(seen_.from_sp, 64);
}

// An adapter has put the return address further down, and the interpreter has a frame.
TEST_F(SeenPlaceTest, ACompiledCallersStackPointer) {
  SteppedCall call = CallAt(kSp + 16);
  call.sender = kSp + 64;
  Step(call, kSp, kSp + 8, {0, kSp + 64, kSp + 64});
  Step(call, kSp + 8, kSp + 8, {0, 0, kSp + 64}, kSp + 64);
  EXPECT_EQ(sender_.steps, 2u);
  EXPECT_EQ(sender_.from_sp, 64);
  EXPECT_EQ(sender_.other_sp, 1u);
  EXPECT_EQ(sender_.from_fp, 56);
  EXPECT_EQ(sender_.other_fp, 0u);
  EXPECT_EQ(sender_.in_frame, 1u);
  EXPECT_EQ(sender_.registers, 1U << 2);
}

// Its frame is found by fp: the adapter to compiled code may align the stack.
TEST_F(SeenPlaceTest, AnInterpretedCallersStackPointerIsNotNoted) {
  SteppedCall call = CallAt(kSp + 16);
  call.caller = SteppedCall::Caller::kInterpreted;
  Step(call, kSp, kSp + 8);
  EXPECT_EQ(seen_.steps, 1u);
  EXPECT_EQ(sender_.steps, 0u);
}

TEST_F(SeenPlaceTest, WithoutAKnownCallNothingIsSeen) {
  SteppedPoint at{};
  See({}, at, {}, 0, seen_, sender_);
  SteppedCall call = CallAt(kSp);
  call.caller = SteppedCall::Caller::kUnknown;
  Step(call, kSp, kSp);
  EXPECT_EQ(seen_.steps + seen_.in_register, 0u);
}

}  // namespace
}  // namespace walkhammer::stress
