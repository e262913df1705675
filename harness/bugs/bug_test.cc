// SPDX-License-Identifier: Apache-2.0
// Bugs alone: states, days, versions, signatures, their text.
#include "harness/bugs/bug.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/testing/fails_with.h"
#include "harness/bugs/bug_text.h"

namespace walkhammer {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Day DayOf(const char* text) { return *ParseDay(text); }

Bug FullBug() {
  Bug bug;
  bug.title = "a \"quoted\" \\ title";
  bug.signatures = {"agct: crash in f", "*: crash in g\\*"};
  bug.state = BugState::kAccepted;
  bug.reason = "waits for JDK-1";
  bug.until = DayOf("2026-12-31");
  bug.like = "other";
  bug.affected = "[17.0.13,17.0.16) [21,)";
  bug.affected_libraries = {"async-profiler [4.2,4.7)"};
  bug.upstream = {"JDK-1"};
  bug.upstream_status = "open";
  bug.cause = "c";
  bug.trigger = "t";
  bug.bug_class = 3;
  bug.walkers = {"agct", "asprof-vm"};
  bug.requests = {"../x.walk"};
  bug.crash = {{"f", "g"}, "guarantee(x)", "JFR", true, true};
  bug.first_seen = {"17.0.9+9", "00ff", "night-1", "2026-01-02T03:04:05Z"};
  bug.last_seen = {"21+35", "", "night-2", "2026-01-03T03:04:05Z"};
  bug.builds = {"17.0.9+9", "21+35"};
  bug.reproduced = {"21+35", 4, 5};
  bug.flags = "-XX:+UseZGC";
  bug.provider = "libx.so";
  bug.evidence = {"2026-01-02: met"};
  bug.notes = "two\nlines \"quoted\"\n";
  return bug;
}

TEST(BugDayTest, ADayIsOneOfTheCalendar) {
  EXPECT_EQ(DayText(DayOf("2028-02-29")), "2028-02-29");
  for (const char* text : {"", "2026-02-29", "2026-13-01", "2026-00-10", "2026-1-01", "26-01-01",
                           "2026-01-01T", "2026/01/01", "+026-01-01", "2026-01-32"})
    EXPECT_FALSE(ParseDay(text).has_value()) << text;
  for (const char* text : {"2026-01-02T00:00:00Z", "2026-12-31T23:59:59Z"})
    EXPECT_TRUE(IsTimeText(text)) << text;
  for (const char* text : {"", "2026-01-02", "2026-01-02T24:00:00Z", "2026-01-02T00:60:00Z",
                           "2026-01-02T00:00:60Z", "2026-01-02 00:00:00Z", "2026-01-02T00:00:00",
                           "2026-02-30T00:00:00Z", "2026-01-02T0a:00:00Z"})
    EXPECT_FALSE(IsTimeText(text)) << text;
}

TEST(BugTest, IsAcceptedUpToItsLastDay) {
  const Bug bug = FullBug();
  EXPECT_FALSE(IsExpired(bug, DayOf("2026-12-30")));
  EXPECT_FALSE(IsExpired(bug, DayOf("2026-12-31")));
  EXPECT_TRUE(IsExpired(bug, DayOf("2027-01-01")));
  Bug open = bug;
  open.state = BugState::kOpen;
  EXPECT_FALSE(IsExpired(open, DayOf("2027-01-01")));
}

TEST(BugTest, IsFixedFromABuildOnOrInRanges) {
  Bug bug;
  bug.state = BugState::kFixed;
  bug.fixed_in = "17.0.9+9";
  for (const char* yes : {"17.0.9+9", "17.0.9+9-Debian", "17.0.10+1", "21+35", "no version", ""})
    EXPECT_TRUE(IsFixedIn(bug, yes)) << yes;
  for (const char* no : {"17.0.9+8", "17.0.7+7", "11.0.25+9", "17.0.9-ea+20"})
    EXPECT_FALSE(IsFixedIn(bug, no)) << no;
  bug.fixed_in = "[17.0.9,18) [21,)";
  for (const char* yes : {"17.0.9", "17.0.12+1", "21", "25.0.3+9"})
    EXPECT_TRUE(IsFixedIn(bug, yes)) << yes;
  for (const char* no : {"17.0.8", "18", "20.0.2+9"}) EXPECT_FALSE(IsFixedIn(bug, no)) << no;
  bug.state = BugState::kOpen;
  EXPECT_FALSE(IsFixedIn(bug, "21"));
}

TEST(BugTest, SeenIsTheSameInAnyOrderAndTwice) {
  const Seen first{"21+35", "", "a", "2026-01-01T00:00:00Z"},
      middle{"17.0.9+9", "", "b", "2026-01-02T00:00:00Z"},
      last{"17.0.10+1", "", "c", "2026-01-03T00:00:00Z"}, unknown{"17", "", "d", ""};
  Bug bug;
  for (const Seen* seen : {&middle, &last, &unknown, &first, &middle, &first}) NoteSeen(*seen, bug);
  EXPECT_EQ(bug.first_seen, first);
  EXPECT_EQ(bug.last_seen, last);
  EXPECT_THAT(bug.builds, ElementsAre("17", "17.0.9+9", "17.0.10+1", "21+35"));
  Bug other;
  for (const Seen* seen : {&unknown, &last, &middle, &first}) NoteSeen(*seen, other);
  EXPECT_EQ(bug, other);
}

TEST(BugTest, KnowsABuildByItsLibjvm) {
  Bug bug;
  EXPECT_EQ(VersionIn(bug, "", "17"), "17");
  NoteSeen({"17.0.9+9", "00ff", "a", "2026-01-01T00:00:00Z"}, bug);
  NoteSeen({"17.0.9+10", "00fe", "b", "2026-01-02T00:00:00Z"}, bug);
  EXPECT_EQ(VersionIn(bug, "00ff", "17.0.9"), "17.0.9+9");
  EXPECT_EQ(VersionIn(bug, "00fe", "17.0.9"), "17.0.9+10");
  EXPECT_EQ(VersionIn(bug, "00fd", "17.0.9"), "17.0.9+10");
  EXPECT_EQ(VersionIn(bug, "", "17.0.9"), "17.0.9+10");
  for (const char* other : {"17.0.9+8", "17.0.8", "17.0.9-ea", "17.0", "nightly", ""})
    EXPECT_EQ(VersionIn(bug, "00fd", other), other);
}

TEST(BugTest, KeepsOnlySoMuch) {
  Bug bug;
  for (int i = 0; i < 300; i++) {
    NoteSeen({std::to_string(i), "", "run", ""}, bug);
    AddEvidence(DayOf("2026-01-01"), "line " + std::to_string(i), bug);
  }
  EXPECT_EQ(bug.builds.size(), kMostBuilds);
  EXPECT_EQ(bug.builds.back(), "299");
  EXPECT_EQ(bug.evidence.size(), kMostEvidence);
  EXPECT_EQ(bug.evidence.back(), "2026-01-01: line 299");
  AddEvidence(DayOf("2026-01-02"), "line 299", bug);
  EXPECT_EQ(bug.evidence.back(), "2026-01-01: line 299");
  EXPECT_EQ(Tame("a\nb\x1b[31m\xff" + std::string(1000, 'x')).size(), kMostText);
  EXPECT_EQ(Tame(" a\nb\x1b\xff "), "a?b??");
}

TEST(BugTest, AnIdIsAFileNameWithoutFolders) {
  for (const char* id : {"JDK-8302320", "agct-crash_in.f-1a", "7"}) EXPECT_TRUE(IsBugId(id)) << id;
  for (const char* id : {"", ".lock", "..", "-x", "a/b", "a b", "a\nb", "\xc3\xa4"})
    EXPECT_FALSE(IsBugId(id)) << id;
  EXPECT_TRUE(IsBugId(std::string(100, 'a')));
  EXPECT_FALSE(IsBugId(std::string(101, 'a')));
}

TEST(SetStateTest, TakesWhatTheStateWantsAndNothingElse) {
  const Day today = DayOf("2026-11-24");
  struct Case {
    StateChange change;
    const char* refusal;  // null: none
  } const cases[] = {
      {{BugState::kOpen, "", "", "", ""}, nullptr},
      {{BugState::kOpen, "b", "", "", ""}, "open takes no --of"},
      {{BugState::kOpen, "", "", "", "17"}, "open takes no --in"},
      {{BugState::kDuplicate, "b", "", "", ""}, nullptr},
      {{BugState::kDuplicate, "", "", "", ""}, "duplicate needs --of"},
      {{BugState::kDuplicate, "a", "", "", ""}, "a cannot be a duplicate of itself"},
      {{BugState::kAccepted, "", "why", "2026-11-24", ""}, nullptr},
      {{BugState::kAccepted, "", "why", "2026-11-23", ""}, "has passed: today is 2026-11-24"},
      {{BugState::kAccepted, "", "why", "tomorrow", ""}, "\"tomorrow\" is not a day"},
      {{BugState::kAccepted, "", "why", "", ""}, "accepted needs --until"},
      {{BugState::kAccepted, "", "", "2026-11-24", ""}, "accepted needs --reason"},
      {{BugState::kFixed, "", "", "", "17.0.9"}, nullptr},
      {{BugState::kFixed, "", "", "", "[17.0.9,18)"}, nullptr},
      {{BugState::kFixed, "", "", "", "soon"}, "--in \"soon\" is neither a version"},
      {{BugState::kFixed, "", "", "", ""}, "fixed needs --in"},
  };
  for (const Case& one : cases) {
    Bug bug;
    bug.id = "a";
    const Status set = SetState(one.change, today, bug);
    EXPECT_EQ(set.ok(), one.refusal == nullptr) << BugStateWord(one.change.state);
    if (one.refusal != nullptr) {
      EXPECT_THAT(set, FailsWith(ExitCode::kBadInput, HasSubstr(one.refusal)));
    }
    EXPECT_EQ(bug.state, set.ok() ? one.change.state : BugState::kOpen);
    EXPECT_EQ(bug.evidence.size(), set.ok() ? 1U : 0U);
  }
}

TEST(SetStateTest, LeavesNothingOfTheOldState) {
  Bug bug = FullBug();
  ASSERT_TRUE(SetState({BugState::kFixed, "", "", "", "22"}, DayOf("2026-11-24"), bug).ok());
  EXPECT_EQ(bug.reason, "");
  EXPECT_FALSE(bug.until.has_value());
  const auto read = ParseBug(BugText(bug), "b");
  EXPECT_TRUE(read.ok()) << read.failure().message;
}

TEST(SignaturePatternTest, AStarStandsForAnyText) {
  const struct {
    const char *pattern, *signature;
    bool matches;
  } kCases[] = {
      {"a: b", "a: b", true},   {"*", "", true},          {"*", "anything", true},
      {"a*", "a", true},        {"*: b", "a: b", true},   {"a*c*e", "abcde", true},
      {"**b", "aab", true},     {"a\\*b", "a*b", true},   {"a\\\\b", "a\\b", true},
      {"*ab", "aaab", true},    {"a\\", "a\\", true},     {"f(X\\*)*", "f(X*)+0x1", true},
      {"a: b", "a: bc", false}, {"a: b", "aa: b", false}, {"", "a", false},
      {"a*c", "ab", false},     {"a\\*b", "axb", false},  {"*b", "ba", false},
      {"a", "", false},         {"\\*", "**", false},
  };
  for (const auto& [pattern, signature, matches] : kCases)
    EXPECT_EQ(MatchesSignature(pattern, signature), matches) << pattern << " " << signature;
  EXPECT_FALSE(MatchesSignature(std::string(100, '*') + "b", std::string(100000, 'a')));
}

TEST(SignaturePatternTest, APatternOfASignatureMatchesOtherLineNumbers) {
  for (const char* signature : {"agct: crash in f", "agct: failed-check a *b\\ (c.cpp:12)", ""})
    EXPECT_TRUE(MatchesSignature(PatternOf(signature), signature)) << signature;
  const std::string pattern = PatternOf("agct: failed-check guarantee(x) failed: y (c.cpp:654)");
  EXPECT_TRUE(MatchesSignature(pattern, "agct: failed-check guarantee(x) failed: y (c.cpp:7)"));
  EXPECT_FALSE(MatchesSignature(pattern, "agct: failed-check guarantee(x) failed: y (d.cpp:654)"));
  EXPECT_EQ(PatternOf("a: f(int)"), "a: f(int)");
  EXPECT_EQ(PatternOf("at:12 x"), "at:12 x");
  EXPECT_LT(NamedBytes("ab*"), NamedBytes("abc"));
  EXPECT_EQ(NamedBytes("\\*a*"), 2U);
}

TEST(BugVersionTest, RangesSayWhichJdksHaveIt) {
  Bug bug;
  bug.state = BugState::kFixed;
  bug.affected = "[17,17.0.8) [11.0.5,11.0.14) [27,)";
  bug.fixed_in = "[17.0.9,18)";
  for (const char* yes : {"17+35", "17.0.7+7-Debian-1", "11.0.5", "11.0.13+8", "27", "99"})
    EXPECT_EQ(AffectedByVersion(bug, yes), Affected::kYes) << yes;
  for (const char* no : {"17.0.9", "17.0.9+9", "17.0.19+10-Debian", "18-ea"})
    EXPECT_EQ(AffectedByVersion(bug, no), Affected::kNo) << no;
  for (const char* unknown : {"17-ea+3", "17.0.8+7", "17.0.9-ea", "11.0.4", "11.0.14+1", "18",
                              "21+35", "27-ea", "1.8.0_504", "unknown", ""})
    EXPECT_EQ(AffectedByVersion(bug, unknown), Affected::kUnknown) << unknown;
  bug.state = BugState::kOpen;
  EXPECT_EQ(AffectedByVersion(bug, "17.0.9"), Affected::kUnknown);
}

TEST(BugTextTest, IsReadAsItWasWritten) {
  Bug bug = FullBug();
  for (const BugState state :
       {BugState::kAccepted, BugState::kOpen, BugState::kDuplicate, BugState::kFixed}) {
    bug.state = state;
    if (state != BugState::kAccepted) bug.reason.clear();
    if (state != BugState::kAccepted) bug.until.reset();
    bug.duplicate_of = state == BugState::kDuplicate ? "x" : "";
    bug.fixed_in = state == BugState::kFixed ? "[17.0.16,18)" : "";
    if (state == BugState::kFixed)
      bug.proof = {"17.0.15",   "17.0.16", 60,   "5 frames", "--seed 1",
                   "--time 1s", "a %",     "c2", "why"};
    const auto read = Must(ParseBug(BugText(bug), "b"));
    EXPECT_EQ(read.bug, bug) << BugText(bug);
    EXPECT_EQ(BugText(read.bug), BugText(bug));
  }
}

TEST(BugTextTest, HoldsNoControlCharacters) {
  Bug bug = FullBug();
  bug.title = std::string("a\x01\x1f\x7f\t\"\\") + "b";
  const std::string text = BugText(bug);
  for (const char c : {'\x01', '\x1f', '\x7f', '\t'}) EXPECT_EQ(text.find(c), std::string::npos);
  EXPECT_NE(text.find(R"("a\u0001\u001f\u007f\u0009\"\\b")"), std::string::npos) << text;
}

TEST(BugTextTest, AShortFileByHandIsABug) {
  const auto read =
      Must(ParseBug("state = 'open'\ntitle = 't'\nsignatures = ['*: crash in f']\n", "b"));
  EXPECT_THAT(read.bug.signatures, ElementsAre("*: crash in f"));
  EXPECT_EQ(read.bug.reproduced.of, 0);
}

TEST(BugTextTest, SaysInWhichLineWhatIsWrong) {
  const std::string head = "title = 't'\nsignatures = ['s']\nstate = ";
  const std::pair<std::string, const char*> cases[] = {
      {"", "b.toml:1: a bug must have a state"},
      {"title = ", "b.toml:1: "},
      {"state = 'open'\nsignatures = ['s']", "b.toml:1: a bug must have a title"},
      {"state = 'open'\ntitle = 't'", "b.toml:1: a bug must have signatures"},
      {head + "'opne'", "b.toml:3: state must be \"open\", \"duplicate\", "},
      {head + "1", "b.toml:3: state must be"},
      {head + "'open'\nnote = 'x'", "b.toml:4: there is no key \"note\"; did you mean \"notes\"?"},
      {head + "'open'\nuntil = 2026-01-01", "b.toml:4: until is for state \"accepted\", and the "},
      {head + "'accepted'\nreason = 'r'", "b.toml:3: state \"accepted\" needs the key until"},
      {head + "'accepted'\nreason = 'r'\nuntil = '2026-01-01'", "b.toml:5: until must be a day"},
      {head + "'accepted'\nreason = 'r'\nuntil = 2026-02-30", "b.toml:5: "},
      {head + "'accepted'\nuntil = 2026-01-01\nreason = 7", "b.toml:5: reason must be a text"},
      {head + "'duplicate'", "b.toml:3: state \"duplicate\" needs the key duplicate-of"},
      {head + "'fixed'\nfixed-in = 'soon'", "b.toml:4: \"soon\" is neither a version"},
      {head + "'open'\nflags = \"a\\nb\"", "b.toml:4: flags must be a text in quotes, on one line"},
      {head + "'open'\nbuilds = 'x'", "b.toml:4: builds must be a list"},
      {head + "'open'\nbuilds = [\n'x',\n7]", "b.toml:6: builds must hold texts"},
      {head + "'open'\nfirst-seen = 'x'", "b.toml:4: first-seen must be a table"},
      {head + "'open'\n[first-seen]\nday = 'x'",
       "b.toml:5: there is no key \"day\"; did you mean "},
      {head + "'open'\n[last-seen]\ndate = 'x'", "b.toml:5: date must be a time"},
      {head + "'open'\n[last-seen]\ndate = 2026-01-01T00:00:00+02:00", "b.toml:5: date must be"},
      {head + "'open'\n[reproduced]\nshown = 6\nof = 5", "shown must not be more than of"},
      {head + "'open'\n[reproduced]\nof = -1", "b.toml:5: of must be a whole number"},
      {head + "'open'\n[reproduced]\nof = 1.5", "b.toml:5: of must be a whole number"},
      {"title = 'a'\ntitle = 'b'", "b.toml:2: "},
      {head + "'open'\naffected = '17'", "b.toml:4: affected: \"17\" is not a range of versions, "},
      {head + "'open'\naffected = '[17,18) [18,17)'", "b.toml:4: affected: \"[18,17)\" is not"},
      {head + "'open'\naffected = ''", "b.toml:4: affected: \"\" names no versions"},
      {head + "'open'\naffected = [17]", "b.toml:4: affected must be a text in quotes"},
      {head + "'open'\naffected-libraries = ['x', 'y [1,2)']",
       "b.toml:4: affected-libraries: \"x\" "},
      {head + "'open'\naffected-libraries = ['y 1']", "b.toml:4: affected-libraries: \"1\" is not"},
      {head + "'open'\nwalkers = ['agct',\n'agtc']",
       "b.toml:5: walkers: there is no walker \"agtc\"; did you mean \"agct\"?"},
      {head + "'open'\nclass = '1'", "b.toml:4: class must be a whole number"},
      {head + "'open'\n[crash]\nfunction = ['f']",
       "b.toml:5: there is no key \"function\"; did you mean \"functions\"?"},
      {head + "'open'\n[crash]\ndebug-only = 1", "b.toml:5: debug-only must be true or false"},
      {head + "'open'\ncrashs = 1",
       "b.toml:4: there is no key \"crashs\"; did you mean \"crash\"?"},
      {head + "'open'\naffected = '[17,18)'\n[proof]\nwith = '17'\nwithout = '21'",
       "b.toml:5: of proof, with must be a version of affected, and without one of fixed-in"},
      {head + "'fixed'\nfixed-in = '21'\naffected = '[17,18)'\n[proof]\nwithout = '21'",
       "b.toml:6: of proof, with must be"},
  };
  for (const auto& [text, refusal] : cases) {
    EXPECT_THAT(ParseBug(text, "b.toml"),
                FailsWith(ExitCode::kBadInput, AllOf(HasSubstr(refusal), Not(HasSubstr("\n")))))
        << text;
  }
}

}  // namespace
}  // namespace walkhammer
