// SPDX-License-Identifier: Apache-2.0
// How two answers differ: each kind, at both ends of its range.
#include "harness/oracles/disagreement.h"

#include <gtest/gtest.h>

#include <vector>

#include "harness/oracles/observation.h"
#include "harness/oracles/oracle.h"

namespace walkhammer {
namespace {

// Stand-ins for jmethodIDs: only their addresses matter.
char method_ids[64];

Trace Answer(const std::vector<Frame>& frames) {
  return {Ending::kReturned, static_cast<int32_t>(frames.size()),
          const_cast<Frame*>(frames.data())};
}

// Frames of the methods with these numbers, newest first; -1 is a frame without a method.
std::vector<Frame> Stack(const std::vector<int>& methods) {
  std::vector<Frame> frames;
  for (int method : methods) frames.push_back({7, 0, method < 0 ? nullptr : method_ids + method});
  return frames;
}

// Both ways round, the answers differ by the same kind, at the same frame.
void ExpectDifference(const std::vector<Frame>& a, const std::vector<Frame>& b, Disagreement kind,
                      int frame) {
  for (const Difference& difference :
       {Compare(Answer(a), Answer(b)), Compare(Answer(b), Answer(a))}) {
    EXPECT_STREQ(DisagreementWord(difference.kind), DisagreementWord(kind));
    EXPECT_EQ(difference.frame, frame);
  }
}

void ExpectDifference(const std::vector<int>& a, const std::vector<int>& b, Disagreement kind,
                      int frame) {
  ExpectDifference(Stack(a), Stack(b), kind, frame);
}

TEST(Disagreement, IsCountedWhereBothReturnedAndOneWalked) {
  const Trace walked{Ending::kReturned, 4, nullptr}, failed{Ending::kReturned, -5, nullptr},
      empty{Ending::kReturned, 0, nullptr}, one{Ending::kReturned, 1, nullptr},
      crashed{Ending::kCrashed, 0, nullptr};
  EXPECT_TRUE(CanCompare(walked, walked, 4));
  EXPECT_TRUE(CanCompare(failed, walked, 4));
  EXPECT_TRUE(CanCompare(one, empty, 4));
  EXPECT_FALSE(CanCompare(failed, failed, 4));
  EXPECT_FALSE(CanCompare(empty, failed, 4));
  EXPECT_FALSE(CanCompare(walked, crashed, 4));
  EXPECT_FALSE(CanCompare(crashed, walked, 4));
  EXPECT_FALSE(CanCompare(walked, walked, 3)) << "beyond the buffer";
}

TEST(Disagreement, TheSameFramesDoNotDiffer) {
  ExpectDifference({1, 2, 3}, {1, 2, 3}, Disagreement::kNone, 0);
}

TEST(Disagreement, OneMayFail) {
  const auto frames = Stack({1, 2});
  const Trace walked = Answer(frames), failed{Ending::kReturned, -5, nullptr},
              empty{Ending::kReturned, 0, nullptr};
  EXPECT_EQ(Compare(walked, failed).kind, Disagreement::kOneFailed);
  EXPECT_EQ(Compare(failed, walked).kind, Disagreement::kOneFailed);
  EXPECT_EQ(Compare(walked, empty).kind, Disagreement::kOneFailed);
  EXPECT_EQ(Compare(empty, failed).kind, Disagreement::kNone);
  Trace asked = empty;
  asked.ended_on_request = true;
  EXPECT_EQ(Compare(walked, asked).kind, Disagreement::kNone) << "it was to end there";
}

TEST(Disagreement, OneMayEndEarly) {
  ExpectDifference({1, 2, 3}, {1, 2}, Disagreement::kTruncated, 2);
  ExpectDifference({1, 2}, {1}, Disagreement::kTruncated, 1);
  const auto all = Stack({1, 2, 3}), part = Stack({1, 2});
  Trace asked = Answer(part);
  asked.ended_on_request = true;
  EXPECT_EQ(Compare(Answer(all), asked).kind, Disagreement::kNone) << "it was to end there";
}

TEST(Disagreement, OneMayLeaveOutCallers) {
  ExpectDifference({1, 2, 3}, {1, 3}, Disagreement::kSkippedCaller, 1);
  ExpectDifference({1, 2, 3}, {2, 3}, Disagreement::kSkippedCaller, 0);
  ExpectDifference({1, 10, 11, 12, 13, 14, 15, 16, 17, 2}, {1, 2}, Disagreement::kSkippedCaller, 1);
  ExpectDifference({1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 2}, {1, 2}, Disagreement::kMethod, 1);
}

// Four frames behind the gap must be alike, or all that are left.
TEST(Disagreement, CallersThatAreLeftOutAreFollowedByTheSame) {
  ExpectDifference({1, 10, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 7}, Disagreement::kSkippedCaller, 1);
  ExpectDifference({1, 10, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 7, 8}, Disagreement::kMethod, 1);
  ExpectDifference({1, 10}, {1, 2}, Disagreement::kMethod, 1);
}

TEST(Disagreement, OneMayNameAnotherMethodOrNone) {
  ExpectDifference({1, 2, 3}, {1, 4, 3}, Disagreement::kMethod, 1);
  ExpectDifference({1, 2, 3}, {4, 2, 3}, Disagreement::kMethod, 0);
  ExpectDifference({1, -1, 3}, {1, 2, 3}, Disagreement::kUnnamed, 1);
  ExpectDifference({-1, 2, -1}, {1, 2, 3}, Disagreement::kUnnamed, 0);
}

TEST(Disagreement, PlacesAndLevelsCountLeast) {
  auto frames = Stack({1, 2, 3}), others = frames;
  others[1].bci = others[2].bci = 8;
  ExpectDifference(frames, others, Disagreement::kBci, 1);
  others = frames;
  others[0].bci = 8;
  ExpectDifference(frames, others, Disagreement::kBci, 0);
  others[2].method = nullptr;
  ExpectDifference(frames, others, Disagreement::kUnnamed, 2);

  others = frames;
  frames[1].kind = frames[2].kind = 1;
  ExpectDifference(frames, others, Disagreement::kNone, 0);  // one does not report kinds
  others[1].kind = others[2].kind = 2;
  ExpectDifference(frames, others, Disagreement::kLevel, 1);
  others[2].bci = 8;
  ExpectDifference(frames, others, Disagreement::kBci, 2);
}

// A finding names the walker that the oracle compared with, if it compared at all.
TEST(Disagreement, IsAgainstAWalker) {
  Observation seen{};
  const Oracle& agreement = *FindOracle("agreement");
  EXPECT_EQ(AgainstOf(seen, agreement), 0);
  for (size_t i = 0; i < 2; i++) {
    seen.other.walker = &AllWalkers()[i];
    EXPECT_EQ(AgainstOf(seen, agreement), i + 1);
    EXPECT_EQ(AgainstOf(seen, *FindOracle("bci")), 0);
  }
}

}  // namespace
}  // namespace walkhammer
