// SPDX-License-Identifier: Apache-2.0
// Runs compared with a store: sightings, and the bugs they are of.
#include "harness/bugs/runs/bug_match.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <tuple>

#include "harness/base/testing/fails_with.h"
#include "harness/store/record_testing.h"

namespace walkhammer {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kCrash[] = "agct: crash in f";
constexpr char kAgctWalk[] = "walk 1\nwalker agct\nscene c2\nstate in_Java\npc 0x5\n";

Sighting SightingOf(const std::string& signature, const std::string& build,
                    const std::string& date = "2026-01-01T00:00:00Z") {
  Sighting sighting;
  sighting.signature = signature;
  sighting.seen = {build, "00ff", "run-" + build, date};
  sighting.count = 3;
  sighting.walk = kAgctWalk;
  return sighting;
}

class BugMatchTest : public ::testing::Test {
 protected:
  BugMatchTest() : store_(std::move(BugStore::Change(temp_.Under("bugs")).value())) {}

  std::vector<MetBug> Meet(const std::vector<Sighting>& sightings) {
    auto met = Must(MeetBugs(sightings, today_, store_));
    EXPECT_TRUE(store_.Save().ok());
    return met;
  }
  // The verdict on the one bug of one sighting.
  BugVerdict Verdict(const Sighting& sighting) {
    const auto met = Meet({sighting});
    EXPECT_EQ(met.size(), 1U);
    return met.empty() ? BugVerdict::kNew : met[0].verdict;
  }
  Bug& Add(const std::string& id, const std::string& pattern) {
    Bug bug;
    bug.id = id;
    bug.title = "t";
    bug.signatures = {pattern};
    return store_.Add(bug);
  }

