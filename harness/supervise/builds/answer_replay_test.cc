// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/builds/answer_replay.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/base/random.h"

namespace walkhammer {
namespace {

// Answers of the builds to one request, by time. Gives the last ones if they differ each time, or
// "".
std::string Different(const std::vector<std::string>& baseline,
                      const std::vector<std::string>& candidate) {
  size_t time = 0;
  uint64_t compared = 0;
  const auto different = DifferentEachTime(
      1, static_cast<int>(baseline.size()),
      [&](const std::vector<size_t>&, bool) {
        const BothAnswers both{{baseline[time]}, {candidate[time]}};
        time++;
        return std::vector{both};
      },
      compared);
  EXPECT_EQ(compared, baseline[0].empty() || candidate[0].empty() ? 0 : 1);
  return different[0].Differ() ? different[0].baseline.text + different[0].candidate.text : "";
}

TEST(AnswerReplayTest, AnswersThatAlwaysDifferAreGiven) {
  EXPECT_EQ(Different({"a"}, {"b"}), "ab");
  EXPECT_EQ(Different({"a", "a", "a"}, {"b", "b", "b"}), "ab");
  EXPECT_EQ(Different({"a", "a", "a"}, {"a", "a", "a"}), "");
}

TEST(AnswerReplayTest, OneBuildMayVaryIfTheOtherNeverAnswersLikeIt) {
  EXPECT_EQ(Different({"a", "a", "a"}, {"b", "c", "d"}), "ad");
  EXPECT_EQ(Different({"b", "c", "d"}, {"a", "a", "a"}), "da");
  EXPECT_EQ(Different({"a", "a", "a"}, {"b", "a", "b"}), "");
  EXPECT_EQ(Different({"a", "a", "b"}, {"b", "c", "c"}), "");
}

TEST(AnswerReplayTest, RequestsWithoutAnAnswerOfBothAreNotDifferent) {
  EXPECT_EQ(Different({""}, {"b"}), "");
  EXPECT_EQ(Different({"a", "a"}, {"b", ""}), "");
}

// Were the same build always the first, one build compared with itself would look like two.
TEST(AnswerReplayTest, WhatDependsOnWhichProcessIsFirstIsNoDifference) {
  std::vector<bool> first;
  uint64_t compared = 0;
  const auto different = DifferentEachTime(
      2, 6,
      [&](const std::vector<size_t>& open, bool candidate_first) {
        first.push_back(candidate_first);
        std::vector<BothAnswers> answers;
        for (const size_t i : open) {
          const BothAnswers by_order = candidate_first ? BothAnswers{{"second"}, {"first"}}
                                                       : BothAnswers{{"first"}, {"second"}};
          answers.push_back(i == 0 ? by_order : BothAnswers{{"a"}, {"b"}});
        }
        return answers;
      },
      compared);
  for (size_t time = 0; time < first.size(); time++) EXPECT_EQ(first[time], time % 2 == 1);
  EXPECT_EQ(compared, 2);
  EXPECT_FALSE(different[0].Differ());
  EXPECT_TRUE(different[1].Differ());
}

// Each process answers each request in one of two ways, as often; the first `differing` ones are
// answered otherwise by the candidate. Gives how many differ, and how many were asked each time.
struct Coin {
  size_t differ = 0;
  std::vector<size_t> asked;

  Coin(size_t requests, size_t differing) {
    Random random(1);
    uint64_t compared = 0;
    const auto side = [&] { return BuildAnswer{random.Below(2) == 0 ? "a" : "b"}; };
    const auto different = DifferentEachTime(
        requests, 16,
        [&](const std::vector<size_t>& open, bool) {
          asked.push_back(open.size());
          std::vector<BothAnswers> answers;
          for (const size_t i : open)
            answers.push_back(i < differing ? BothAnswers{{"a"}, {"c"}}
                                            : BothAnswers{side(), side()});
          return answers;
        },
        compared);
    for (const BothAnswers& both : different) differ += both.Differ();
  }
};

TEST(AnswerReplayTest, WhatVariesIsNoDifferenceHoweverManyAreAsked) {
  const Coin coin(60000, 0);
  EXPECT_EQ(coin.differ, 0);
  ASSERT_GT(coin.asked.size(), 6) << "vacuous: none was left after six times";
  EXPECT_GT(coin.asked[6], 10);
}

TEST(AnswerReplayTest, FewThatDifferAreFoundAmongManyThatVary) {
  const Coin coin(60000, 3);
  EXPECT_EQ(coin.differ, 3);
  EXPECT_EQ(coin.asked.size(), 16);
  EXPECT_EQ(Coin(1, 1).differ, 1);
}

}  // namespace
}  // namespace walkhammer
