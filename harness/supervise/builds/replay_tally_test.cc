// SPDX-License-Identifier: Apache-2.0
// What is counted of replays, by synthetic outcomes and by children without a JVM.
#include "harness/supervise/builds/replay_tally.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/base/testing/fails_with.h"
#include "harness/supervise/fake_child_testing.h"

namespace walkhammer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

FindingRecord Finding(const std::string& oracle, const std::string& expect, Grade grade) {
  FindingRecord record;
  record.oracle = record.signature.oracle = oracle;
  record.signature.expect = expect;
  record.grade = grade;
  return record;
}

ReplayOutcome Returned(int frames, std::vector<FindingRecord> findings = {}) {
  ReplayOutcome outcome;
  outcome.returned = true;
  outcome.num_frames = frames;
  outcome.findings = std::move(findings);
  return outcome;
}

ReplayOutcome Crashed(const std::string& expect) {
  ReplayOutcome outcome;
  outcome.findings = {Finding("crash", expect, Grade::kForbidden)};
  return outcome;
}

// How often it was walked, reproduced, found and broke.
std::vector<int> Counts(const ReplayTally& tally) {
  return {tally.walked(), tally.reproduced, tally.found, tally.broken};
}

TEST(ReplayTallyTest, CountsWhatWasExpectedAndWhatWasNot) {
  ReplayTally tally;
  tally.Add(Crashed("crash f(int)+0x1f"), "crash f(int)");
  tally.Add(Crashed("crash g(int)+0x2"), "crash f(int)");
  tally.Add(Returned(33), "crash f(int)");
  tally.Add(Returned(-5), "crash f(int)");
  tally.Add(Unable("no such scene"), "crash f(int)");
  EXPECT_EQ(tally.times, 5);
  EXPECT_THAT(Counts(tally), ElementsAre(4, 1, 2, 2)) << "any crash breaks";
  EXPECT_EQ(tally.unable, 1);
  EXPECT_EQ(tally.unable_code, ExitCode::kUnable);
  EXPECT_EQ(tally.unable_reason, "no such scene");
  EXPECT_THAT(tally.outcomes,
              ElementsAre(Pair("33 frames", 1), Pair("code -5", 1), Pair("crash f(int)+0x1f", 1),
                          Pair("crash g(int)+0x2", 1)));
  EXPECT_THAT(tally.each, ElementsAre("crash f(int)+0x1f", "crash g(int)+0x2", "33 frames",
                                      "code -5", "could not be walked"));
  EXPECT_EQ(tally.Words(),
            "1 x 33 frames, 1 x code -5, 1 x crash f(int)+0x1f, 1 x crash g(int)+0x2, "
            "1 x could not be walked");
}

TEST(ReplayTallyTest, OnlyWhatIsForbiddenAndEndsAWalkBreaksWhereItIsNotExpected) {
  ReplayTally tally;
  const FindingRecord wrong = Finding("truth", "truth/truncated", Grade::kForbidden);
  tally.Add(Returned(23, {wrong}), "crash f(int)");
  EXPECT_THAT(Counts(tally), ElementsAre(1, 0, 1, 0));
  tally.Add(Returned(23, {Finding("crash", "crash g()", Grade::kInteresting)}), "crash f(int)");
  EXPECT_THAT(Counts(tally), ElementsAre(2, 0, 1, 0));
  tally.Add(Returned(23, {wrong}), "truth/truncated");
  EXPECT_THAT(Counts(tally), ElementsAre(3, 1, 2, 1));
  EXPECT_EQ(tally.each.back(), "truth/truncated + 23 frames");
}

TEST(ReplayTallyTest, WithoutExpectationAnythingForbiddenReproduces) {
  ReplayTally tally;
  tally.Add(Returned(23, {Finding("truth", "truth/truncated", Grade::kForbidden)}), "");
  tally.Add(Returned(23, {Finding("truth", "truth/other", Grade::kInteresting)}), "");
  EXPECT_THAT(Counts(tally), ElementsAre(2, 1, 1, 1));
}

TEST(ReplayTallyTest, AToolFailureStaysOne) {
  ReplayTally tally;
  tally.Add(ToolFailed("died"), "");
  tally.Add(Unable("no scene"), "");
  EXPECT_EQ(tally.unable_code, ExitCode::kToolFailed);
  EXPECT_EQ(tally.walked(), 0);
}