  TemporaryFolder temp_;
  BugStore store_;
  Day today_ = *ParseDay("2026-11-24");
};

TEST_F(BugMatchTest, WhatNobodyKnowsOpensABugOnce) {
  const auto met = Meet({SightingOf(kCrash, "17"), SightingOf("agct: crash in g", "17"),
                         SightingOf(kCrash, "21", "2026-01-02T00:00:00Z")});
  ASSERT_EQ(met.size(), 2U);
  EXPECT_EQ(met[0].verdict, BugVerdict::kNew);
  EXPECT_THAT(met[0].builds, ElementsAre("17", "21"));
  EXPECT_EQ(met[0].count, 6U);
  ASSERT_EQ(store_.bugs().size(), 2U);
  const Bug& bug = store_.bugs().at(met[0].id);
  EXPECT_EQ(bug.state, BugState::kOpen);
  EXPECT_EQ(bug.first_seen.build, "17");
  EXPECT_EQ(bug.last_seen.build, "21");
  EXPECT_EQ(bug.walk, kAgctWalk);
  EXPECT_EQ(bug.like, "");
}

TEST_F(BugMatchTest, TheSameRunTwiceChangesNothing) {
  const std::vector<Sighting> run = {SightingOf(kCrash, "17"), SightingOf("a: b (c.cpp:1)", "17")};
  Meet(run);
  const auto before = store_.bugs();
  for (const MetBug& met : Meet(run)) EXPECT_EQ(met.verdict, BugVerdict::kKnown);
  EXPECT_EQ(store_.bugs(), before);
}

TEST_F(BugMatchTest, AcceptedUntilItsDayHasPassed) {
  Bug& bug = Add("x", kCrash);
  ASSERT_TRUE(SetState({BugState::kAccepted, "", "why", "2026-12-31", ""}, today_, bug).ok());
  today_ = *ParseDay("2026-12-31");
  EXPECT_EQ(Verdict(SightingOf(kCrash, "17")), BugVerdict::kAccepted);
  today_ = *ParseDay("2027-01-01");
  EXPECT_EQ(Verdict(SightingOf(kCrash, "17")), BugVerdict::kExpired);
  EXPECT_EQ(store_.bugs().size(), 1U);
  EXPECT_TRUE(WantsSomebody(BugVerdict::kExpired));
  EXPECT_FALSE(WantsSomebody(BugVerdict::kAccepted));
}

TEST_F(BugMatchTest, ALookAlikeAfterTheFixIsANewBug) {
  Bug& old = Add("old", kCrash);
  old.state = BugState::kFixed;
  old.fixed_in = "17.0.9+9";
  EXPECT_EQ(Verdict(SightingOf(kCrash, "17.0.7+7")), BugVerdict::kFixed);
  EXPECT_EQ(store_.bugs().size(), 1U);
  const auto met = Meet({SightingOf(kCrash, "17.0.9+9")});
  ASSERT_EQ(met.size(), 1U);
  EXPECT_EQ(met[0].verdict, BugVerdict::kReopened);
  EXPECT_EQ(met[0].why, "looks like old");
  const Bug& bug = store_.bugs().at(met[0].id);
  EXPECT_EQ(bug.like, "old");
  EXPECT_EQ(bug.state, BugState::kOpen);
  EXPECT_THAT(bug.evidence[0], HasSubstr("looks like old, which was fixed in 17.0.9+9"));
  EXPECT_EQ(store_.bugs().at("old").state, BugState::kFixed);
  // Once it is there, it is known, also to the same run.
  EXPECT_EQ(Verdict(SightingOf(kCrash, "17.0.9+9")), BugVerdict::kKnown);
  EXPECT_EQ(Verdict(SightingOf(kCrash, "17.0.10+7")), BugVerdict::kKnown);
  EXPECT_EQ(store_.bugs().size(), 2U);
}

// What one release line has says nothing about another, until it was seen there.
TEST_F(BugMatchTest, ABugIsKnownOnTheReleaseLinesWhereItWasSeen) {
  Meet({SightingOf(kCrash, "17.0.9+9")});
  EXPECT_EQ(WordOn(SightingOf(kCrash, "17.0.19+10"), today_, store_).verdict, BugVerdict::kKnown);
  const BugWord word = WordOn(SightingOf(kCrash, "21.0.2+13"), today_, store_);
  EXPECT_EQ(word.verdict, BugVerdict::kNew);
  EXPECT_EQ(word.id, "");
  EXPECT_THAT(word.why, HasSubstr(", known on other JDKs"));
  // It joins the bug, and is known there from then on.
  const auto met = Meet({SightingOf(kCrash, "17.0.9+9"), SightingOf(kCrash, "21.0.2+13")});
  ASSERT_EQ(met.size(), 1U);
  EXPECT_EQ(met[0].verdict, BugVerdict::kNew);
  EXPECT_EQ(Verdict(SightingOf(kCrash, "21+35")), BugVerdict::kKnown);
  EXPECT_EQ(store_.bugs().size(), 1U);
}

TEST_F(BugMatchTest, RangesSayWhichJdksHaveABugAndLibrariesWhichWalkers) {
  Add("x", kCrash).affected = "[17,17.0.9)";
  EXPECT_EQ(Verdict(SightingOf(kCrash, "17.0.8+7")), BugVerdict::kKnown);
  EXPECT_EQ(WordOn(SightingOf(kCrash, "17.0.9+9"), today_, store_).verdict, BugVerdict::kNew);
  EXPECT_EQ(WordOn(SightingOf(kCrash, "nightly"), today_, store_).verdict, BugVerdict::kNew);
  // A build outside of the ranges where the bug was seen has it; other builds do not.
  Meet({SightingOf(kCrash, "17.0.9+9")});
  EXPECT_EQ(WordOn(SightingOf(kCrash, "17.0.9+9"), today_, store_).verdict, BugVerdict::kKnown);
  EXPECT_EQ(WordOn(SightingOf(kCrash, "17.0.10+7"), today_, store_).verdict, BugVerdict::kNew);
  Bug& library = Add("y", "*: crash in w");
  library.affected = "[17,18)";
  library.affected_libraries = {"async-profiler [4.2,4.7)"};
  const auto word = [&](const char* signature) {
    return WordOn(SightingOf(signature, "25"), today_, store_).verdict;
  };
  EXPECT_EQ(word("asprof-vm@lib.so: crash in w"), BugVerdict::kKnown);
  EXPECT_EQ(word("agct: crash in w"), BugVerdict::kNew);
}

// A known issue of a profiler's walker names no file. Who else implements an API of the JDK is not
// meant by a known issue of the JDK's own.
TEST_F(BugMatchTest, AnIssueOfALibrarysWalkerIsOfEachFile) {
  Add("x", "asprof-vm: bci/outside*").affected_libraries = {"async-profiler [4.2,4.7)"};
  Add("y", "asprof-vm against asgst: agreement/truncated").affected_libraries = {"async-profiler"};
  Add("z", "asgst: bci/outside");
  const auto word = [&](const char* signature) {
    return WordOn(SightingOf(signature, "25"), today_, store_).verdict;
  };
  EXPECT_EQ(word("asprof-vm@asprof-4.6.so: bci/outside"), BugVerdict::kKnown);
  EXPECT_EQ(word("asprof-vm against asgst@a.so: agreement/truncated"), BugVerdict::kKnown);
  EXPECT_EQ(word("asprof-vm@asprof-4.6.so: bci/unknown"), BugVerdict::kNew);
  EXPECT_EQ(word("asgst: bci/outside"), BugVerdict::kKnown);
  EXPECT_EQ(word("asgst@libwalker.so: bci/outside"), BugVerdict::kNew);
}

TEST_F(BugMatchTest, ACrashOfTheJvmUnderAUsersWalkerIsThatOfAsyncGetCallTrace) {
  Add("x", "agct: crash in frame::sender reading *");
  Add("y", "agct: truth/no-frames in scene park");
  const auto word = [&](const char* signature) {
    return WordOn(SightingOf(signature, "25"), today_, store_).verdict;
  };
  EXPECT_EQ(word("plugin@mine.so: crash in frame::sender reading 8 bytes"), BugVerdict::kKnown);
  EXPECT_EQ(word("agct-library@a.so: crash in frame::sender reading 8 bytes"), BugVerdict::kKnown);
  EXPECT_EQ(word("plugin@mine.so: crash in walkhammer_walk reading 8 bytes"), BugVerdict::kNew);
  EXPECT_EQ(word("asgst@mine.so: crash in frame::sender reading 8 bytes"), BugVerdict::kNew);
  // What the walker answers is the walker's own.
  EXPECT_EQ(word("plugin@mine.so: truth/no-frames in scene park"), BugVerdict::kNew);
}

TEST_F(BugMatchTest, WhatAsyncGetCallTraceGetsWrongForAProfilersWalkerIsKnown) {
  Add("x", "agct: truth/no-frames in scene park").affected = "[17,18)";
  const auto word = [&](const char* signature, const char* build) {
    return WordOn(SightingOf(signature, build), today_, store_).verdict;
  };
  for (const char* walker : {"asprof-fp", "asprof-dwarf", "ddprof-fp@a.so", "ddprof-dwarf@a.so"}) {
    const std::string signature = std::string(walker) + ": truth/no-frames in scene park";
    EXPECT_EQ(word(signature.c_str(), "17"), BugVerdict::kKnown) << walker;
    EXPECT_NE(word(signature.c_str(), "21"), BugVerdict::kKnown) << walker;
  }
  Add("y", "agct against asgst: agreement/skipped-caller").affected = "[17,18)";
  EXPECT_EQ(word("asprof-fp against asgst@a.so: agreement/skipped-caller", "17"),
            BugVerdict::kKnown);
  for (const char* walker : {"asprof-vm", "ddprof-vm@a.so", "asgst"}) {
    const std::string signature = std::string(walker) + ": truth/no-frames in scene park";
    EXPECT_EQ(word(signature.c_str(), "17"), BugVerdict::kNew) << walker;
  }
}

TEST_F(BugMatchTest, ADeathInARunOfSeveralWalkersMayBeThatOfAnyOfThem) {
  Add("x", "asgst: JVM death *");
  EXPECT_EQ(Verdict(SightingOf("agct,asgst: JVM death by signal 6", "17")), BugVerdict::kKnown);
  EXPECT_EQ(Verdict(SightingOf("asgst@jdk,agct: JVM death by signal 6", "17")), BugVerdict::kNew);
  EXPECT_EQ(Verdict(SightingOf("agct,request: JVM death by signal 6", "17")), BugVerdict::kNew);
}

// The word on a sighting opens nothing.
TEST_F(BugMatchTest, TheWordOnASightingIsTheVerdict) {
  using Word = std::tuple<BugVerdict, std::string, std::string>;
  const auto word = [&](const char* signature, const char* build) {
    const BugWord word = WordOn(SightingOf(signature, build), today_, store_);
    return Word(word.verdict, word.id, word.why);
  };
  EXPECT_EQ(word(kCrash, "17"), Word(BugVerdict::kNew, "", ""));
  Bug& bug = Add("x", kCrash);
  EXPECT_EQ(word(kCrash, "17"), Word(BugVerdict::kKnown, "x", ""));
  EXPECT_EQ(word("agct: crash in g", "17"), Word(BugVerdict::kNew, "", ""));
  ASSERT_TRUE(SetState({BugState::kFixed, "", "", "", "17.0.9"}, today_, bug).ok());
  EXPECT_EQ(word(kCrash, "17.0.7"), Word(BugVerdict::kFixed, "x", "fixed in 17.0.9"));
  EXPECT_EQ(word(kCrash, "17.0.9"), Word(BugVerdict::kReopened, "x", "was fixed in 17.0.9"));
  EXPECT_EQ(store_.bugs().size(), 1U);
}

TEST_F(BugMatchTest, ALookAlikeOfALookAlikeNamesTheLater) {
  Bug& old = Add("old", kCrash);
  old.state = BugState::kFixed;
  old.fixed_in = "17";
  old.last_seen.date = "2026-01-01T00:00:00Z";
  const std::string second = Meet({SightingOf(kCrash, "18", "2026-02-01T00:00:00Z")})[0].id;
  ASSERT_TRUE(
      SetState({BugState::kFixed, "", "", "", "19"}, today_, *store_.Find(second).value()).ok());
  const auto met = Meet({SightingOf(kCrash, "20", "2026-03-01T00:00:00Z")});
  EXPECT_EQ(met[0].why, "looks like " + second);
  EXPECT_EQ(met[0].id, second + "-2");
}

TEST_F(BugMatchTest, AnUnknownBuildIsTakenForOneWithTheFix) {
  Bug& old = Add("old", kCrash);
  old.state = BugState::kFixed;
  old.fixed_in = "17";
  EXPECT_EQ(Verdict(SightingOf(kCrash, "somebody's")), BugVerdict::kReopened);
}

TEST_F(BugMatchTest, ADuplicateStandsForItsRoot) {
  Add("root", "agct: crash in g");
  Bug& same = Add("same", kCrash);
  same.state = BugState::kDuplicate;
  same.duplicate_of = "root";
  const auto met = Meet({SightingOf(kCrash, "17"), SightingOf("agct: crash in g", "17")});
  ASSERT_EQ(met.size(), 1U);
  EXPECT_EQ(met[0].id, "root");
  EXPECT_EQ(met[0].verdict, BugVerdict::kKnown);
  EXPECT_EQ(store_.bugs().at("root").last_seen.build, "17");
  EXPECT_EQ(store_.bugs().at("same").last_seen.build, "");
}

TEST_F(BugMatchTest, ThePatternThatNamesMostIsMeant) {
  Bug& all = Add("all", "*: crash in *");
  all.state = BugState::kAccepted;
  all.reason = "why";
  all.until = today_;
  Add("f", "*: crash in f*");
  EXPECT_EQ(Meet({SightingOf("agct: crash in fx", "17")})[0].id, "f");
  EXPECT_EQ(Meet({SightingOf("agct: crash in g", "17")})[0].id, "all");
  EXPECT_EQ(Verdict(SightingOf("agct: hang in g", "17")), BugVerdict::kNew);
}

TEST_F(BugMatchTest, APatternMayBeOfGenuineFindingsAlone) {
  Add("any", "agct: bci/unknown");
  Add("genuine", "agct: bci/unknown, genuine");
  Sighting sighting = SightingOf("agct: bci/unknown", "17");
  sighting.realism = Realism::kGenuine;
  EXPECT_EQ(Meet({sighting})[0].id, "genuine");
  sighting.realism = Realism::kShifted;
  EXPECT_EQ(Meet({sighting})[0].id, "any");
  store_.Find("any").value()->signatures = {"agct: other"};
  EXPECT_EQ(Verdict(sighting), BugVerdict::kNew);
}

TEST_F(BugMatchTest, ARequestThatWasShownReplacesOneThatWasNot) {
  Sighting not_replayed = SightingOf(kCrash, "17"), shown = SightingOf(kCrash, "21"),
           shown_less = SightingOf(kCrash, "22");
  shown.walk = "better";
  shown.shown = shown.of = 5;
  shown.flags = "-Xint";
  shown_less.walk = "other";
  shown_less.shown = 1;
  shown_less.of = 5;
  const auto met = Must(MeetBugs({not_replayed, shown, shown_less, not_replayed}, today_, store_));
  const Bug& bug = store_.bugs().begin()->second;
  EXPECT_EQ(bug.walk, "better");
  EXPECT_EQ(bug.flags, "-Xint");
  EXPECT_EQ(bug.reproduced, (Reproduced{"21", 5, 5}));
}

TEST_F(BugMatchTest, ARunWithTooManyBugsIsRefused) {
  std::vector<Sighting> many;
  for (size_t i = 0; i < kMostNewBugs; i++) many.push_back(SightingOf(std::to_string(i), "17"));
  EXPECT_TRUE(MeetBugs(many, today_, store_).ok());
  for (size_t i = 0; i <= kMostNewBugs; i++)
    many.push_back(SightingOf(fmt::format("n{}", i), "17"));
  EXPECT_THAT(MeetBugs(many, today_, store_), FailsWith(ExitCode::kBadInput));
  EXPECT_EQ(std::distance(fs::directory_iterator(temp_.Under("bugs")), {}), 1);  // the lock
}

// A run with buckets that `fill` adds.
class SightingTest : public ::testing::Test {
 protected:
  RunWriter Make(const RunIdentity& identity = TestIdentity()) {
    return NewRun(temp_.Under("night-1"), identity);
  }
  static std::vector<Sighting> Sightings(const RunWriter& run) {
    return Must(ReadSightings(Read(run)));
  }
  static FindingRecord Record(const std::string& title, const std::string& request = kAgctWalk) {
    FindingRecord record = TestRecord("crash", "fault", title, Realism::kGenuine);
    record.request = request;
    return record;
  }
  TemporaryFolder temp_;
};

TEST_F(SightingTest, BucketsOfOneSignatureAreOne) {
  RunWriter run = Make();
  FindingRecord first = Record("crash in f"), second = Record("crash in f");
  second.signature.key = "another offset";
  second.request = "walk 1\nwalker agct\nscene c2\nstate in_Java\npc 0x6\n";
  second.realism = Realism::kShifted;
  ASSERT_TRUE(run.AddFinding(first).ok());
  const int64_t bucket = run.AddFinding(second).value().bucket;
  ASSERT_TRUE(run.SetConfirmed(bucket, 4, 5).ok());
  FindingRecord acceptable = Record("no bug");
  acceptable.oracle = acceptable.outcome = "nobody's";
  acceptable.grade = Grade::kInteresting;
  ASSERT_TRUE(run.AddFinding(acceptable).ok());
  const std::vector<Sighting> found = Sightings(run);
  ASSERT_EQ(found.size(), 1U);
  const Sighting& one = found[0];
  EXPECT_EQ(one.signature, kCrash);
  EXPECT_EQ(one.seen, (Seen{"25", "00ff", "night-1", "2026-01-02T03:04:05Z"}));
  EXPECT_EQ(one.realism, Realism::kGenuine);
  EXPECT_EQ(one.count, 2U);
  EXPECT_THAT(one.walk, HasSubstr("pc 0x6"));
  EXPECT_EQ(one.shown, 4);
  EXPECT_EQ(one.of, 5);
  EXPECT_EQ(one.flags, "-Xint");
  EXPECT_EQ(ReadSightings(Read(run), "28-internal+7").value()[0].seen.build, "28-internal+7");
}

TEST_F(SightingTest, AWalkerHasOneNameWhereverItStandsInTheRun) {
  RunIdentity identity = TestIdentity();
  identity.walker = "agct,asgst";
  RunWriter run = Make(identity);
  ASSERT_TRUE(run.AddFinding(Record("crash in f, by agct")).ok());
  ASSERT_TRUE(run.AddFinding(Record("JVM death", "")).ok());
  ASSERT_TRUE(run.AddFinding(Record("differs: agct against asgst",
                                    "walk 1\nwalker agct\nagainst asgst\nscene c2\nstate "
                                    "in_Java\n"))
                  .ok());
  std::vector<std::string> signatures;
  for (const Sighting& one : Sightings(run)) signatures.push_back(one.signature);
  EXPECT_THAT(signatures,
              ElementsAre("agct against asgst: differs", "agct,asgst: JVM death", kCrash));
}

// What a witness says of a walker is that walker's, whichever walkers the run has.
TEST_F(SightingTest, AFindingAboutAProgramIsOfTheWalkerThatItNames) {
  RunIdentity identity = TestIdentity();
  identity.walker = "asprof-vm,asgst";
  identity.provider = "/x/asprof-4.6.so";
  RunWriter run = Make(identity);
  ASSERT_TRUE(run.AddFinding(Record("witness/x: asprof-vm has no frame, unlike asgst", "")).ok());
  ASSERT_TRUE(run.AddFinding(Record("witness/x: asprof has no frame", "")).ok());
  std::vector<std::string> signatures;
  for (const Sighting& one : Sightings(run)) signatures.push_back(one.signature);
  EXPECT_THAT(signatures, ElementsAre("asprof-vm,asgst: witness/x: asprof has no frame",
                                      "asprof-vm@asprof-4.6.so: witness/x: asprof-vm has no "
                                      "frame, unlike asgst"));
}

TEST_F(SightingTest, EachCellHasItsOwnBuild) {
  RunWriter run = Make();
  CellRow cell = TestCell(0), other = TestCell(1);
  other.vm_version = "OpenJDK 64-Bit Server VM 25.504-b08";
  other.jvm_flags = "-XX:+UseSerialGC -agentpath:/x";
  ASSERT_TRUE(run.SaveCell(cell).ok());
  ASSERT_TRUE(run.SaveCell(other).ok());
  FindingRecord record = Record("crash in f");
  for (const int64_t position : {0, 1}) {
    record.cell = position;
    record.sequence++;
    ASSERT_TRUE(run.AddFinding(record).ok());
  }
  const std::vector<Sighting> found = Sightings(run);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].seen.build, "17");
  EXPECT_EQ(found[0].flags, "-XX:+UseZGC -Xmx64m");
  EXPECT_EQ(found[1].seen.build, "8u504-b08");
  EXPECT_EQ(found[1].seen.build_id, "");
  EXPECT_EQ(found[1].flags, "-XX:+UseSerialGC");
}

