// SPDX-License-Identifier: Apache-2.0
// The gate with a store of bugs: what is known, accepted, expired or fixed, and what is not.
#include <gmock/gmock.h>

#include "reports/gate.h"
#include "reports/gate_testing.h"

namespace walkhammer {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class GateBugs : public MadeRuns {
 protected:
  GateBugs() : store_(std::move(BugStore::Change(temp_.Under("bugs")).value())) {}

  // A bug whose signature is that of a bucket `title` of synthetic runs.
  Bug& AddBug(const char* id, const std::string& title, const StateChange& state = {}) {
    Bug bug;
    bug.id = id;
    bug.title = "t";
    bug.signatures = {"agct: " + title};
    Bug& added = store_.Add(bug);
    EXPECT_TRUE(SetState(state, *ParseDay("2026-01-01"), added).ok());
    return added;
  }
  GateVerdict Judge(const MadeRun& before, const MadeRun& now, const GatePolicy& policy = {},
                    const std::string& build = "", const GateReplay& replay = {}) {
    GateSide baseline = ReadGateSide({Add(before)}).value(),
             candidate = ReadGateSide({Add(now)}).value();
    const KnownBugs known = Known();
    const std::string version = build.empty() ? now.version : build;
    EXPECT_TRUE(ReadBugWords(known, today_, "", version, baseline).ok());
    EXPECT_TRUE(ReadBugWords(known, today_, build, before.version, candidate).ok());
    return JudgeGate(baseline, candidate, policy, replay);
  }

  KnownBugs Known() {
    EXPECT_TRUE(store_.Save().ok());
    return std::move(KnownBugs::Read("", temp_.Under("bugs")).value());
  }

