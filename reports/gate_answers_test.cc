// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "harness/ipc/line_state.h"
#include "reports/gate.h"
#include "reports/gate_testing.h"

namespace walkhammer {
namespace {

using testing::HasSubstr;

constexpr int kMinus5 = 6;  // code slot
const Answer kTen{1, DigestOf(kCodeFrames, 10UL << 40)},
    kTwelve{1, DigestOf(kCodeFrames, 12UL << 40)}, kError{1, DigestOf(kMinus5, 0)},
    kCrashed{1, DigestOf(kCodeCrash, 0)}, kDied{1, Answer::kCutOff},
    kElsewhere{2, DigestOf(kMinus5, 0)}, kNotWalked{};

// Runs of the random engine that keep answers.
class GateOfAnswers : public MadeRuns {
 protected:
  void SetUp() override {
    asked_.keep = [](const AnsweredAgain& request) { return "kept/" + request.name; };
  }
  std::string Run(const std::vector<Answer>& answers, const std::string& walker = "agct") {
    const std::string dir =
        Add({.periods = 2, .buckets = {}, .engine = "random", .walker = walker});
    std::ofstream file(dir + "/" + kAnswersName, std::ios::binary);
    for (const Answer& answer : answers) {
      const uint64_t word = uint64_t{answer.request} << 32 | answer.digest;
      file.write(reinterpret_cast<const char*>(&word), sizeof word);
    }
    return dir;
  }
  GateVerdict Judge(const std::vector<std::string>& before, const std::vector<std::string>& now) {
    return JudgeGate(ReadGateSide(before).value(), ReadGateSide(now).value(), {}, {}, asked_);
  }
  GateVerdict Judge(const std::vector<Answer>& before, const std::vector<Answer>& now) {
    return Judge(std::vector{Run(before)}, {Run(now)});
  }
  // Walks on both JDKs show `again` of each request; all could be made again.
  void WalksShow(AnsweredAgain again) {
    if (again.name.empty()) again.name = "a.walk";
    asked_.again = [this, again](const std::vector<DifferentAnswer>& requests) {
      requests_ = requests;
      return std::vector<AnsweredAgain>(requests.size(), again);
    };
  }
  static std::vector<const GateChange*> Of(const GateVerdict& verdict, GateKind kind) {
    std::vector<const GateChange*> changes;
    for (const GateChange& change : verdict.changes)
      if (change.kind == kind) changes.push_back(&change);
    return changes;
  }

  GateAnswers asked_;
  std::vector<DifferentAnswer> requests_;
};

TEST_F(GateOfAnswers, OneThatAlwaysDiffersFails) {
  WalksShow({"12 frames\na @ 1\nb @ 2", "code -5", 0, "a.walk"});
  const GateVerdict verdict = Judge({kTen, kTwelve, kError}, {kTen, kError, kError});
  EXPECT_EQ(verdict.word, "REGRESSION");
  EXPECT_EQ(verdict.answers.compared, 3U);
  ASSERT_EQ(requests_.size(), 1U);
  EXPECT_EQ(requests_[0].number, 1U);
  const auto changes = Of(verdict, GateKind::kAnswers);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0]->what, "frames became code -5");
  EXPECT_THAT(changes[0]->details,
              HasSubstr("1 of 3 requests that both builds were shown; 1 of 1 walked again differ "
                        "each time; one: 12 frames became code -5"));
  EXPECT_EQ(changes[0]->input, "kept/a.walk");
}

TEST_F(GateOfAnswers, TheNewestFrameThatDiffersIsNamed) {
  WalksShow({"2 frames\na @ 1\nb @ 2", "2 frames\na @ 1\nc @ 2"});
  const GateVerdict verdict = Judge({kTen}, {kTwelve});
  ASSERT_EQ(Of(verdict, GateKind::kAnswers).size(), 1U);
  EXPECT_EQ(verdict.changes[0].what, "frames, other ones");
  EXPECT_THAT(verdict.changes[0].details,
              HasSubstr("2 frames became 2 frames; frame 1: b @ 2 became c @ 2"));
}

TEST_F(GateOfAnswers, OneThatVariesIsNoChange) {
  WalksShow({});
  EXPECT_TRUE(Judge({kTen}, {kError}).changes.empty());
  // Left out before anything is walked: runs of one side differ.
  requests_.clear();
  const GateVerdict verdict = Judge({Run({kTen}), Run({kTwelve})}, {Run({kError})});
  EXPECT_EQ(verdict.answers.not_enough, 1U);
  EXPECT_EQ(verdict.answers.compared, 0U);
  EXPECT_TRUE(requests_.empty());
}