TEST_F(SightingTest, AStrangersRunDoesNoHarm) {
  RunIdentity identity = TestIdentity();
  identity.vm_version = "VM \x1b[2J17\n\xff";
  identity.started_at = "yesterday\n";
  identity.jvm_flags = "-XX:OnError=reboot -Xint @file";
  RunWriter run = Make(identity);
  ASSERT_TRUE(run.AddFinding(Record("crash in \x1b]0;f\n" + std::string(5000, 'x'))).ok());
  ASSERT_TRUE(run.AddFinding(Record("b", "# \x1b[2J\nnonsense\n")).ok());
  for (const Sighting& one : Sightings(run)) {
    EXPECT_LE(one.signature.size(), kMostText);
    EXPECT_EQ(one.seen.date, "");
    EXPECT_EQ(one.flags, one.walk.empty() ? "" : "-Xint");
    for (const std::string& text : {one.signature, one.seen.build, one.walk})
      EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(one.signature.find('\n'), std::string::npos);
  }
}

TEST_F(SightingTest, AMinimisedRequestIsReadOnlyInsideOfTheRun) {
  constexpr char kSmall[] = "walk 1\nwalker agct\nscene c2\nstate in_Java\npc 0x77\n";
  RunWriter run = Make();
  const auto added = Must(run.AddFinding(Record("crash in f")));
  ASSERT_TRUE(run.SetConfirmed(added.bucket, 1, 5).ok());
  const fs::path folder = fs::path(run.dir()) / added.folder;
  fs::create_directories(folder);
  std::ofstream(folder / "minimized.walk") << "# a stranger's\n" << kSmall;
  EXPECT_THAT(Sightings(run)[0].walk, Not(HasSubstr("0x77"))) << "it was not replayed";
  ASSERT_TRUE(run.SetMinimized(added.bucket, 0, 3, 3).ok());
  EXPECT_EQ(Sightings(run)[0].walk, kSmall);
  EXPECT_EQ(Sightings(run)[0].of, 3);
  fs::rename(folder / "minimized.walk", folder / "elsewhere");
  fs::create_symlink(folder / "elsewhere", folder / "minimized.walk");
  EXPECT_THAT(Sightings(run)[0].walk, Not(HasSubstr("0x77")));
}

TEST(SafeFlagsTest, KeepsWhatNamesNoFileAndNoCommand) {
  const std::string safe =
      "-Xint -Xmx512m -Xss1M -XX:+UseZGC -XX:-UseG1GC -XX:ParallelGCThreads=2 -Xcomp";
  EXPECT_EQ(SafeFlags(safe), safe);
  EXPECT_EQ(SafeFlags("-XX:OnError=reboot -XX:Flags=x -agentlib:x -javaagent:x @x -Xlog:gc:file "
                      "-XX:+Use/x -Xmx -Xmxa -XX:= -XX:A= -XX:A=1x -cp x -Dx=y -XX:+"),
            "");
  EXPECT_LT(SafeFlags(std::string(100000, ' ') + "-Xint " + std::string("-XX:+") +
                      std::string(100000, 'a'))
                .size(),
            10U);
}

}  // namespace
}  // namespace walkhammer
