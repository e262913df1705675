// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/builds/bug_replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/testing/fails_with.h"
#include "harness/supervise/builds/bisection.h"

namespace walkhammer {
namespace {

using ::testing::HasSubstr;

Bug OpenBug() {
  Bug bug;
  bug.id = "b";
  bug.builds = {"17.0.7+7", "17.0.8+7"};
  bug.reproduced = {"17.0.8+7", 10, 10};
  return bug;
}
BugReplayPlan NewBuild() {
  BugReplayPlan plan;
  plan.version = "17.0.9+9";
  return plan;
}
ReplayTally SilentReplays(int times = 10) {
  ReplayTally tally;
  tally.times = times;
  tally.outcomes = {{"32 frames", times}};
  return tally;
}

void ExpectReplay(const Bug& bug, const BugReplayPlan& plan, const ReplayTally& tally,
                  Affected verdict, const std::string& why) {
  const BugReplay replay = JudgeReplays(bug, plan, tally);
  EXPECT_EQ(replay.verdict, verdict) << replay.why;
  EXPECT_THAT(replay.why, HasSubstr(why));
}

TEST(BugReplayTest, EnoughSilentReplaysOnANewerBuildCloseIt) {
  ExpectReplay(OpenBug(), NewBuild(), SilentReplays(), Affected::kNo,
               "none of 10 replays shows it, and 10 of 10 did on 17.0.8+7");
}

TEST(BugReplayTest, OneReplayThatShowsItLeavesItOpen) {
  ReplayTally tally = SilentReplays();
  tally.reproduced = tally.found = 1;
  ExpectReplay(OpenBug(), NewBuild(), tally, Affected::kYes, "1 of 10 replays show it");
  Bug bug = OpenBug();
  bug.reproduced = {};
  ExpectReplay(bug, NewBuild(), tally, Affected::kYes, "1 of 10");
}

TEST(BugReplayTest, WhatNeverReplayedIsNotProven) {
  Bug bug = OpenBug();
  bug.reproduced = {"17.0.8+7", 0, 5};
  ExpectReplay(bug, NewBuild(), SilentReplays(), Affected::kUnknown,
               "its own build never showed it in a replay either (0 of 5)");
  bug.reproduced = {};
  ExpectReplay(bug, NewBuild(), SilentReplays(), Affected::kUnknown, "was never replayed on");
  const Day today = *ParseDay("2026-11-24");
  const BugReplay silent = JudgeReplays(bug, NewBuild(), SilentReplays());
  NoteReplay(silent, {"17.0.9+9", "", kReplayed, ""}, today, bug);
  EXPECT_EQ(bug.reproduced, Reproduced{});
  NoteReplay(silent, {"17.0.8+7", "", kReplayed, ""}, today, bug);
  EXPECT_EQ(bug.reproduced, (Reproduced{"17.0.8+7", 0, 10}));
  EXPECT_EQ(bug.state, BugState::kOpen);
}

TEST(BugReplayTest, TheBuildMustBeNewerThanAllThatHaveIt) {
  for (const char* version : {"17.0.7+7", "17.0.8+7", "17.0.8+6", "11.0.25+9", "nightly"}) {
    BugReplayPlan plan = NewBuild();
    plan.version = version;
    ExpectReplay(OpenBug(), plan, SilentReplays(), Affected::kUnknown, version);
  }
  Bug bug = OpenBug();
  bug.builds.emplace_back("21+35");
  ExpectReplay(bug, NewBuild(), SilentReplays(), Affected::kUnknown, "it was met on 21+35");
  bug.builds = {"nightly"};
  ExpectReplay(bug, NewBuild(), SilentReplays(), Affected::kUnknown, "newer than \"nightly\"");
}

TEST(BugReplayTest, ASeldomBugWantsMoreReplays) {
  Bug bug = OpenBug();
  bug.reproduced = {"17.0.8+7", 3, 10};
  EXPECT_EQ(ReplaysToClose(bug, NewBuild()), 34);
  ExpectReplay(bug, NewBuild(), SilentReplays(34), Affected::kNo, "none of 34");
  ExpectReplay(bug, NewBuild(), SilentReplays(33), Affected::kUnknown, "only 33 of 34");
  BugReplayPlan few = NewBuild();
  few.most_times = 33;
  EXPECT_EQ(ReplaysToClose(bug, few), 33);
  ExpectReplay(bug, few, SilentReplays(33), Affected::kUnknown,
               "3 of 10 replays, so it would take 34, and --most-times is 33");
  EXPECT_EQ(CleanReplays(1), 2);
  EXPECT_GT(CleanReplays(0), 1000000);
}

TEST(BugReplayTest, OtherFindingsAndOtherCodeCloseNothing) {
  ReplayTally other = SilentReplays();
  other.found = 1;
  other.outcomes["crash g()"] = 1;
  ExpectReplay(OpenBug(), NewBuild(), other, Affected::kUnknown,
               "another finding: 10 x 32 frames, 1 x crash g()");
  ReplayTally strange = SilentReplays();
  strange.stand_ins = 2;
  strange.stand_in = "nmethod a.B.c()V";
  ExpectReplay(OpenBug(), NewBuild(), strange, Affected::kUnknown,
               "lacks 2 of the names in its request, such as nmethod a.B.c()V");
  ReplayTally unable = SilentReplays(2);
  unable.unable = 2;
  unable.unable_reason = "no such scene";
  ExpectReplay(OpenBug(), NewBuild(), unable, Affected::kUnknown,
               "could not be walked: no such scene");
  ExpectReplay(OpenBug(), NewBuild(), {}, Affected::kUnknown, "no request is known");
}

TEST(BugReplayTest, IsNotedInTheBug) {
  const Day today = *ParseDay("2026-11-24");
  const Seen here{"17.0.9+9", "00ff", kReplayed, "2026-11-24T00:00:00Z"};
  Bug bug = OpenBug();
  bug.state = BugState::kAccepted;
  bug.reason = "why";
  bug.until = *ParseDay("2026-01-01");
  NoteReplay(JudgeReplays(bug, NewBuild(), {}), here, today, bug);
  EXPECT_EQ(bug.state, BugState::kAccepted);
  EXPECT_EQ(bug.evidence.size(), 1U);
  Bug fixed = bug;
  NoteReplay(JudgeReplays(bug, NewBuild(), SilentReplays()), here, today, fixed);
  EXPECT_EQ(fixed.state, BugState::kFixed);
  EXPECT_EQ(fixed.fixed_in, "17.0.9+9");
  EXPECT_EQ(fixed.reason, "");
  EXPECT_FALSE(fixed.until.has_value());
  EXPECT_EQ(fixed.evidence.back(),
            "2026-11-24: fixed on 17.0.9+9: none of 10 replays shows it, and 10 of 10 did on "
            "17.0.8+7");
  EXPECT_EQ(fixed.last_seen, bug.last_seen);
  ReplayTally shown = SilentReplays();
  shown.reproduced = shown.found = 7;
  NoteReplay(JudgeReplays(bug, NewBuild(), shown), here, today, bug);
  EXPECT_EQ(bug.state, BugState::kAccepted);
  EXPECT_EQ(bug.last_seen, here);
  EXPECT_EQ(bug.builds.back(), "17.0.9+9");
  EXPECT_EQ(bug.reproduced, (Reproduced{"17.0.9+9", 7, 10}));
}

// --- known issues ---

struct IssueCase {
  const char* version;
  ReplayTally tally;
  Affected verdict;
  const char* why;
};

TEST(IssueTest, VersionAndReplayTogetherMakeTheVerdict) {
  constexpr char kHasIt[] = "17.0.7", kHasItNot[] = "17.0.9", kNobodyKnows[] = "21.0.2";
  Bug issue;
  issue.state = BugState::kFixed;
  issue.affected = "[17,17.0.8)";
  issue.fixed_in = "[17.0.9,18)";
  const ReplayTally silent = SilentReplays(3);
  ReplayTally shown = silent, other = silent, unable = SilentReplays(2);
  shown.reproduced = shown.found = shown.broken = 1;
  other.found = other.broken = 3;
  other.outcomes = {{"crash g()", 3}};
  unable.unable = 2;
  unable.unable_reason = "no such scene";
  const IssueCase cases[] = {
      {kHasIt, shown, Affected::kYes, "the replay shows it"},
      {kHasItNot, shown, Affected::kYes, "though its version should not have it"},
      {kNobodyKnows, shown, Affected::kYes, "the replay shows it"},
      {"unknown", shown, Affected::kYes, "the replay shows it"},
      {kHasIt, silent, Affected::kUnknown, "its version has it, but 3 replays did not show it"},
      {kHasItNot, silent, Affected::kNo, "3 replays did not show it"},
      {kNobodyKnows, silent, Affected::kNo, "3 replays did not show it"},
      {kHasIt, other, Affected::kUnknown, "another finding: 3 x crash g()"},
      {kHasItNot, other, Affected::kNo, "another finding: 3 x crash g()"},
      {kNobodyKnows, other, Affected::kUnknown, "another finding: 3 x crash g()"},
      {kHasIt, unable, Affected::kYes, "version alone: could not be walked: no such scene"},
      {kHasItNot, unable, Affected::kNo, "version alone: could not be walked: no such scene"},
      {kNobodyKnows, unable, Affected::kUnknown, "could not be walked: no such scene"},
      {kHasIt, {}, Affected::kYes, "version alone: no request shows it"},
      {kHasItNot, {}, Affected::kNo, "version alone: no request shows it"},
      {kNobodyKnows, {}, Affected::kUnknown, "unknown for this version"},
  };
  for (const IssueCase& one : cases) {
    const BugReplay replay = JudgeIssue(issue, one.version, one.tally);
    EXPECT_EQ(replay.verdict, one.verdict) << one.version << ": " << replay.why;
    EXPECT_THAT(replay.why, HasSubstr(one.why)) << one.version;
    EXPECT_EQ(replay.tally.times, one.tally.times);
  }
}

TEST(IssueTest, ARequestOfAFolderOfOneJdkIsForThatJdkAlone) {
  Bug issue;
  issue.walk = "own";
  issue.requests = {"../jdk17/a.walk", "../asprof-vm-jdk25/a.walk", "../jdk8/x/a.walk",
                    "jdk9.walk"};
  issue.texts = {"17", "25", "8", "9"};
  const auto texts = [&](int feature) {
    std::string all;
    for (const BugRequest& request : RequestsFor(issue, feature)) all += request.text + " ";
    return all;
  };
  EXPECT_EQ(texts(17), "own 17 8 9 ");
  EXPECT_EQ(texts(25), "own 25 8 9 ");
  EXPECT_EQ(texts(21), "own 8 9 ");
}

TEST(IssueTest, AnInputThatIsNotARequestIsRefused) {
  Bug issue;
  issue.id = "JDK-1";
  issue.walk = "walk 99\n";
  EXPECT_THAT(ReplayBug(issue, {}, 1, {}),
              FailsWith(ExitCode::kBadInput, HasSubstr("JDK-1.walk:1")));
}

}  // namespace
}  // namespace walkhammer