TEST_F(GateOfAnswers, WhatCannotBeMadeAgainIsNoPass) {
  size_t made = 0;
  asked_.again = [&](const std::vector<DifferentAnswer>& requests) {
    std::vector<AnsweredAgain> answers(requests.size());
    for (size_t i = 0; i < made; i++) answers[i].name = "a.walk";
    return answers;
  };
  std::vector<Answer> before(20000, kTen), now = before;
  std::fill_n(now.begin(), 10, kError);
  const auto judged = [&] { return Judge(before, now); };
  const GateVerdict none = judged();
  EXPECT_EQ(none.word, "NOT ENOUGH DATA");
  EXPECT_EQ(none.exit, ExitCode::kToolFailed);
  EXPECT_THAT(none.why, HasSubstr("10 of 10 requests that were answered differently could not"));
  made = 5;
  EXPECT_EQ(judged().word, "NOT ENOUGH DATA");
  made = 6;
  const GateVerdict most = judged();
  EXPECT_EQ(most.word, "PASS");
  EXPECT_THAT(most.notes, testing::Contains(HasSubstr("4 of 10 requests that were")));
  made = 10;
  EXPECT_EQ(judged().word, "PASS");
  EXPECT_THAT(judged().notes, testing::Not(testing::Contains(HasSubstr("could not be made"))));
}

TEST_F(GateOfAnswers, OnlyTheSameRequestsAreCompared) {
  WalksShow({"12 frames", "code -5"});
  const GateVerdict verdict = Judge({kTen, kNotWalked, kTen}, {kElsewhere, kError, kNotWalked});
  EXPECT_EQ(verdict.answers.compared, 0U);
  EXPECT_TRUE(verdict.changes.empty());
  EXPECT_THAT(verdict.notes, testing::Contains(HasSubstr("no request was shown to both builds")));
}

TEST_F(GateOfAnswers, WalkersAreNotComparedWithEachOther) {
  WalksShow({"12 frames", "code -5"});
  const GateVerdict verdict = Judge(std::vector{Run({kTen}), Run({kTwelve}, "asgst")},
                                    {Run({kTen}), Run({kError}, "asgst")});
  EXPECT_EQ(verdict.answers.compared, 2U);
  EXPECT_EQ(verdict.answers.not_enough, 0U);
  ASSERT_EQ(requests_.size(), 1U);
  EXPECT_EQ(requests_[0].walker, "asgst");
}

TEST_F(GateOfAnswers, WhatDiffersLateIsWalkedAgainAsOftenAsWhatDiffersEarly) {
  WalksShow({});
  Judge(std::vector<Answer>(20000, kTen), std::vector<Answer>(20000, kTwelve));
  ASSERT_EQ(requests_.size(), 1000U);
  const auto late = std::count_if(requests_.begin(), requests_.end(),
                                  [](const auto& request) { return request.number >= 10000; });
  EXPECT_GT(late, 400);
  EXPECT_LT(late, 600);
}

TEST_F(GateOfAnswers, ACrashThatIsGoneIsBetterAndANewOneWorse) {
  WalksShow({"crash in f", "code -5", -1});
  const GateVerdict gone = Judge({kCrashed}, {kError});
  EXPECT_TRUE(gone.changes.empty());
  ASSERT_EQ(gone.better.size(), 1U);
  EXPECT_THAT(gone.better[0], HasSubstr("a crash became code -5"));
  WalksShow({"code -5", "crash in f", 1});
  asked_.same_release = false;
  for (const Answer& crash : {kCrashed, kDied}) {
    const GateVerdict fresh = Judge({kError}, {crash});
    ASSERT_EQ(Of(fresh, GateKind::kAnswers).size(), 1U);
    EXPECT_EQ(fresh.changes[0].what, "code -5 became a crash, with a more severe finding");
    EXPECT_EQ(fresh.exit, ExitCode::kFindings);
  }
}

