// SPDX-License-Identifier: Apache-2.0
#include "reports/night.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/night_testing.h"

namespace walkhammer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char kTitle[] = "crash in f reading 8 bytes";
const Day kToday{std::chrono::year(2026) / 2 / 1};

class NightTest : public MadeNights {
 protected:
  NightTest() {
    input_.nights = temp_.Under("nights");
    input_.today = kToday;
  }

  // Judges a night; its folder gets the record, and the mark if it is green.
  NightVerdict Judge(const std::string& dir) {
    const auto known = KnownBugs::Read(temp_.Under("known"), "");
    EXPECT_TRUE(known.ok());
    input_.known = &known.value();
    input_.dir = dir;
    NightVerdict verdict = Must(JudgeNight(input_));
    EXPECT_TRUE(WriteNightRecord(dir, verdict.record).ok());
    if (verdict.exit == ExitCode::kClean) SetGreen(dir);
    text_ = NightText(verdict);
    return verdict;
  }
  // "GREEN", "RED", "UNSURE"
  std::string Next(const MadeNight& made) { return Judge(Add(made)).word; }

  void Know(const std::string& id, const std::string& more) {
    const bool has_state = more.find("state") != std::string::npos;
    temp_.Write("known/" + id + ".toml",
                "title = \"t\"\n" + more + (has_state ? "" : "state = \"open\"\n"));
  }
  // What replays show of all sightings, on the night's JDK and on that of the baseline.
  void ReplaysShow(int shown, int before) {
    input_.replay = [=](const Sighting&, const std::string&, const std::string& base) {
      return NightReplay{shown, 5, before, base.empty() ? 0 : 5};
    };
  }
  void SetUp() override {
    Know("JDK-0", "signatures = [\"agct: crash in g\"]\naffected = \"[8,29)\"\n");
  }

  NightInput input_;
  std::string text_;
};

TEST_F(NightTest, AFirstNightIsGreenAndMakesABaseline) {
  EXPECT_EQ(Next({.buckets = {Confirmed("crash in g"), Unconfirmed(kTitle)}}), "GREEN");
  EXPECT_THAT(text_, AllOf(HasSubstr("GREEN: 1 to watch\n"),
                           HasSubstr("This night is the baseline of stress.jdk.agct.\n"),
                           HasSubstr("  watch  agct: crash in f reading 8 bytes\n"),
                           HasSubstr("replays 0 of 5\n"), HasSubstr("  1 met")));
  EXPECT_EQ(Next({.buckets = {Confirmed("crash in g")}}), "GREEN");
  EXPECT_THAT(text_,
              AllOf(HasSubstr("GREEN: nothing is new\n"),
                    HasSubstr("Compared with the green night "), Not(HasSubstr("baseline"))));
}

TEST_F(NightTest, WhatIsNewAndReplayedIsRedFromTheFirstNightOn) {
  EXPECT_EQ(Next({.buckets = {Confirmed(kTitle)}}), "RED");
  EXPECT_THAT(text_,
              AllOf(HasSubstr("RED: 1 new bug\n"), HasSubstr("so there is no baseline yet"),
                    HasSubstr("  new    agct: crash in f reading 8 bytes\n         17.0.9+9 in "
                              "stress.jdk.agct: seen 1 time in 1 run, replays 5 of 5\n"),
                    HasSubstr("         walkhammer replay ")));
  MadeBucket without_request = Confirmed(kTitle);
  without_request.has_input = false;
  EXPECT_EQ(Next({.buckets = {without_request}}), "RED");
  EXPECT_THAT(text_,
              AllOf(HasSubstr("         walkhammer report "), Not(HasSubstr("walkhammer replay"))));
}

TEST_F(NightTest, ABugThatStaysIsRedUntilItIsKnownOrGone) {
  EXPECT_EQ(Next({}), "GREEN");
  for (int night = 0; night < 3; night++)
    EXPECT_EQ(Next({.is_new = true, .buckets = {Confirmed(kTitle)}}), "RED");
  EXPECT_THAT(text_, HasSubstr("/nights/n1."));
  EXPECT_EQ(Next({}), "GREEN");
  EXPECT_EQ(Next({.is_new = true, .buckets = {Confirmed(kTitle)}}), "RED");
  Know("JDK-1", "signatures = [\"agct: crash in f *\"]\naffected = \"[17,18)\"\n");
  EXPECT_EQ(Next({.is_new = true, .buckets = {Confirmed(kTitle)}}), "GREEN");
  EXPECT_THAT(text_, HasSubstr("  met    agct: crash in f reading 8 bytes\n"));
}