  BugStore store_;
  Day today_ = *ParseDay("2026-11-24");
};

MadeRun With(const std::vector<std::string>& titles, const char* version = "25") {
  MadeRun run;
  run.version = version;
  for (const std::string& title : titles) run.buckets.push_back({.title = title});
  return run;
}

std::vector<std::string> KindNames(const GateVerdict& verdict) {
  std::vector<std::string> kinds;
  for (const GateChange& change : verdict.changes) kinds.push_back(GateKindWord(change.kind));
  return kinds;
}

TEST_F(GateBugs, AnOpenBugIsToldAndWarns) {
  AddBug("JDK-1", "crash in f");
  const GateVerdict known = Judge(With({}), With({"crash in f"}));
  EXPECT_EQ(known.word, "PASS");
  EXPECT_EQ(known.exit, ExitCode::kClean);
  ASSERT_THAT(KindNames(known), ElementsAre("known"));
  EXPECT_EQ(known.changes[0].effect, GateEffect::kWarn);
  EXPECT_EQ(known.changes[0].what, "crash in f");
  EXPECT_THAT(known.changes[0].details, StartsWith("known: JDK-1; seen 60 times in 60 of 60"));
  EXPECT_THAT(GateText(known),
              HasSubstr("  warn  known          crash in f\n        known: JDK-1"));
  EXPECT_THAT(GateJsonText(known), HasSubstr("\"bug\": \"JDK-1\""));
  EXPECT_THAT(GateLine(known), HasSubstr("; known: crash in f (replayed 5 of 5 times, genuine, "));
  // What both sides have is not a change, with a store as without.
  EXPECT_THAT(Judge(With({"crash in f"}), With({"crash in f"})).changes, IsEmpty());
  GatePolicy strict;
  strict.effects[static_cast<size_t>(GateKind::kKnown)] = GateEffect::kFail;
  EXPECT_EQ(Judge(With({}), With({"crash in f"}), strict).word, "REGRESSION");
}

TEST_F(GateBugs, ABugThatNobodyKnowsFailsBesideOne) {
  AddBug("JDK-1", "crash in f");
  const GateVerdict verdict = Judge(With({}), With({"crash in f", "crash in g"}));
  EXPECT_EQ(verdict.word, "REGRESSION");
  ASSERT_THAT(KindNames(verdict), ElementsAre("new-crash", "known"));
  EXPECT_EQ(verdict.changes[0].what, "crash in g");
  EXPECT_EQ(verdict.changes[0].bug, "");
  EXPECT_THAT(GateJsonText(verdict), HasSubstr("\"bug\": null"));
}

TEST_F(GateBugs, AnAcceptedBugIsNotedUntilItsLastDay) {
  AddBug("JDK-1", "crash in f", {BugState::kAccepted, "", "fixed in 28", "2026-11-24", ""});
  const GateVerdict accepted = Judge(With({}), With({"crash in f"}));
  EXPECT_EQ(accepted.word, "PASS");
  EXPECT_THAT(accepted.changes, IsEmpty());
  EXPECT_THAT(accepted.notes,
              testing::Contains("crash in f is accepted: JDK-1, until 2026-11-24: fixed in 28"));
  today_ = *ParseDay("2026-11-25");
  const GateVerdict expired = Judge(With({}), With({"crash in f"}));
  EXPECT_EQ(expired.word, "REGRESSION");
  ASSERT_THAT(KindNames(expired), ElementsAre("new-crash"));
  EXPECT_EQ(expired.changes[0].bug, "JDK-1");
  EXPECT_THAT(expired.changes[0].details,
              StartsWith("JDK-1 was accepted until 2026-11-24: fixed in 28; seen 60 times"));
  // An expired bug is judged as one that nobody knows: what the baseline has is not new.
  EXPECT_EQ(Judge(With({"crash in f"}), With({"crash in f"})).word, "PASS");
}

TEST_F(GateBugs, AFixedBugThatIsBackFails) {
  AddBug("JDK-1", "crash in f", {BugState::kFixed, "", "", "", "25+3"});
  MadeRun once = With({"crash in f"}, "25+3");
  once.buckets[0].every = 60;
  once.buckets[0].confirmed = 0;
  const GateVerdict back = Judge(With({}), once);
  EXPECT_EQ(back.word, "REGRESSION");
  ASSERT_THAT(KindNames(back), ElementsAre("reopened"));
  EXPECT_EQ(back.changes[0].bug, "JDK-1");
  EXPECT_THAT(back.changes[0].details,
              StartsWith("is back: JDK-1 was fixed in 25+3; seen 1 time in 1 of 60"));
  // A baseline without the fix has the bug of old.
  const GateVerdict against_old = Judge(With({"crash in f"}, "25+2"), once);
  EXPECT_EQ(against_old.word, "REGRESSION");
  ASSERT_THAT(KindNames(against_old), ElementsAre("reopened"));
  EXPECT_THAT(against_old.changes[0].details, HasSubstr("; the baseline: seen 60 times in"));
  // Where it was back before, the candidate is not worse.
  const GateVerdict both = Judge(With({"crash in f"}, "25+3"), With({"crash in f"}, "25+4"));
  EXPECT_EQ(both.word, "PASS");
  EXPECT_THAT(both.notes,
              testing::Contains("crash in f is back on both sides: JDK-1 was fixed in 25+3"));
}

TEST_F(GateBugs, ABuildOlderThanTheFixHasAKnownBug) {
  AddBug("JDK-1", "crash in f", {BugState::kFixed, "", "", "", "25+3"});
  const MadeRun old = With({"crash in f"}, "25+2");
  const GateVerdict known = Judge(With({}), old);
  EXPECT_EQ(known.word, "PASS");
  ASSERT_THAT(KindNames(known), ElementsAre("known"));
  EXPECT_THAT(known.changes[0].details, StartsWith("known: JDK-1, fixed in 25+3; seen 60"));
  EXPECT_EQ(Judge(With({}), old, {}, "25+3").word, "REGRESSION");  // by what --build says
}

// A build that has the fix shows that the other one lost it.
TEST_F(GateBugs, ABugThatTheBaselinesBuildDoesNotHaveIsBack) {
  AddBug("JDK-1", "crash in f", {BugState::kFixed, "", "", "", "25+3"}).affected = "[25+1,25+3)";
  const GateVerdict back = Judge(With({}, "25+4"), With({"crash in f"}, "25+2"));
  EXPECT_EQ(back.word, "REGRESSION");
  ASSERT_THAT(KindNames(back), ElementsAre("reopened"));
  EXPECT_EQ(back.changes[0].bug, "JDK-1");
  EXPECT_THAT(back.changes[0].details,
              StartsWith("JDK-1, which the baseline's build does not have; seen 60 times"));
  const GateVerdict gone = Judge(With({"crash in f"}, "25+2"), With({}, "25+4"));
  EXPECT_EQ(gone.word, "PASS");
  EXPECT_THAT(gone.better, ElementsAre(StartsWith("gone: crash in f")));
  EXPECT_EQ(Judge(With({}, "25+1"), With({"crash in f"}, "25+2")).word, "PASS") << "both have it";
}

// Another bug may look like a known one.
TEST_F(GateBugs, WhatReplaysOnTheCandidateAloneIsNewWhateverIsKnown) {
  AddBug("JDK-1", "crash in f");
  for (const int baseline : {0, 3}) {
    const GateVerdict verdict =
        Judge(With({}), With({"crash in f"}), {}, "", [&](const std::string&) {
          return ReplayCounts{10, baseline, 10};
        });
    EXPECT_EQ(verdict.word, baseline == 0 ? "REGRESSION" : "PASS");
    constexpr char kReplays[] = "; of 10 replays the candidate reproduced 10";
    if (baseline > 0) {
      EXPECT_THAT(KindNames(verdict), IsEmpty());
      EXPECT_THAT(verdict.notes, Contains(HasSubstr(kReplays)));
      continue;
    }
    ASSERT_THAT(KindNames(verdict), ElementsAre("new-crash"));
    EXPECT_EQ(verdict.changes[0].bug, "JDK-1");
    EXPECT_THAT(verdict.changes[0].details, HasSubstr(kReplays));
  }
}

TEST_F(GateBugs, WhatIsAcceptedIsNeitherReplayedNorTested) {
  AddBug("JDK-2", "crash in g", {BugState::kAccepted, "", "r", "2026-11-24", ""});
  std::vector<std::string> replayed;
  const GateVerdict verdict =
      Judge(With({}), With({"crash in g", "crash in h"}), {}, "", [&](const std::string& input) {
        replayed.push_back(input);
        return ReplayCounts{10, 0, 10};
      });
  EXPECT_THAT(replayed, ElementsAre(HasSubstr("/crashes/")));
  ASSERT_THAT(KindNames(verdict), ElementsAre("new-crash"));
  const GateVerdict alone = Judge(With({}), With({"crash in h"}));
  EXPECT_EQ(verdict.changes[0].p, alone.changes[0].p);  // not adjusted for the others
}

TEST_F(GateBugs, OfABucketOfSeveralRunsTheGravestWordCounts) {
  AddBug("JDK-1", "crash in f", {BugState::kFixed, "", "", "", "25+3"});
  const std::string dirs[] = {temp_.Under("old"), temp_.Under("new")};
  With({"crash in f"}, "25+2").Write(dirs[0]);
  With({"crash in f"}, "25+3").Write(dirs[1]);
  for (const bool swapped : {false, true}) {
    GateSide side = ReadGateSide({dirs[swapped ? 1 : 0], dirs[swapped ? 0 : 1]}).value();
    ASSERT_TRUE(ReadBugWords(Known(), today_, "", "", side).ok());
    EXPECT_EQ(side.buckets.at("crash in f").word.verdict, BugVerdict::kReopened);
  }
}

}  // namespace
}  // namespace walkhammer
