// SPDX-License-Identifier: Apache-2.0
// The gate over synthetic runs: each kind of change is found where it is, and none where it is not.
#include "reports/gate.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "harness/base/testing/fails_with.h"
#include "harness/store/merge.h"
#include "reports/gate_testing.h"

namespace walkhammer {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Gate : public MadeRuns {
 protected:
  std::string AddCandidate(MadeRun run) {
    run.jdk = "/jdks/jdk-b";
    return Add(run);
  }
  GateVerdict Judge(const std::vector<MadeRun>& baseline, const std::vector<MadeRun>& candidate,
                    const GatePolicy& policy = {}) {
    std::vector<std::string> before, now;
    for (const MadeRun& run : baseline) before.push_back(Add(run));
    for (const MadeRun& run : candidate) now.push_back(AddCandidate(run));
    return JudgeGate(ReadGateSide(before).value(), ReadGateSide(now).value(), policy);
  }
  GateVerdict Judge(const MadeRun& baseline, const MadeRun& candidate,
                    const GatePolicy& policy = {}) {
    return Judge(std::vector{baseline}, std::vector{candidate}, policy);
  }
};

TEST_F(Gate, MergedRunsAreJudgedAsTheRunsThemselves) {
  const MadeRun now{
      .failing = 0.02, .ns = 1300, .buckets = {{}, {.title = "crash in g", .every = 7}}};
  std::vector<std::string> sides[2], merged;
  for (int i = 0; i < 3; i++) {
    sides[0].push_back(Add({}));
    sides[1].push_back(AddCandidate(now));
  }
  for (const auto& side : sides) {
    merged.push_back(temp_.Under(("merged" + std::to_string(merged.size())).c_str()));
    ASSERT_TRUE(MergeRuns(side, merged.back()).ok());
  }
  const auto text = [](const std::vector<std::string>& baseline,
                       const std::vector<std::string>& candidate) {
    std::string all =
        GateText(JudgeGate(ReadGateSide(baseline).value(), ReadGateSide(candidate).value(), {}));
    // Where the input lies differs.
    const std::string path = candidate.front() + "/";
    for (size_t at; (at = all.find(path)) != std::string::npos;) all.erase(at, path.size());
    return all;
  };
  const std::string apart = text(sides[0], sides[1]);
  EXPECT_THAT(apart, HasSubstr("3 + 3 runs"));
  EXPECT_THAT(apart, HasSubstr("REGRESSION"));
  EXPECT_EQ(text({merged[0]}, {merged[1]}), apart);
  EXPECT_THAT(text({merged[0]}, {merged[0]}), HasSubstr("PASS"));
}

std::vector<GateKind> KindsOf(const GateVerdict& verdict) {
  std::vector<GateKind> kinds;
  for (const GateChange& change : verdict.changes) kinds.push_back(change.kind);
  return kinds;
}

void ExpectRegression(const GateVerdict& verdict, GateKind kind) {
  EXPECT_EQ(verdict.word, "REGRESSION");
  EXPECT_EQ(verdict.exit, ExitCode::kFindings);
  ASSERT_THAT(KindsOf(verdict), ElementsAre(kind)) << GateText(verdict);
  EXPECT_EQ(verdict.changes[0].effect, GateEffect::kFail);
  EXPECT_THAT(GateText(verdict), HasSubstr(verdict.changes[0].what));
  EXPECT_THAT(GateLine(verdict), HasSubstr(GateKindWord(kind)));
}

void ExpectPass(const GateVerdict& verdict) {
  EXPECT_EQ(verdict.word, "PASS") << GateText(verdict);
  EXPECT_EQ(verdict.exit, ExitCode::kClean);
}

TEST_F(Gate, TheSameBuildPasses) {
  const MadeRun run{.buckets = {{}}, .reached = 3};
  const GateVerdict verdict = Judge({run, run}, {run, run});
  ExpectPass(verdict);
  EXPECT_THAT(verdict.changes, IsEmpty());
  EXPECT_THAT(verdict.better, IsEmpty());
  EXPECT_THAT(verdict.notes, IsEmpty());
  EXPECT_EQ(verdict.codes.compared, 1u);
  EXPECT_EQ(verdict.times.compared, 1u);
  EXPECT_EQ(verdict.candidate.walks, 2u * 60 * 25000);
  EXPECT_THAT(GateLine(verdict), HasSubstr("nothing is worse"));
  EXPECT_THAT(GateLine(verdict), HasSubstr("at most 1 in a million"));
}

TEST_F(Gate, FindsACodeThatIsMoreFrequent) {
  const GateVerdict verdict = Judge(MadeRun(), {.failing = 0.013});
  ExpectRegression(verdict, GateKind::kCodes);
  EXPECT_EQ(verdict.changes[0].what,
            "agct, torture:mixed default, in_Java, nmethod: -5 unknown_Java");
  EXPECT_THAT(verdict.changes[0].details, HasSubstr("x1.3"));
}

// Codes in C code differ more from run to run: one run on each side shows no such rise.
TEST_F(Gate, ARiseInCCodeWantsMore) {
  const MadeRun before{.region = "library"};
  ExpectPass(Judge(before, {.failing = 0.013, .region = "library"}));
  ExpectRegression(Judge(before, {.failing = 0.03, .region = "library"}), GateKind::kCodes);
}

TEST_F(Gate, FindsACodeThatTheBaselineNeverHad) {
  ExpectRegression(Judge(MadeRun{.failing = 0}, {.failing = 0.002}), GateKind::kCodes);
}

TEST_F(Gate, ASmallRiseIsNone) {
  ExpectPass(Judge(MadeRun(), {.failing = 0.0105}));
  // Three times as much, of next to nothing.
  ExpectPass(Judge(MadeRun{.failing = 0.0001}, {.failing = 0.0003}));
}

TEST_F(Gate, RunsThatDifferAmongThemselvesMakeARiseNone) {
  seed_ = 50;
  const MadeRun before{.run_spread = 0.5}, now{.failing = 0.013, .run_spread = 0.5};
  ExpectPass(Judge({before, before, before, before}, {now, now, now, now}));
}

TEST_F(Gate, AFallIsBetter) {
  const GateVerdict verdict = Judge({.failing = 0.02}, MadeRun());
  ExpectPass(verdict);
  ASSERT_THAT(verdict.better, SizeIs(1));
  EXPECT_THAT(verdict.better[0], HasSubstr("-5 unknown_Java"));
}

TEST_F(Gate, FindsSlowerWalksAndPraisesFasterOnes) {
  MadeRun before, now{.ns = 1200};
  const GateVerdict slower = Judge({before, before, before}, {now, now, now});
  ExpectRegression(slower, GateKind::kSlower);
  EXPECT_THAT(slower.changes[0].details, testing::ContainsRegex("us [(]x1[.](19|2|21), "));
  const GateVerdict faster = Judge({now, now, now}, {before, before, before});
  ExpectPass(faster);
  EXPECT_THAT(faster.better, SizeIs(1));
  now.ns = 1050;
  ExpectPass(Judge({before, before, before}, {now, now, now}));
}

// All walks together would take longer, since short ones are rarer, though none is slower.
TEST_F(Gate, WalksOfLikeDepthAreCompared) {
  const MadeRun before{.periods = 15, .brief = 0.5};
  MadeRun now{.periods = 15, .brief = 0.1};
  const GateVerdict alike = Judge({before, before, before}, {now, now, now});
  ExpectPass(alike);
  EXPECT_EQ(alike.times.compared, 2u);
  now.ns = 1300;
  const GateVerdict slower = Judge({before, before, before}, {now, now, now});
  EXPECT_THAT(KindsOf(slower), ElementsAre(GateKind::kSlower, GateKind::kSlower));
  EXPECT_THAT(GateText(slower),
              AllOf(HasSubstr("walks of agct, torture:mixed default, 2 to 3 frames\n"),
                    HasSubstr("walks of agct, torture:mixed default, 8 to 15 frames\n")));
}

TEST(TimedWalks, TextTellsTheDepth) {
  const auto text = [](int64_t least_frames) {
    return TimedWalks{"agct", "c1", least_frames}.Text();
  };
  EXPECT_EQ(text(0), "walks of agct, c1");
  EXPECT_EQ(text(1), "walks of agct, c1, at most 1 frame");
  EXPECT_EQ(text(64), "walks of agct, c1, 64 to 127 frames");
  EXPECT_EQ(text(128), "walks of agct, c1, 128 or more frames");
}

// A time within a slot never passes the next slot's least time.
TEST_F(Gate, TimesFillASlotUpToTheNext) {
  constexpr int kSlot = 15;
  ASSERT_EQ(TimeSlotBegin(kSlot), 124u);
  ASSERT_EQ(TimeSlotBegin(kSlot + 1), 128u);
  const auto fastest_tenth = [&](uint64_t in_slot) {
    const std::string dir = temp_.Under(("slot" + std::to_string(in_slot)).c_str());
    auto writer = std::optional(RunWriter::Create(dir, TestIdentity()));
    RunWriter& run = writer->value();
    const CellRow cell = MadeCell({});
    EXPECT_TRUE(run.SaveCell(cell).ok());
    Periods periods;
    periods.End(1000, {1000,
                       {},
                       {{"agct", cell.label, 1, 124, in_slot},
                        {"agct", cell.label, 1, 128, 1000 - in_slot}},
                       {}});
    EXPECT_TRUE(run.SavePeriods(0, periods).ok());
    EXPECT_TRUE(run.Finish(RunStatus::kCleanEnd, TestTotals()).ok());
    writer.reset();
    return std::exp(ReadGateSide({dir}).value().times.begin()->second[0][0]);
  };
  EXPECT_NEAR(fastest_tenth(1000), 124.4, 0.01);
  EXPECT_NEAR(fastest_tenth(200), 126, 0.01);
  EXPECT_NEAR(fastest_tenth(101), 127.96, 0.01);
  EXPECT_NEAR(fastest_tenth(99), 128.01, 0.01);
}

TEST_F(Gate, FindsANewCrashAHangAndInvalidFrames) {
  const MadeRun before{.buckets = {{.title = "crash in known"}}};
  MadeRun now{.buckets = {{.title = "crash in known"}, {.title = "crash in fresh"}}};
  const GateVerdict verdict = Judge(before, now);
  ExpectRegression(verdict, GateKind::kNewCrash);
  EXPECT_EQ(verdict.changes[0].what, "crash in fresh");
  EXPECT_THAT(verdict.changes[0].input, HasSubstr("/crashes/"));
  now.buckets[1] = {.oracle = "hang", .outcome = "hang", .title = "hang in f"};
  ExpectRegression(Judge(before, now), GateKind::kNewHang);
  now.buckets[1] = {.oracle = "method-id", .outcome = "unknown", .title = "method-id/unknown"};
  ExpectRegression(Judge(before, now), GateKind::kNewFinding);
}

TEST_F(Gate, ACrashThatIsRareOrDoesNotReplayWarns) {
  const MadeRun before;
  const GateVerdict rare = Judge(before, {.buckets = {{.every = 60}}});
  ExpectPass(rare);
  EXPECT_THAT(KindsOf(rare), ElementsAre(GateKind::kUnsure));
  EXPECT_THAT(rare.changes[0].details, HasSubstr("may be chance"));
  const GateVerdict vain = Judge(before, {.buckets = {{.confirmed = 0}}});
  ExpectPass(vain);
  EXPECT_THAT(KindsOf(vain), ElementsAre(GateKind::kUnsure));
  // Nothing to replay, but again and again.
  ExpectRegression(Judge(before, {.buckets = {{.confirmed = 0, .tries = 0}}}), GateKind::kNewCrash);
}

TEST_F(Gate, ReplaysOnBothSidesDecide) {
  const MadeRun now{.buckets = {{.every = 60, .confirmed = 0}}};
  const GateSide baseline = ReadGateSide({Add({})}).value(),
                 candidate = ReadGateSide({AddCandidate(now)}).value();
  std::string asked;
  const auto judge = [&](std::optional<ReplayCounts> counts) {
    return JudgeGate(baseline, candidate, {}, [&, counts](const std::string& input) {
      asked = input;
      return counts;
    });
  };
  const GateVerdict fresh = judge(ReplayCounts{10, 0, 3});
  ExpectRegression(fresh, GateKind::kNewCrash);
  EXPECT_THAT(asked, HasSubstr("/input.walk"));
  EXPECT_THAT(
      GateLine(fresh),
      HasSubstr("; new-crash: crash in f (3 of 10 against 0 of 10, genuine, " + asked + "); "));
  EXPECT_THAT(fresh.changes[0].details, HasSubstr("of 1 run, genuine, replayed 0 of 5 times"));
  const GateVerdict old = judge(ReplayCounts{10, 1, 10});
  ExpectPass(old);
  EXPECT_THAT(old.changes, IsEmpty());
  EXPECT_THAT(old.notes, testing::Contains(HasSubstr("is not new")));
  for (const auto& counts : {std::optional<ReplayCounts>(), {ReplayCounts{10, 0, 0}}}) {
    const GateVerdict open = judge(counts);
    ExpectPass(open);
    EXPECT_THAT(KindsOf(open), ElementsAre(GateKind::kUnsure));
  }
}

TEST_F(Gate, AFindingWithoutARequestHasNoPath) {
  const MadeRun now{.buckets = {{.confirmed = 0, .tries = 0, .has_input = false}}};
  bool asked = false;
  const GateVerdict verdict =
      JudgeGate(ReadGateSide({Add({})}).value(), ReadGateSide({AddCandidate(now)}).value(), {},
                [&](const std::string&) -> std::optional<ReplayCounts> {
                  asked = true;
                  return std::nullopt;
                });
  ExpectRegression(verdict, GateKind::kNewCrash);
  EXPECT_FALSE(asked);
  EXPECT_EQ(verdict.changes[0].input, "");
  EXPECT_THAT(GateLine(verdict), HasSubstr("crash in f (not replayed, genuine); "));
  EXPECT_THAT(GateText(verdict), Not(HasSubstr(".walk")));
}

TEST_F(Gate, TheLineNamesThreeChanges) {
  const MadeRun now{.buckets = {{.title = "crash in a"},
                                {.title = "crash in b"},
                                {.title = "crash in c"},
                                {.title = "crash in d"}}};
  const std::string line = GateLine(Judge(MadeRun(), now));
  EXPECT_THAT(
      line, testing::ContainsRegex("crash in c [(]replayed 5 of 5 times, genuine, /[^ ]*[.]walk[)] "
                                   "and 1 more; "));
  EXPECT_THAT(line, Not(HasSubstr("crash in d")));
}

TEST_F(Gate, ACrashThatIsGoneIsBetter) {
  const GateVerdict verdict =
      Judge({.buckets = {{}, {.title = "crash in rare", .every = 60}}}, MadeRun());
  ExpectPass(verdict);
  ASSERT_THAT(verdict.better, SizeIs(1));
  EXPECT_THAT(verdict.better[0], HasSubstr("crash in f"));
}

TEST_F(Gate, FindsALostWorkload) {
  const MadeRun before, now{.status = CellStatus::kDied}, other{.workload = "other"};
  ExpectRegression(Judge(before, now), GateKind::kLostWorkload);
  ExpectPass(Judge(now, before));
  ExpectRegression(Judge({before, other}, {before}), GateKind::kLostWorkload);
}

TEST_F(Gate, WarnsOfLostCoverage) {
  const MadeRun before{.reached = 6}, now{.reached = 4};
  const GateVerdict verdict = Judge(before, now);
  ExpectPass(verdict);
  ASSERT_THAT(KindsOf(verdict), ElementsAre(GateKind::kLostCoverage));
  EXPECT_THAT(verdict.changes[0].details, HasSubstr("nmethod::is_alive() const"));
  EXPECT_THAT(Judge(now, before).changes, IsEmpty());
  EXPECT_THAT(Judge(now, now).changes, IsEmpty());
}

TEST_F(Gate, ThePolicySaysWhatFails) {
  const MadeRun before, now{.failing = 0.02};
  GatePolicy policy;
  policy.effects[static_cast<size_t>(GateKind::kCodes)] = GateEffect::kWarn;
  const GateVerdict warned = Judge(before, now, policy);
  ExpectPass(warned);
  EXPECT_THAT(warned.changes, SizeIs(1));
  policy.effects[static_cast<size_t>(GateKind::kCodes)] = GateEffect::kIgnore;
  EXPECT_THAT(Judge(before, now, policy).changes, IsEmpty());
  policy = {};
  policy.code_ratio = 3;
  EXPECT_THAT(Judge(before, now, policy).changes, IsEmpty());
}

TEST_F(Gate, NothingToCompareIsVacuous) {
  const MadeRun before, empty{.periods = 0};
  const GateVerdict apart = Judge(before, {.workload = "torture:other"});
  EXPECT_EQ(apart.word, "VACUOUS");
  EXPECT_EQ(apart.exit, ExitCode::kToolFailed);
  EXPECT_THAT(GateLine(apart), HasSubstr("in common"));
  const GateVerdict nothing = Judge(empty, before);
  EXPECT_EQ(nothing.word, "VACUOUS");
  EXPECT_THAT(nothing.why, HasSubstr("no walk of the baseline returned a frame"));
}

// What the baseline can and the candidate cannot is the clearest regression there is.
TEST_F(Gate, ACandidateThatDoesNotWalkFails) {
  const GateSide baseline = ReadGateSide({Add(MadeRun{})}).value();
  GateSide candidate = ReadGateSide({Add(MadeRun{})}).value();
  candidate.successful = 0;
  ExpectRegression(JudgeGate(baseline, candidate, {}), GateKind::kNoStacks);
  candidate.walks = 0;
  candidate.runs[0].status = RunStatus::kFailed;
  candidate.runs[0].reason = "the child died";
  const GateVerdict verdict = JudgeGate(baseline, candidate, {});
  ExpectRegression(verdict, GateKind::kCannotStart);
  EXPECT_THAT(verdict.changes[0].details, HasSubstr("the candidate's none: the child died"));
}

TEST_F(Gate, FarFewerSyntheticWalksASecondFail) {
  GateSide baseline = ReadGateSide({Add(MadeRun{})}).value(),
           candidate = ReadGateSide({Add(MadeRun{})}).value();
  for (GateSide* side : {&baseline, &candidate}) {
    side->runs[0].identity.engine = "random";
    side->runs[0].totals.walks = 1000000;
    side->runs[0].totals.walking_cpu_ms = 10000;
  }
  candidate.runs[0].totals.walks = 200000;
  ExpectPass(JudgeGate(baseline, candidate, {}));
  candidate.runs[0].totals.walks = 190000;
  const GateVerdict verdict = JudgeGate(baseline, candidate, {});
  ExpectRegression(verdict, GateKind::kFewerWalks);
  EXPECT_EQ(verdict.changes[0].details, "19,000 a second of CPU time, the baseline made 100,000");
  candidate.runs[0].totals.walking_cpu_ms = 1900;  // on a busy machine
  ExpectPass(JudgeGate(baseline, candidate, {}));
}

TEST_F(Gate, APassHasComparedSomething) {
  const MadeRun brief{.periods = 2};
  const GateVerdict verdict = Judge(brief, brief);
  EXPECT_EQ(verdict.word, "NOT ENOUGH DATA");
  EXPECT_EQ(verdict.exit, ExitCode::kToolFailed);
  EXPECT_THAT(verdict.why,
              HasSubstr("have enough data of agct, torture:mixed default (its runs took "));
  // A crash counts all the same.
  const MadeRun crashed{.periods = 2, .buckets = {{}, {}}};
  const GateVerdict fails =
      JudgeGate(ReadGateSide({Add(brief)}).value(), ReadGateSide({Add(crashed)}).value(), {},
                [](const std::string&) {
                  return ReplayCounts{10, 0, 10};
                });
  ExpectRegression(fails, GateKind::kNewCrash);
}

// A comparison of one walker and workload needs 1,000 walks of a state and region on each side, and
// 4 periods if each side has one run.
TEST_F(Gate, EachWorkloadHasComparedSomething) {
  const MadeRun full, enough{.workload = "torture:other", .periods = 4, .walks = 250};
  ExpectPass(Judge({full, enough}, {full, enough}));
  MadeRun fewer = enough;
  fewer.walks = 200;
  const GateVerdict verdict = Judge({full, enough}, {full, fewer});
  EXPECT_EQ(verdict.word, "NOT ENOUGH DATA");
  EXPECT_EQ(verdict.exit, ExitCode::kToolFailed);
  // 800 of 1,000 walks.
  const double seconds = static_cast<double>(TestTotals().time_ms) / 1000;
  EXPECT_THAT(verdict.why,
              HasSubstr(fmt::format(
                  " of agct, torture:other default (its runs took {} s each, and need {} s); make",
                  std::ceil(seconds), std::ceil(seconds / 0.8))));
  EXPECT_THAT(GateLine(verdict), HasSubstr("torture:other"));
  EXPECT_THAT(GateLine(verdict), Not(HasSubstr("torture:mixed")));
  MadeRun brief = enough;
  brief.periods = 3;
  brief.walks = 20000;
  EXPECT_EQ(Judge({full, brief}, {full, brief}).word, "NOT ENOUGH DATA");
  // Six times are enough without a walk more: those of the faster half of 11 periods.
  MadeRun timed = enough;
  timed.walks = 10;
  timed.periods = 11;
  ExpectPass(Judge({full, timed}, {full, timed}));
  timed.periods = 10;
  EXPECT_EQ(Judge({full, timed}, {full, timed}).word, "NOT ENOUGH DATA");
}

// An error code that neither side has is compared, too: there are walks enough to meet one.
TEST_F(Gate, NoErrorOnBothSidesIsAComparison) {
  const MadeRun run{.periods = 4, .walks = 250, .failing = 0};
  const GateVerdict verdict = Judge(run, run);
  ExpectPass(verdict);
  EXPECT_EQ(verdict.codes.compared, 0u);
}

// A guided engine walks what it likes: its codes and times say nothing of the build.
TEST_F(Gate, GuidedRunsAreComparedByWhatTheyFound) {
  for (const char* engine : {"libfuzzer", "afl"}) {
    const MadeRun before{.engine = engine};
    MadeRun now{.failing = 0.3, .ns = 3000, .engine = engine};
    const GateVerdict same = Judge({before, before}, {now, now});
    ExpectPass(same);
    EXPECT_THAT(same.notes, ElementsAre(HasSubstr("4 runs of a guided engine")));
    EXPECT_EQ(same.codes.compared + same.codes.not_enough, 0u);
    EXPECT_EQ(same.times.compared + same.times.not_enough, 0u);
    now.buckets = {{.title = "crash in fresh"}};
    ExpectRegression(Judge(before, now), GateKind::kNewCrash);
    // Beside it, other runs are compared as ever.
    const MadeRun random, worse{.failing = 0.02};
    ExpectRegression(Judge({before, random}, {before, worse}), GateKind::kCodes);
    const GateVerdict beside = Judge({before, random}, {before, random});
    ExpectPass(beside);
    EXPECT_EQ(beside.codes.compared, 1u);
    EXPECT_THAT(beside.notes,
                ElementsAre(HasSubstr("fewer than two"), HasSubstr("2 runs of a guided engine")));
    now.workload = "torture:other";
    EXPECT_EQ(Judge(before, now).word, "VACUOUS");
  }
}

TEST_F(Gate, LittleDataIsSaidToBeLittle) {
  const MadeRun run{.periods = 2};
  const GateVerdict verdict = Judge(run, run);
  EXPECT_EQ(verdict.codes.compared, 0u);
  EXPECT_EQ(verdict.codes.not_enough, 1u);
  EXPECT_EQ(verdict.times.not_enough, 1u);
  EXPECT_THAT(GateText(verdict), HasSubstr("0 compared, 1 without enough data"));
}

TEST_F(Gate, NotesWhatLimitsIt) {
  EXPECT_THAT(Judge(MadeRun(), MadeRun()).notes, ElementsAre(HasSubstr("assumed")));
  const MadeRun other{.jdk = "/jdks/jdk-c"};
  EXPECT_THAT(Judge({MadeRun(), other}, {MadeRun(), MadeRun()}).notes,
              ElementsAre(HasSubstr("differ in the JDK")));
}

TEST_F(Gate, ARunThatIsCutOffIsReadOrRefused) {
  const std::string dir = Add({}), file = dir + "/run.db";
  const auto size = std::filesystem::file_size(file);
  int refused = 0;
  for (uint64_t keep : {size - 1, size - 4096, size * 3 / 4, size / 2, size / 4, uint64_t{4096},
                        uint64_t{100}, uint64_t{0}}) {
    std::filesystem::resize_file(file, keep);
    const Result<GateSide> side = ReadGateSide({dir});
    if (side.ok()) continue;
    refused++;
    EXPECT_EQ(side.failure().code, ExitCode::kBadInput) << keep;
    EXPECT_EQ(side.failure().message.find('\n'), std::string::npos);
  }
  EXPECT_GT(refused, 0);
}

TEST_F(Gate, OneRunOfSeveralJdksIsRefused) {
  const std::string dir = Add({});
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open((dir + "/run.db").c_str(), &handle), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(handle,
                         "CREATE TEMP TABLE c AS SELECT * FROM cell;"
                         "UPDATE c SET position = 1, label = label || '2';"
                         "INSERT INTO cell SELECT * FROM c",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(handle);
  EXPECT_THAT(ReadGateSide({dir}), FailsWith(ExitCode::kBadInput, HasSubstr("one JDK each")));
}

TEST_F(Gate, ScenesThatNobodyAskedForAreNotCompared) {
  MadeRun run;
  run.scenes = {{"asked", true, true, 9, 3, ""},
                {"unset", false, false, 0, 0, "needs preview features"},
                {"other", false, false, 0, 0, ""}};
  const GateSide side = ReadGateSide({Add(run)}).value();
  EXPECT_THAT(side.scenes, ElementsAre("asked", "unset"));
  EXPECT_EQ(side.not_walked.at("unset"), "not available: needs preview features");
  EXPECT_FALSE(side.walked.contains("other"));
}

TEST_F(Gate, JsonSaysTheSame) {
  const GateVerdict verdict = Judge(MadeRun(), {.failing = 0.02});
  const std::string json = GateJsonText(verdict);
  for (const char* part : {"\"verdict\": \"REGRESSION\"", "\"kind\": \"codes\"", "\"exit_code\": 1",
                           "\"not_enough_data\": 0", "\"input\": null"})
    EXPECT_THAT(json, HasSubstr(part));
}

TEST_F(Gate, JsonIsAscii) {
  GateVerdict verdict;
  verdict.why = "a \u202e";  // would reorder what a terminal shows after it
  EXPECT_THAT(GateJsonText(verdict), HasSubstr("\"why\": \"a \\u202e\""));
}

}  // namespace
}  // namespace walkhammer