TEST_F(NightTest, WhatWasSeenOnceIsWatchedAndTwiceIsRed) {
  EXPECT_EQ(Next({}), "GREEN");
  EXPECT_EQ(Next({.is_new = true, .buckets = {Unconfirmed(kTitle)}}), "GREEN");
  EXPECT_EQ(Next({.is_new = true}), "GREEN");
  EXPECT_EQ(Next({.is_new = true, .buckets = {Unconfirmed(kTitle)}}), "GREEN") << "the same build";
  EXPECT_THAT(text_, HasSubstr("  found  agct: crash in f"));
  EXPECT_EQ(Next({.buckets = {Unconfirmed("crash in h")}}), "GREEN");
  EXPECT_EQ(Next({.is_new = true, .buckets = {Unconfirmed("crash in h")}}), "RED");
  EXPECT_THAT(text_, HasSubstr("replays 0 of 5, and in 1 night before\n"));
}

TEST_F(NightTest, WhatLeavesNoRequestIsConfirmedByAnotherRun) {
  EXPECT_EQ(Next({}), "GREEN");
  MadeNight night{.is_new = true, .buckets = {Confirmed(kTitle)}, .has_walks = false};
  const std::string dir = Add(night);
  EXPECT_EQ(Judge(dir).word, "GREEN");
  EXPECT_THAT(text_, HasSubstr("seen 1 time in 1 run, not replayed\n"));
  ExecSql(dir + "/merged/" + kNightGroup,
          "INSERT INTO period_bucket SELECT 1, bucket, counts FROM period_bucket");
  EXPECT_EQ(Judge(dir).word, "RED");
  EXPECT_THAT(text_, HasSubstr("seen 1 time in 2 runs, not replayed\n"));
}

TEST_F(NightTest, WhatTheBaselinesJdkShowsIsNotNew) {
  EXPECT_EQ(Next({}), "GREEN");
  ReplaysShow(5, 1);
  EXPECT_EQ(Next({.is_new = true, .buckets = {Confirmed(kTitle)}}), "GREEN");
  EXPECT_THAT(text_, AllOf(HasSubstr("Found, and not new"),
                           HasSubstr("replays 5 of 5, 1 of 5 on the JDK of the last green night")));
  ReplaysShow(2, 0);
  EXPECT_EQ(Next({.buckets = {Confirmed("crash in h")}}), "GREEN") << "2 of 5";
  ReplaysShow(3, 0);
  EXPECT_EQ(Next({.is_new = true, .buckets = {Confirmed("crash in i")}}), "RED");
}

TEST_F(NightTest, FurtherRequestsAreReplayedUntilOneShowsIt) {
  EXPECT_EQ(Next({}), "GREEN");
  int replayed = 0, shows = 3;
  input_.replay = [&](const Sighting& sighting, const std::string&, const std::string&) {
    EXPECT_EQ(sighting.of, 0);
    return NightReplay{++replayed == shows ? 5 : 0, 5, 0, 5};
  };
  const std::string dir = Add({.is_new = true, .buckets = {{.title = kTitle, .tries = 0}}});
  for (int i = 0; i < 9; i++)
    ExecSql(
        dir + "/merged/" + kNightGroup,
        "INSERT INTO finding SELECT NULL, bucket, sequence + 1, time_ms, oracle, outcome, grade, "
        "realism, detail, request, frames, native, fault, cell FROM finding LIMIT 1");
  EXPECT_EQ(Judge(dir).word, "RED");
  EXPECT_EQ(replayed, 3);
  EXPECT_THAT(text_, HasSubstr("replays 5 of 5, 0 of 5 on the JDK"));
  replayed = 0, shows = 6;
  EXPECT_EQ(Judge(dir).word, "GREEN");
  EXPECT_EQ(replayed, 5);
  EXPECT_THAT(text_, HasSubstr("replays 0 of 5"));
}

