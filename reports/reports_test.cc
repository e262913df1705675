// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/findings/crash_folder.h"
#include "harness/request/scene_table.h"
#include "harness/request/walker_table.h"
#include "reports/report_testing.h"

namespace walkhammer {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class ReportTest : public ReportedRun {
 protected:
  int64_t Add(const char* oracle, const char* outcome, const char* title, Realism realism) {
    return run_->AddFinding(TestRecord(oracle, outcome, title, realism)).value().bucket;
  }
  void Finish(const RunTotals& totals = TestTotals(), RunStatus status = RunStatus::kCleanEnd,
              const char* reason = "") {
    EXPECT_TRUE(run_->Finish(status, totals, reason).ok());
    run_.reset();
  }
  void ExpectVerdict(const char* line, ExitCode exit) {
    EXPECT_EQ(FirstLine(), line);
    EXPECT_EQ(Summary().verdict.exit, exit);
  }
};

TEST_F(ReportTest, CleanRun) {
  Finish();
  ExpectVerdict("CLEAN: no findings", ExitCode::kClean);
}

// The bucket has a request, and no replay was recorded.
TEST_F(ReportTest, SaysWhatThereWasNoTimeToConfirm) {
  Add("crash", "fault", "b", Realism::kGenuine);
  RunTotals totals = TestTotals();
  totals.settle = {3000, 3100, 1, 2};
  Finish(totals);
  EXPECT_THAT(Text(),
              HasSubstr("confirming      3.1 s, of at most 3.0 s, with minimising; 1 bucket "
                        "not replayed; 2 buckets not minimised: no time left\n"));
  EXPECT_EQ(
      ReadJson()["totals"]["settle"],
      json::parse(R"({"most_ms": 3000, "took_ms": 3100, "unconfirmed": 1, "unminimized": 2})"));
}

TEST_F(ReportTest, WithTimeEnoughNothingIsLeftToSay) {
  Add("crash", "fault", "b", Realism::kGenuine);
  RunTotals totals = TestTotals();
  totals.settle = {3000, 1000, 0, 0};
  Finish(totals);
  EXPECT_THAT(Text(), HasSubstr("1.0 s, of at most 3.0 s, with minimising\n"));
  EXPECT_THAT(Text(), Not(HasSubstr("no time left")));
}

TEST_F(ReportTest, InterestingAloneIsClean) {
  Add("method-id", "unloaded", "a", Realism::kGenuine);
  Finish(TestTotals(), RunStatus::kInterrupted, "SIGINT");
  ExpectVerdict("CLEAN: 1 new Interesting bucket; the run was interrupted: SIGINT",
                ExitCode::kClean);
}

TEST_F(ReportTest, ForbiddenIsAFinding) {
  Add("method-id", "unloaded", "a", Realism::kGenuine);
  Add("crash", "fault", "b", Realism::kGenuine);
  Add("crash", "fault", "c", Realism::kGenuine);
  Finish();
  ExpectVerdict("FINDINGS: 2 new Forbidden buckets; 1 new Interesting bucket", ExitCode::kFindings);
}

TEST_F(ReportTest, AWalkerThatIsNeverRightIsAFinding) {
  RunTotals totals = TestTotals();
  totals.pristine_true = 0;
  ASSERT_TRUE(run_->Finish(RunStatus::kCleanEnd, totals).ok());
  ExpectVerdict("FINDINGS: none of 12 undisturbed walks returned the true stack; no findings",
                ExitCode::kFindings);
  totals.successful = 0;
  ASSERT_TRUE(run_->Finish(RunStatus::kInterrupted, totals).ok());
  ExpectVerdict(
      "FINDINGS: none of 1,234,567 walks returned a frame; no findings; the run was interrupted",
      ExitCode::kFindings);
  Add("truth", "no-frames", "b", Realism::kGenuine);
  EXPECT_THAT(FirstLine(), testing::StartsWith("FINDINGS: 1 new Forbidden bucket"));
}

TEST_F(ReportTest, TooFewWalksSayNothing) {
  RunTotals totals = TestTotals();
  for (const uint64_t walks : {0, 1, 99, 100}) {
    totals.walks = totals.successful = walks;
    ASSERT_TRUE(run_->Finish(RunStatus::kCleanEnd, totals).ok());
    EXPECT_EQ(Summary().verdict.word, walks < 100 ? "VACUOUS" : "CLEAN") << walks;
  }
  totals.walks = totals.successful = 99;
  ASSERT_TRUE(run_->Finish(RunStatus::kCleanEnd, totals).ok());
  ExpectVerdict(
      "VACUOUS: only 99 walks were made, and a verdict requires 100, so this run says nothing "
      "about the walker (no findings)",
      ExitCode::kToolFailed);
  totals.walks = 100;
  totals.pristine_walks = 0;
  ASSERT_TRUE(run_->Finish(RunStatus::kCleanEnd, totals).ok());
  EXPECT_THAT(FirstLine(), testing::StartsWith("VACUOUS: no scene was walked undisturbed"));
  // A finding counts, however few walks there were.
  Add("crash", "fault", "b", Realism::kGenuine);
  EXPECT_THAT(FirstLine(), testing::StartsWith("FINDINGS: "));
}

TEST_F(ReportTest, FailedRunSaysWhy) {
  Finish(TestTotals(), RunStatus::kFailed, "the disk is full");
  ExpectVerdict("FAILED: the run failed: the disk is full; no findings", ExitCode::kToolFailed);
}

TEST_F(ReportTest, RunThatIsStillGoingOrWasKilled) {
  EXPECT_EQ(FirstLine(),
            "VACUOUS: so far nothing was walked, so this run says nothing about the walker "
            "(no findings); the run is still going");
  ASSERT_TRUE(run_->SaveProgress(TestTotals()).ok());
  EXPECT_EQ(FirstLine(), "CLEAN: no findings; the run is still going");
  EXPECT_EQ(ReadJson()["writer_alive"], true);
  run_.reset();  // no Finish, as in a run that is killed
  EXPECT_EQ(FirstLine(), "CLEAN: no findings; the run was killed before it could finish");
  EXPECT_EQ(ReadJson()["status"], "running");
  EXPECT_EQ(ReadJson()["writer_alive"], false);
}

TEST_F(ReportTest, BucketsInOrderWithInputAndConfirmation) {
  Add("method-id", "unloaded", "third", Realism::kEditedStack);
  Add("crash", "fault", "second", Realism::kEditedStack);
  const int64_t first = Add("crash", "fault", "first", Realism::kShifted);
  ASSERT_TRUE(run_->SetConfirmed(first, 2, 3).ok());
  ASSERT_TRUE(run_->SetSeen(first, 12345).ok());
  CrashCase crash;
  crash.record = TestRecord("crash", "fault", "first", Realism::kShifted);
  const std::string folder = WriteCrashFolder(dir_.Under("run"), crash).value();
  Finish();
  const std::string text = Text();
  EXPECT_LT(text.find("      first\n"), text.find("      second\n"));
  EXPECT_LT(text.find("      second\n"), text.find("      third\n"));
  EXPECT_THAT(text, HasSubstr("Forbidden    shifted           replays 2/3     12,345x\n"));
  EXPECT_THAT(text, HasSubstr("Forbidden    edited-stack      not replayed    1x\n"));
  EXPECT_THAT(text, HasSubstr(dir_.Under("run/") + folder + "/input.walk\n"));
  EXPECT_THAT(text, HasSubstr("no input was kept"));
  const json report = ReadJson();
  ASSERT_EQ(report["buckets"].size(), 3u);
  EXPECT_EQ(report["buckets"][0]["title"], "first");
  EXPECT_EQ(report["buckets"][0]["confirmed"], 2);
  EXPECT_EQ(report["buckets"][0]["tries"], 3);
  EXPECT_EQ(report["buckets"][0]["count"], 12345);
  EXPECT_EQ(report["buckets"][0]["input"], folder + "/input.walk");
  EXPECT_TRUE(report["buckets"][1]["input"].is_null());
  EXPECT_EQ(report["buckets"][0]["findings"][0]["fault"]["signal"], 11);
  EXPECT_EQ(report["buckets"][0]["findings"][0]["request"], "walk 1\n");
}

TEST_F(ReportTest, OfAFaultOfAStrangerOnlyASmallOneIsParsed) {
  FindingRecord record = TestRecord("crash", "fault", "t", Realism::kGenuine);
  record.fault = "[" + std::string(100'000, ' ') + "1]";
  ASSERT_TRUE(run_->AddFinding(record).ok());
  Finish();
  EXPECT_TRUE(ReadJson()["buckets"][0]["findings"][0]["fault"].is_string());
}

TEST_F(ReportTest, CallsOfAStrangerAreCutAndSayThatTheyAre) {
  FindingRecord record = TestRecord("crash", "fault", "t", Realism::kGenuine);
  record.frames.clear();
  for (int i = 0; i < 100'000; i++) record.frames += "a.B.c()V @ 3\n";
  record.native = std::string(2'000'000, 'n');
  ASSERT_TRUE(run_->AddFinding(record).ok());
  Finish();
  const json finding = ReadJson()["buckets"][0]["findings"][0];
  EXPECT_THAT(finding["frames"].get<std::string>(), testing::EndsWith("\n... and 99,900 more\n"));
  EXPECT_EQ(finding["native"], std::string(300, 'n') + " ... (cut)\n");
}

TEST_F(ReportTest, CallsAreWholeInJson) {
  FindingRecord record = TestRecord("crash", "fault", "t", Realism::kGenuine);
  record.native = std::string(1000, 'n') + "\n\n";
  ASSERT_TRUE(run_->AddFinding(record).ok());
  Finish();
  EXPECT_EQ(ReadJson()["buckets"][0]["findings"][0]["native"], record.native);
}

TEST_F(ReportTest, RegradingIsVisible) {
  FindingRecord record = TestRecord("crash", "fault", "t", Realism::kGenuine);
  record.grade = Grade::kAcceptable;
  ASSERT_TRUE(run_->AddFinding(record).ok());
  Finish();
  EXPECT_THAT(Text(), HasSubstr("crash/fault (regraded, was Acceptable)\n"));
  EXPECT_EQ(ReadJson()["buckets"][0]["recorded_grade"], "Acceptable");
  EXPECT_EQ(ReadJson()["buckets"][0]["grade"], "Forbidden");
}

TEST_F(ReportTest, ReturnCodesByState) {
  const auto shared = std::make_unique<SharedState>();
  shared->counts[0][0][kStateInJava][0][kCodeFrames] = 600'000;
  shared->counts[0][1][kStateInJava][1][kCodeFrames] = 100'000;
  shared->counts[0][0][kStateInJava][0][6] = 299'999;
  shared->counts[0][0][kStateInJava][0][kCodeCrash] = 1;
  shared->counts[0][0][kStateInVm][0][15] = 3;  // -14: AsyncGetCallTrace declares no such code
  ASSERT_TRUE(run_->SaveCounts(CountRowsOf(*shared)).ok());
  Finish();
  const std::string text = Text();
  const std::string walker = AllWalkers()[0].name;
  EXPECT_THAT(text, HasSubstr("  " + walker +
                              " in in_Java: 1,000,000 walks\n"
                              "      70.00 %  frames\n      30.00 %      -5  " +
                              CodeName(AllWalkers()[0], -5) + "\n      <0.01 %   crash\n"));
  EXPECT_THAT(text, HasSubstr("    100.00 %     -14  not declared\n"));
  const json report = ReadJson();
  EXPECT_EQ(report["counts"].size(), 5u);
  EXPECT_EQ(report["codes_by_state"][0]["state"], "in_Java");
  EXPECT_EQ(report["codes_by_state"][0]["walks"], 1'000'000);
  EXPECT_EQ(report["codes_by_state"][0]["codes"][0]["code"], "frames");
  EXPECT_DOUBLE_EQ(report["codes_by_state"][0]["codes"][0]["share"], 0.7);
}

TEST_F(ReportTest, ScenesTotalsAndIdentity) {
  const auto shared = std::make_unique<SharedState>();
  shared->scenes[0].available = true;
  shared->scenes[0].pristine_true = true;
  shared->scenes[0].truth_frames = 33;
  shared->scenes[1].available = true;
  SetField(shared->scenes[1].reason, "frame 3 differs");
  SetField(shared->scenes[2].reason, "needs JDK 21");
  for (int i : {0, 1, 2}) shared->scenes[i].tried = 1;  // the others were not asked for
  ASSERT_TRUE(run_->SaveScenes(SceneRowsOf(*shared)).ok());
  Finish();
  const std::string text = Text();
  for (const char* part :
       {": frame 3 differs\n", "not available: needs JDK 21\n", "true, 33 frames\n",
        "not walked correctly", "1,234,567, 617,283 a second\n", "1,000,000 (81.00 %)\n",
        "11 of 12\n", "3 contained\n", "2 started, 1 retired, 0 died\n", "ffffffffffffffff\n",
        "Vendor VM 25\n", "00ff\n", "random, seed 18364758544493064720\n", "ASLR off\n",
        "walkhammer fuzz --seed 'x'\n"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(text, Not(HasSubstr(std::string(AllScenes()[3].name) + "  ")));
  const json report = ReadJson();
  EXPECT_EQ(report["schema"], 1);
  EXPECT_EQ(report["identity"]["seed"], "18364758544493064720");
  EXPECT_EQ(report["identity"]["aslr"], false);
  EXPECT_EQ(report["totals"]["request_hash"], "ffffffffffffffff");
  EXPECT_EQ(report["totals"]["pristine_true"], 11);
  EXPECT_EQ(report["scenes"][2]["reason"], "needs JDK 21");
  EXPECT_EQ(report["progress"].size(), 1u);
  EXPECT_EQ(report["verdict"]["word"], "CLEAN");
  EXPECT_EQ(report["verdict"]["exit_code"], 0);
}

TEST_F(ReportTest, WhatLimitsTheVerdictStandsBesideIt) {
  Save<NoteRow>(kNoCell,
                {{kNoCell, NoteKind::kInForce, "ASLR control", 0, ""},
                 {kNoCell, NoteKind::kInForce, "interposition", 0, ""},
                 {kNoCell, NoteKind::kNotInForce, "interposition", 0, "jemalloc\nis first"},
                 {kNoCell, NoteKind::kIncident, "killed from outside", 2, ""},
                 {kNoCell, NoteKind::kDropped, "findings", 12345, "the ring was full"}});
  Finish();
  EXPECT_THAT(Text(), testing::StartsWith("CLEAN: no findings\n"
                                          "  dropped: 12,345 findings: the ring was full\n"
                                          "  not in force: interposition: jemalloc?is first\n"
                                          "  incident: 2x killed from outside\n\n"));
  EXPECT_THAT(Text(), HasSubstr("  in force        ASLR control\n"));
  const json report = ReadJson();
  ASSERT_EQ(report["notes"].size(), 5u);
  EXPECT_EQ(report["notes"][2]["kind"], "not-in-force");
  EXPECT_EQ(report["notes"][4]["count"], 12345);
  EXPECT_TRUE(report["notes"][4]["cell"].is_null());
}

TEST_F(ReportTest, JsonTakesTextThatIsNoUtf8) {
  FindingRecord record = TestRecord("crash", "fault", "t", Realism::kGenuine);
  record.detail = "\xff\xfe";
  record.fault = "no JSON {";
  ASSERT_TRUE(run_->AddFinding(record).ok());
  Finish();
  EXPECT_EQ(ReadJson()["buckets"][0]["findings"][0]["fault"], "no JSON {");
}

// An override of the direction of text would reorder what a terminal shows after it.
TEST_F(ReportTest, JsonIsAscii) {
  Add("crash", "fault", "a \u202e", Realism::kGenuine);
  Finish();
  const std::string text = JsonReport(Opened(), Summary()).value();
  EXPECT_THAT(text, HasSubstr("\"title\": \"a \\u202e\""));
  EXPECT_THAT(text, Not(HasSubstr("\u202e")));
}

// Writers of JSON call themselves for what is nested.
TEST_F(ReportTest, JsonTakesFaultsThatAreNestedWithoutEnd) {
  FindingRecord record = TestRecord("crash", "fault", "t", Realism::kGenuine);
  record.fault = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  ASSERT_TRUE(run_->AddFinding(record).ok());
  Finish();
  EXPECT_EQ(ReadJson()["buckets"][0]["findings"].size(), 1u);
}

TEST_F(ReportTest, RatesOfAbsurdTotalsAreNumbers) {
  RunTotals totals = TestTotals();
  totals.walks = INT64_MAX;
  totals.time_ms = 1;
  Finish(totals);
  EXPECT_THAT(Text(), HasSubstr("9,223,372,036,854,775,807, 1,000,000,000,000,000,000 a second"));
}

// What a run folder holds cannot pass for lines of the report.
TEST_F(ReportTest, NoTextMakesLinesOfItsOwn) {
  FindingRecord record = TestRecord("crash", "fault", "t", Realism::kGenuine);
  for (std::string* text : {&record.signature.title, &record.outcome, &record.oracle})
    *text += "\nFORGED";
  ASSERT_TRUE(run_->AddFinding(record).ok());
  ASSERT_TRUE(run_->SetVm("VM\nFORGED", "GC\rFORGED").ok());
  const std::vector<CountRow> counts = {
      {"agct\nFORGED", "c2", "in_Java\nFORGED", "code", "-5\nFORGED", 3}};
  ASSERT_TRUE(run_->SaveCounts(counts).ok());
  CoverageRows code = TestCoverage();
  code.file = "f\nFORGED";
  code.functions[0].name += "\nFORGED";
  ASSERT_TRUE(run_->SetCoverage(code).ok());
  Finish(TestTotals(), RunStatus::kFailed, "why\nFORGED");
  const std::string text = Text();
  EXPECT_THAT(text, HasSubstr("FORGED"));
  EXPECT_THAT(text, Not(HasSubstr("\nFORGED")));
}

}  // namespace
}  // namespace walkhammer