constexpr char kPlanted[] = "crash walkhammer::Planted(int)";  // where a fake child crashes

class ReplayTimesTest : public testing::Test {
 protected:
  ReplayTally Replay(const std::vector<std::string>& lives, const ReplayPlan& plan) const {
    return ReplayTimes({"walk 1\nscene c2\n", "a.walk", 100}, FakeChildren(scratch_, lives), plan);
  }
  // Children that were started.
  size_t Started() const {
    std::error_code error;
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator(scratch_.path() + "/lives", error), {}));
  }

  ScratchFolder scratch_;
};

TEST_F(ReplayTimesTest, StartsAProcessForEachReplay) {
  const ReplayTally tally = Replay(
      {"running walk crash=1 walked done", "running walk walked done", "unable say=gone unable"},
      {kPlanted, 5, 2});
  EXPECT_EQ(Started(), 5U);
  EXPECT_EQ(tally.times, 5);
  EXPECT_EQ(tally.reproduced, 1);
  EXPECT_EQ(tally.unable, 3);
  EXPECT_EQ(tally.unable_reason, "gone");
  EXPECT_EQ(tally.unable_code, ExitCode::kUnable);
}

TEST_F(ReplayTimesTest, EndsAtTheFirstThatBreaksIfThatIsEnough) {
  ReplayPlan plan{kPlanted, 50, 1};
  plan.until_broken = true;
  const ReplayTally tally =
      Replay({"running walk walked done", "running walk crash=1 walked done"}, plan);
  EXPECT_EQ(tally.times, 2);
  EXPECT_EQ(tally.broken, 1);
  EXPECT_EQ(Started(), 2U);
}

TEST_F(ReplayTimesTest, EndsWhenItIsToldTo) {
  ReplayPlan plan{"", 50, 1};
  int asked = 0;
  plan.stop = [&] { return ++asked > 3; };
  const ReplayTally tally = Replay({"running sleep"}, plan);
  EXPECT_EQ(tally.times, 0);
}

TEST_F(ReplayTimesTest, WhatIsNoWalkCannotBeWalked) {
  const ReplayTally tally =
      ReplayTimes({"walk 99\n", "a.walk", 100}, FakeChildren(scratch_, {"done"}), {"", 2, 2});
  EXPECT_EQ(tally.times, 2);
  EXPECT_EQ(tally.unable, 2);
  EXPECT_THAT(tally.unable_reason, HasSubstr("a.walk:1"));
}

Jdk JdkOf(const std::string& home, const std::string& version) {
  Jdk jdk;
  jdk.home = home;
  jdk.version = version;
  return jdk;
}

TEST(BuildsOfTest, EachJdkHasEachProfile) {
  const auto profiles = Must(SelectProfiles({"xint,c1"}));
  const auto builds =
      Must(BuildsOf({JdkOf("/a", "17.0.2"), JdkOf("/b", "17.0.9")}, profiles, {"-Xmx1g"}));
  ASSERT_EQ(builds.size(), 4U);
  EXPECT_EQ(builds[0].label, "17.0.2");
  EXPECT_EQ(builds[0].profile, "xint");
  EXPECT_THAT(builds[1].flags, ElementsAre("-XX:TieredStopAtLevel=1", "-Xmx1g"));
  EXPECT_EQ(builds[3].label, "17.0.9");
}

TEST(BuildsOfTest, TwoOfOneVersionAreToldApart) {
  const auto builds =
      Must(BuildsOf({JdkOf("/a", "17.0.2"), JdkOf("/b", "17.0.2"), JdkOf("/c", "17.0.3")},
                    SelectProfiles({}).value(), {}));
  EXPECT_EQ(builds[0].label, "17.0.2 in /a");
  EXPECT_EQ(builds[1].label, "17.0.2 in /b");
  EXPECT_EQ(builds[2].label, "17.0.3");
}

TEST(BuildsOfTest, RefusesAProfileThatNeedsMoreThanFlags) {
  EXPECT_THAT(BuildsOf({JdkOf("/a", "25")}, SelectProfiles({"aot-cache"}).value(), {}),
              FailsWith(ExitCode::kBadInput, HasSubstr("aot-cache")));
}

}  // namespace
}  // namespace walkhammer
