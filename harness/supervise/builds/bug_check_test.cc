// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/builds/bug_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walkhammer {
namespace {

using ::testing::HasSubstr;

KnownBug ABug() {
  KnownBug bug;
  bug.id = "JDK-1";
  bug.versions_affected = ParseVersionRanges("[17,17.0.8)").value();
  bug.versions_clean = ParseVersionRanges("[17.0.9,18)").value();
  return bug;
}
constexpr char kHasIt[] = "17.0.7", kHasItNot[] = "17.0.9", kNobodyKnows[] = "21.0.2";

ReplayTally Shown() {
  ReplayTally tally;
  tally.times = 3;
  tally.reproduced = tally.found = tally.broken = 1;
  return tally;
}
ReplayTally Silent() {
  ReplayTally tally;
  tally.times = 3;
  tally.outcomes = {{"32 frames", 3}};
  return tally;
}
ReplayTally Other() {
  ReplayTally tally = Silent();
  tally.found = tally.broken = 3;
  tally.outcomes = {{"crash g()", 3}};
  return tally;
}
ReplayTally NotWalked() {
  ReplayTally tally;
  tally.times = tally.unable = 2;
  tally.unable_reason = "no such scene";
  return tally;
}

struct Case {
  const char* version;
  ReplayTally tally;
  Affected verdict;
  const char* why;
};

TEST(BugCheckTest, VersionAndReplayTogetherMakeTheVerdict) {
  const Case cases[] = {
      {kHasIt, Shown(), Affected::kYes, "the replay shows it"},
      {kHasItNot, Shown(), Affected::kYes, "though its version should not have it"},
      {kNobodyKnows, Shown(), Affected::kYes, "the replay shows it"},
      {"unknown", Shown(), Affected::kYes, "the replay shows it"},
      {kHasIt, Silent(), Affected::kUnknown, "its version has it, but 3 replays did not show it"},
      {kHasItNot, Silent(), Affected::kNo, "3 replays did not show it"},
      {kNobodyKnows, Silent(), Affected::kNo, "3 replays did not show it"},
      {kHasIt, Other(), Affected::kUnknown, "another finding: 3 x crash g()"},
      {kHasItNot, Other(), Affected::kNo, "another finding: 3 x crash g()"},
      {kNobodyKnows, Other(), Affected::kUnknown, "another finding: 3 x crash g()"},
      {kHasIt, NotWalked(), Affected::kYes, "version alone: could not be walked: no such scene"},
      {kHasItNot, NotWalked(), Affected::kNo, "version alone: could not be walked: no such scene"},
      {kNobodyKnows, NotWalked(), Affected::kUnknown, "could not be walked: no such scene"},
      {kHasIt, {}, Affected::kYes, "version alone: no replay shows this bug"},
      {kHasItNot, {}, Affected::kNo, "version alone: no replay shows this bug"},
      {kNobodyKnows, {}, Affected::kUnknown, "nobody knows for this version"},
  };
  for (const Case& one : cases) {
    const BugCheck check = JudgeBug(ABug(), one.version, one.tally);
    EXPECT_EQ(check.verdict, one.verdict) << one.version << ": " << check.why;
    EXPECT_THAT(check.why, HasSubstr(one.why)) << one.version;
    EXPECT_EQ(check.tally.times, one.tally.times);
  }
}

TEST(BugCheckTest, SaysWhatTheVersionTells) {
  EXPECT_EQ(JudgeBug(ABug(), kHasIt, {}).by_version, Affected::kYes);
  EXPECT_EQ(JudgeBug(ABug(), kHasItNot, {}).by_version, Affected::kNo);
  EXPECT_EQ(JudgeBug(ABug(), kNobodyKnows, {}).by_version, Affected::kUnknown);
}

TEST(BugCheckTest, AnInputThatIsNoneIsRefused) {
  KnownBug bug = ABug();
  bug.walk = "input.walk";
  bug.walk_text = "walk 99\n";
  const auto check = CheckBug(bug, {}, "", 1, 1, {});
  ASSERT_FALSE(check.ok());
  EXPECT_EQ(check.failure().code, ExitCode::kBadInput);
  EXPECT_THAT(check.failure().message, HasSubstr("input.walk:1"));
}

}  // namespace
}  // namespace walkhammer