TEST_F(GateOfAnswers, WithoutAnAnswerOfBothJdksThereIsNoPass) {
  GateSide side;
  side.runs.resize(1);
  const GateVerdict none = JudgeJdkImages(side, side, {}, asked_, 0);
  EXPECT_EQ(none.word, "NOT ENOUGH DATA");
  EXPECT_EQ(none.exit, ExitCode::kToolFailed);
  EXPECT_THAT(GateText(none), HasSubstr("no request of the corpora has an answer of both JDKs"));
  EXPECT_EQ(JudgeJdkImages(side, side, {}, asked_, 1).word, "PASS");
  asked_.structs = [] { return std::vector<LostStruct>{{"nmethod::_state", "x reads it"}}; };
  EXPECT_EQ(JudgeJdkImages(side, side, {}, asked_, 0).word, "REGRESSION");
}

TEST_F(GateOfAnswers, AnotherReleaseMayAnswerOtherwise) {
  WalksShow({"12 frames", "13 frames"});
  asked_.same_release = false;
  const GateVerdict verdict = Judge({kTen}, {kTwelve});
  EXPECT_NE(verdict.word, "REGRESSION");
  ASSERT_EQ(Of(verdict, GateKind::kOtherAnswers).size(), 1U);
  EXPECT_EQ(verdict.changes[0].effect, GateEffect::kWarn);
}

TEST_F(GateOfAnswers, WithoutReplaysADifferenceIsANote) {
  const GateVerdict verdict = Judge({kTen, kTen}, {kTen, kError});
  EXPECT_TRUE(verdict.changes.empty());
  EXPECT_THAT(verdict.notes,
              testing::Contains(HasSubstr("1 of 2 requests were answered differently")));
}

TEST_F(GateOfAnswers, FewCrashesAreWalkedAgainSinceEachMayCostAJvm) {
  WalksShow({"12 frames", "crash in f", 1});
  Judge(std::vector<Answer>(500, kTen), std::vector<Answer>(500, kCrashed));
  EXPECT_LE(requests_.size(), 10U);
  Judge(std::vector<Answer>(500, kTen), std::vector<Answer>(500, kError));
  EXPECT_EQ(requests_.size(), 500U);
}

TEST_F(GateOfAnswers, TheCorporaAreWalkedWhateverTheRunsSay) {
  asked_.corpora = [] {
    return std::vector<AnsweredAgain>{{"12 frames", "code 0", 0, "a.walk"},
                                      {"9 frames", "code 0", 0, "b.walk"},
                                      {"crash in f", "code -6", -1, "c.walk"}};
  };
  const GateVerdict verdict = Judge({kTen}, {kTen});
  EXPECT_EQ(verdict.word, "REGRESSION");
  ASSERT_EQ(verdict.changes.size(), 1U);
  EXPECT_EQ(verdict.changes[0].what, "requests of the corpora");
  EXPECT_EQ(verdict.changes[0].details,
            "2 requests: a.walk, b.walk; the first: 12 frames became code 0");
  ASSERT_EQ(verdict.better.size(), 1U);
  EXPECT_THAT(verdict.better[0], HasSubstr("c.walk"));
}

TEST_F(GateOfAnswers, ALostStructureFailsByItsName) {
  asked_.structs = [] {
    return std::vector<LostStruct>{{"nmethod::_state", "asprof reads it; lost"}};
  };
  const GateVerdict verdict = Judge({kTen}, {kTen});
  EXPECT_EQ(verdict.word, "REGRESSION");
  ASSERT_EQ(Of(verdict, GateKind::kLostStruct).size(), 1U);
  EXPECT_EQ(verdict.changes[0].what, "nmethod::_state");
}

TEST_F(GateOfAnswers, AFewAnswersAloneAreNotEnoughForAPass) {
  EXPECT_EQ(Judge({kTen}, {kTen}).word, "NOT ENOUGH DATA");
  EXPECT_EQ(Judge(std::vector<Answer>(10000, kTen), std::vector<Answer>(10000, kTen)).word, "PASS");
}

TEST_F(GateOfAnswers, TheMarkdownHasEachChange) {
  WalksShow({"12 frames", "code -5", 0, "a.walk"});
  const std::string text = GateMarkdown(Judge({kTen}, {kError}));
  EXPECT_THAT(text, testing::StartsWith("### REGRESSION: "));
  EXPECT_THAT(text, HasSubstr("| fail | answers | frames became code -5 |"));
  EXPECT_THAT(text, HasSubstr("`kept/a.walk`"));
  EXPECT_THAT(text, HasSubstr("REGRESSION. agct"));
}

}  // namespace
}  // namespace walkhammer
