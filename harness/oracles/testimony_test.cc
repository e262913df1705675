// SPDX-License-Identifier: Apache-2.0
// What a witness's answer says of another: each kind, and what is not judged.
#include "harness/oracles/testimony.h"

#include <gtest/gtest.h>

#include <vector>

#include "harness/oracles/oracle.h"

namespace walkhammer {
namespace {

char methods[16];  // stand-ins for jmethodIDs: only their addresses matter

std::vector<Frame> FramesOf(const std::vector<int>& numbers) {
  std::vector<Frame> frames;
  for (const int number : numbers) frames.push_back({7, 0, methods + number});
  return frames;
}

Trace Said(const std::vector<Frame>& frames) {
  return {Ending::kReturned, static_cast<int32_t>(frames.size()),
          const_cast<Frame*>(frames.data())};
}

constexpr int kDepth = 8;

std::optional<Testimony> Of(const std::vector<int>& answer, const std::vector<int>& witness) {
  const auto mine = FramesOf(answer), other = FramesOf(witness);
  return TestimonyOn(Said(mine), Said(other), kDepth);
}

TEST(Testimony, EachKind) {
  EXPECT_EQ(Of({1, 2, 3}, {1, 2, 3}), Testimony::kAgrees);
  EXPECT_EQ(Of({}, {1, 2, 3}), Testimony::kNoFrame);
  EXPECT_EQ(Of({9, 2, 3}, {1, 2, 3}), Testimony::kNewest);
  EXPECT_EQ(Of({1, 9, 3}, {1, 2, 3}), Testimony::kCallers);
  EXPECT_EQ(Of({1, 3, 4, 5}, {1, 2, 3, 4, 5}), Testimony::kCallers) << "one is left out";
  EXPECT_EQ(Of({1, 2, 3}, {1, 2}), Testimony::kCallers) << "one too many";
  EXPECT_EQ(Of({1, 2}, {1, 2, 3}), Testimony::kCutOff);
}

TEST(Testimony, AFailureIsNoFrameWhateverItsCode) {
  const auto frames = FramesOf({1});
  for (const int code : {0, -5, -1234}) {
    const Trace failed{Ending::kReturned, code, nullptr};
    EXPECT_EQ(TestimonyOn(failed, Said(frames), kDepth), Testimony::kNoFrame);
  }
}

TEST(Testimony, ByteCodesOfCallersCount) {
  const auto witness = FramesOf({1, 2, 3});
  auto newest = witness, caller = witness, unknown = witness;
  newest[0].bci++;
  caller[0].bci++;
  caller[2].bci++;
  unknown[1].bci = 0;
  EXPECT_EQ(TestimonyOn(Said(newest), Said(witness), kDepth), Testimony::kAgrees);
  EXPECT_EQ(TestimonyOn(Said(unknown), Said(witness), kDepth), Testimony::kAgrees);
  EXPECT_EQ(TestimonyOn(Said(caller), Said(witness), kDepth), Testimony::kByteCode);
}

TEST(Testimony, WhatProvesNothing) {
  const auto three = FramesOf({1, 2, 3}), other = FramesOf({1, 9, 3});
  const Trace answer = Said(three), failed{Ending::kReturned, -5, nullptr},
              none{Ending::kReturned, 0, nullptr}, crashed{Ending::kCrashed, 0, nullptr};
  EXPECT_EQ(TestimonyOn(answer, failed, kDepth), std::nullopt);
  EXPECT_EQ(TestimonyOn(failed, none, kDepth), std::nullopt);
  EXPECT_EQ(TestimonyOn(crashed, answer, kDepth), std::nullopt);
  EXPECT_EQ(TestimonyOn(answer, answer, 2), std::nullopt) << "beyond the buffer";
  Trace guess = Said(other);
  guess.guessed_from = 1;
  EXPECT_EQ(TestimonyOn(answer, guess, kDepth), std::nullopt);
  guess.guessed_from = 2;
  EXPECT_EQ(TestimonyOn(answer, guess, kDepth), Testimony::kCallers);
}

TEST(Testimony, EachKindHasWordsALimitAndAnOutcome) {
  const Oracle* oracle = FindOracle("witness");
  ASSERT_NE(oracle, nullptr);
  ASSERT_EQ(oracle->outcomes.size(), static_cast<size_t>(kTestimonies));
  for (int i = 1; i < kTestimonies; i++) {
    EXPECT_EQ(oracle->outcomes[static_cast<size_t>(i)].grade, Grade::kForbidden);
    EXPECT_GT(LimitOf(static_cast<Testimony>(i)), 0);
    EXPECT_LT(LimitOf(static_cast<Testimony>(i)), 100);
    EXPECT_STRNE(TestimonyWords(static_cast<Testimony>(i)), "");
  }
}

}  // namespace
}  // namespace walkhammer