TEST_F(NightTest, OnTheSameBuildNothingIsARegression) {
  EXPECT_EQ(Next({}), "GREEN");
  EXPECT_EQ(Next({.buckets = {Confirmed(kTitle)}}), "GREEN");
  EXPECT_THAT(text_, HasSubstr("  found  agct: crash in f reading 8 bytes\n"));
  EXPECT_EQ(Next({.is_new = true, .buckets = {Confirmed(kTitle)}}), "GREEN") << "of the baseline";
}

TEST_F(NightTest, GreenNightsBeforeTheLastAreRemembered) {
  Know("JDK-1", "signatures = [\"agct: crash in f *\"]\naffected = \"[17,18)\"\n");
  EXPECT_EQ(Next({.buckets = {Confirmed(kTitle)}}), "GREEN");
  std::filesystem::remove(temp_.Under("known/JDK-1.toml"));
  EXPECT_EQ(Next({}), "GREEN");
  EXPECT_EQ(Next({.is_new = true, .buckets = {Confirmed(kTitle)}}), "GREEN");
}

TEST_F(NightTest, ANewCrashInAFunctionThatHasKnownOnesIsRed) {
  Know("JDK-1", "signatures = [\"agct: crash in f reading *\"]\naffected = \"[17,18)\"\n");
  EXPECT_EQ(Next({.buckets = {Confirmed(kTitle)}}), "GREEN");
  EXPECT_EQ(Next({.is_new = true, .buckets = {Confirmed("crash in f writing 8 bytes")}}), "RED");
  EXPECT_THAT(text_, HasSubstr("  new    agct: crash in f writing 8 bytes\n"));
  // One that looks like a known one, and that the baseline's JDK does not show.
  ReplaysShow(5, 0);
  EXPECT_EQ(Next({.is_new = true, .buckets = {Confirmed("crash in f reading 4 bytes")}}), "RED");
  EXPECT_THAT(text_, HasSubstr("looks like JDK-1; seen 1 time"));
  ReplaysShow(5, 5);
  EXPECT_EQ(Next({.is_new = true, .buckets = {Confirmed("crash in f reading 2 bytes")}}), "GREEN");
}

TEST_F(NightTest, AKnownBugThatTheBaselinesBuildDoesNotHaveIsBack) {
  Know("JDK-1",
       "signatures = [\"agct: crash in f *\"]\naffected = \"[17.0.10,18)\"\n"
       "state = \"fixed\"\nfixed-in = \"[17,17.0.10) [18,)\"\n");
  EXPECT_EQ(Next({}), "GREEN");
  EXPECT_EQ(Next({.is_new = true, .buckets = {Confirmed(kTitle)}}), "RED");
  EXPECT_THAT(text_, HasSubstr("JDK-1, which 17.0.9+9 does not have; seen"));
}

TEST_F(NightTest, CodesCountAndAWorseNightIsNoBaseline) {
  EXPECT_EQ(Next({}), "GREEN");
  EXPECT_EQ(Next({.failing = 0.02}), "RED");
  EXPECT_THAT(text_, AllOf(HasSubstr("worse  stress.jdk.agct: codes: agct, "), HasSubstr("-5")));
  EXPECT_EQ(Next({.failing = 0.02}), "RED");
  EXPECT_EQ(Next({}), "GREEN");
}

TEST_F(NightTest, WhatCannotBeComparedIsUnsureAndNoBaseline) {
  EXPECT_EQ(Next({}), "GREEN");
  const std::string few = Add({.walks = 10});
  ExecSql(few + "/merged/" + kNightGroup, "DELETE FROM period_time");
  EXPECT_EQ(Judge(few).word, "UNSURE");
  EXPECT_THAT(text_, HasSubstr("UNSURE: 1 group could not be compared\n"));
  EXPECT_THAT(text_, HasSubstr("  unsure stress.jdk.agct: "));
  input_.failed = 2;
  EXPECT_EQ(Next({}), "UNSURE");
  EXPECT_THAT(text_, HasSubstr("UNSURE: 2 runs failed\n"));
}

TEST_F(NightTest, ThePolicySaysWhatFails) {
  input_.policy.effects[static_cast<size_t>(GateKind::kNewCrash)] = GateEffect::kWarn;
  EXPECT_EQ(Next({.buckets = {Confirmed(kTitle)}}), "GREEN");
  EXPECT_THAT(text_, HasSubstr("  watch  agct: crash in f"));
}

TEST_F(NightTest, AChosenBaselineIsTakenAsItIs) {
  const std::string red = Add({.buckets = {Confirmed(kTitle)}});
  EXPECT_EQ(Judge(red).word, "RED");
  input_.baseline = red;
  EXPECT_EQ(Next({.is_new = true, .buckets = {Confirmed(kTitle)}}), "GREEN");
  EXPECT_EQ(Next({.is_new = true, .buckets = {Confirmed("crash in h")}}), "RED");
  input_.baseline = temp_.Under("none");
  input_.dir = red;
  EXPECT_EQ(JudgeNight(input_).failure().code, ExitCode::kBadInput);
}

// --- replays of the known issues
// ------------------------------------------------------------------

// Of JDK-1, on a JDK of this version.
std::string Issue(const char* version, int reproduced, const char* by_version) {
  return fmt::format(
      R"({{"schema": 1, "jdks": [{{"version": "{}", "bugs": [{{"id": "JDK-1", "title": "a title",
         "verdict": "yes", "by_version": "{}", "times": 3, "walked": 3, "reproduced": {}}}]}}]}})",
      version, by_version, reproduced);
}

class NightIssuesTest : public NightTest {
 protected:
  std::string Next(const std::string& issues, bool is_new = false) {
    const std::string dir = Add({.is_new = is_new});
    if (!issues.empty()) temp_.Write(fmt::format("nights/n{}/known/jdk.json", nights_), issues);
    return Judge(dir).word;
  }
};

TEST_F(NightIssuesTest, AnIssueThatComesBackIsRedUntilItGoes) {
  EXPECT_EQ(Next(Issue("17.0.9", 0, "no")), "GREEN");
  for (int night = 0; night < 2; night++) EXPECT_EQ(Next(Issue("17.0.7", 3, "yes"), true), "RED");
  EXPECT_THAT(text_, AllOf(HasSubstr("RED: 1 known issue is back\n"),
                           HasSubstr("  back   JDK-1  a title\n         3 of 3 replays show it on "
                                     "17.0.7, 0 of 3 replays show it on 17.0.9\n"),
                           HasSubstr("by replays: jdk (17.0.7): JDK-1\n")));
  EXPECT_EQ(Next(Issue("17.0.9", 0, "no")), "GREEN");
}

TEST_F(NightIssuesTest, AnIssueThatIsGoneIsTold) {
  EXPECT_EQ(Next(Issue("17.0.7", 3, "yes")), "GREEN");
  EXPECT_EQ(Next(Issue("17.0.9", 0, "no"), true), "GREEN");
  EXPECT_THAT(text_, HasSubstr("  gone   JDK-1  a title\n"));
}

TEST_F(NightIssuesTest, WhatOneBuildHasByItsVersionOrShowsSeldomIsNotBack) {
  EXPECT_EQ(Next(Issue("17.0.6", 0, "yes")), "GREEN");
  EXPECT_EQ(Next(Issue("17.0.7", 3, "yes"), true), "GREEN");
  EXPECT_EQ(Next(Issue("17.0.9", 0, "no")), "GREEN");
  EXPECT_EQ(Next(Issue("17.0.7", 2, "yes"), true), "GREEN");
}

TEST_F(NightIssuesTest, AFirstNightTellsWhatShouldBeFixed) {
  EXPECT_EQ(Next(Issue("17.0.9", 3, "no")), "RED");
  EXPECT_THAT(text_, HasSubstr("which should have the fix"));
}

TEST_F(NightIssuesTest, ReplaysThatAreMissingAreUnsure) {
  EXPECT_EQ(Next("no JSON"), "GREEN");
  EXPECT_THAT(text_, HasSubstr("note   the known issues could not be replayed on jdk\n"));
  EXPECT_EQ(Next(Issue("17.0.9", 0, "no")), "GREEN");
  EXPECT_EQ(Next("{\"jdks\": [[]]}"), "UNSURE");
}

}  // namespace
}  // namespace walkhammer
