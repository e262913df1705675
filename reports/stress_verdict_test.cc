// SPDX-License-Identifier: Apache-2.0
// What a verdict makes of the cells of a stress run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/stress_report_testing.h"

namespace walkhammer {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST_F(StressReport, CleanIfEveryCellPassed) {
  Cell(0, CellStatus::kPassed);
  Cell(1, CellStatus::kPassed);
  EXPECT_EQ(Finish(), RunStatus::kCleanEnd);
  EXPECT_EQ(FirstLine(), "CLEAN: no findings; 2 of 2 cells passed");
  EXPECT_EQ(Summary().verdict.exit, ExitCode::kClean);
}

// A walker that answers nothing to threads in Java is broken, whatever else it did right.
TEST_F(StressReport, AWalkerWithoutStacksOfThreadsInJavaIsAFinding) {
  Cell(0, CellStatus::kPassed);
  const std::string label = CellLabel(TestCell(0));
  const auto verdict = [&](uint64_t frames, uint64_t none, const char* state = "in_Java") {
    EXPECT_TRUE(run_->SaveCounts({{"agct", label, state, "nmethod", "frames", frames},
                                  {"agct", label, state, "nmethod", "0", none}})
                    .ok());
    Finish();
    return Summary().verdict;
  };
  EXPECT_EQ(verdict(0, 1000, "in_native").word, "CLEAN") << "which may have no Java frame";
  EXPECT_EQ(verdict(50, 950).word, "CLEAN");
  const Verdict blind = verdict(49, 951);
  EXPECT_EQ(blind.word, "FINDINGS");
  EXPECT_EQ(blind.exit, ExitCode::kFindings);
  EXPECT_THAT(
      blind.sentence,
      StartsWith(label + ": agct returned a stack in 49 of 1,000 walks of threads in Java; "));
  EXPECT_EQ(verdict(0, 99).word, "CLEAN") << "too few to say so";
  EXPECT_EQ(verdict(0, 100).word, "FINDINGS");
}

TEST_F(StressReport, EachStatusHasItsVerdict) {
  const struct {
    CellStatus status;
    const char* word;
    ExitCode exit;
  } kVerdicts[] = {
      {CellStatus::kRunning, "FAILED", ExitCode::kToolFailed},  // the cell never finished
      {CellStatus::kPassed, "CLEAN", ExitCode::kClean},
      {CellStatus::kInterrupted, "FAILED", ExitCode::kToolFailed},
      {CellStatus::kVacuous, "VACUOUS", ExitCode::kToolFailed},
      {CellStatus::kDied, "FAILED", ExitCode::kToolFailed},  // if the finding is missing
      {CellStatus::kWorkloadFailed, "FAILED", ExitCode::kToolFailed},
      {CellStatus::kHung, "FAILED", ExitCode::kToolFailed},
      {CellStatus::kOutputFlood, "FAILED", ExitCode::kToolFailed},
      {CellStatus::kHandlersChanged, "FAILED", ExitCode::kToolFailed},
      {CellStatus::kBadOutput, "FAILED", ExitCode::kToolFailed},
      {CellStatus::kDiskFull, "FAILED", ExitCode::kToolFailed},
      {CellStatus::kUnavailable, "SKIPPED", ExitCode::kUnable},
      {CellStatus::kNotHotspot, "SKIPPED", ExitCode::kUnable},
      {CellStatus::kToolFailed, "FAILED", ExitCode::kToolFailed},
  };
  ASSERT_EQ(std::size(kVerdicts) + 1, static_cast<size_t>(CellStatus::kCount));
  for (const bool alone : {false, true}) {
    if (!alone) Cell(1, CellStatus::kPassed);
    for (const auto& [status, word, exit] : kVerdicts) {
      if (alone) {
        run_.reset();
        std::filesystem::remove_all(dir_.Under("run"));
        run_ = NewRun();
      }
      Cell(0, status, "because");
      Finish();
      EXPECT_EQ(Summary().verdict.word, word) << CellStatusWord(status);
      EXPECT_EQ(Summary().verdict.exit, exit) << CellStatusWord(status);
      if (exit != ExitCode::kClean) {
        EXPECT_THAT(FirstLine(), HasSubstr(": torture:recursion jdk17 zgc: "));
        EXPECT_THAT(FirstLine(), HasSubstr(" (because); "));
      }
    }
  }
}

// What no JDK of the run could walk is reported, and fails the run only if there is nothing else.
TEST_F(StressReport, AProgramForOtherJdksChangesNoVerdict) {
  Cell(0, CellStatus::kNotForJdk, "virtual threads came with JDK 21");
  Finish();
  EXPECT_THAT(FirstLine(), StartsWith("SKIPPED: torture:recursion jdk17 zgc: not-for-jdk (virtual "
                                      "threads came with JDK 21); 0 of 1 cell passed"));
  EXPECT_EQ(Summary().verdict.exit, ExitCode::kUnable);
  Cell(1, CellStatus::kPassed);
  Finish();
  EXPECT_EQ(FirstLine(), "CLEAN: no findings; 1 of 2 cells passed, 1 not-for-jdk");
  EXPECT_EQ(Summary().verdict.exit, ExitCode::kClean);
  Cell(2, CellStatus::kUnavailable, "not installed");
  Finish();
  EXPECT_THAT(FirstLine(), StartsWith("SKIPPED: torture:recursion jdk17 zgc-2: unavailable"));
}

TEST_F(StressReport, TheGravestVerdictCounts) {
  Cell(0, CellStatus::kPassed);
  Cell(1, CellStatus::kUnavailable, "renaissance is not installed; run setup");
  Cell(2, CellStatus::kNotHotspot);
  Finish();
  EXPECT_EQ(
      FirstLine(),
      "SKIPPED: torture:recursion jdk17 zgc-1: unavailable (renaissance is not installed; "
      "run setup) and 1 more; 1 of 3 cells passed, 1 not-hotspot, 1 unavailable; no findings");
  Cell(3, CellStatus::kHung);
  Finish();
  EXPECT_THAT(FirstLine(), StartsWith("FAILED: torture:recursion jdk17 zgc-3: hung; 1 of 4 "));
  Cell(4, CellStatus::kVacuous, "no signal was delivered");
  EXPECT_EQ(Finish(), RunStatus::kVacuous);
  EXPECT_THAT(FirstLine(), StartsWith("VACUOUS: torture:recursion jdk17 zgc-4: vacuous (no signal "
                                      "was delivered); 1 of 5 cells passed, 1 hung, "));
  Add("method-id", "unloaded", 0);  // Interesting only
  Finish();
  EXPECT_EQ(Summary().verdict.word, "VACUOUS");
  Add("crash", "fault", 3);
  Finish();
  EXPECT_THAT(FirstLine(), StartsWith("FINDINGS: 1 new Forbidden bucket; 1 of 5 "));
  EXPECT_EQ(Summary().verdict.exit, ExitCode::kFindings);
}

TEST_F(StressReport, InterestingAloneIsClean) {
  Cell(0, CellStatus::kPassed);
  Add("method-id", "unloaded", 0);
  Finish();
  EXPECT_EQ(FirstLine(), "CLEAN: 1 new Interesting bucket; 1 of 1 cell passed");
}

TEST_F(StressReport, ACellThatPassedWithoutASuccessfulWalkIsVacuous) {
  CellRow cell = TestCell(0);
  cell.delivery.successful = 0;
  ASSERT_TRUE(run_->SaveCell(cell).ok());
  EXPECT_EQ(Finish(), RunStatus::kVacuous);
  EXPECT_EQ(FirstLine(),
            "VACUOUS: torture:recursion jdk17 zgc: vacuous (no walk returned a frame); 0 of 1 cell "
            "passed, 1 vacuous; no findings");
  EXPECT_THAT(Text(), HasSubstr("  0  torture:recursion jdk17 zgc: VACUOUS\n"));
}

TEST_F(StressReport, ACellOfFewWalksIsVacuous) {
  CellRow cell = TestCell(0);
  cell.delivery.walks = 2;
  cell.delivery.successful = 1;
  ASSERT_TRUE(run_->SaveCell(cell).ok());
  EXPECT_EQ(Finish(), RunStatus::kVacuous);
  EXPECT_EQ(FirstLine(),
            "VACUOUS: torture:recursion jdk17 zgc: vacuous (only 2 walks were made, and a verdict "
            "requires 100); 0 of 1 cell passed, 1 vacuous; no findings");
}

TEST_F(StressReport, AVerdictWithoutATruthSaysSo) {
  Cell(0, CellStatus::kPassed);
  Cell(1, CellStatus::kPassed);
  const NoteRow none{0, NoteKind::kNotInForce, kTruthNote, 0, "why"};
  ASSERT_TRUE(run_->Replace(0, std::vector<NoteRow>{none}).ok());
  ASSERT_TRUE(
      run_->Replace(1, std::vector<NoteRow>{{1, NoteKind::kInForce, kTruthNote, 0, ""}}).ok());
  Finish();
  EXPECT_EQ(FirstLine(),
            "CLEAN: no findings; 2 of 2 cells passed; no truth in 1 cell: only crashes, hangs and "
            "errors were judged there");
  ASSERT_TRUE(
      run_->Replace(1, std::vector<NoteRow>{{1, NoteKind::kNotInForce, kTruthNote, 0, ""}}).ok());
  EXPECT_EQ(FirstLine(),
            "CLEAN: no findings; 2 of 2 cells passed; no truth: only crashes, hangs and errors "
            "were judged");
}

TEST_F(StressReport, ACellThatWasOnlyToCountSignalsIsNot) {
  CellRow cell = TestCell(0);
  cell.mode = kNoWalkMode;
  cell.delivery.walks = cell.delivery.successful = 0;
  ASSERT_TRUE(run_->SaveCell(cell).ok());
  EXPECT_EQ(Finish(), RunStatus::kCleanEnd);
  EXPECT_EQ(FirstLine(), "CLEAN: no findings; 1 of 1 cell passed; nothing was to be walked");
  cell.status = CellStatus::kVacuous;
  cell.reason = "no signal was delivered";
  ASSERT_TRUE(run_->SaveCell(cell).ok());
  EXPECT_EQ(Finish(), RunStatus::kVacuous);
  EXPECT_THAT(FirstLine(), StartsWith("VACUOUS: "));
}

TEST_F(StressReport, ARunThatFailedIsNotClean) {
  Cell(0, CellStatus::kPassed);
  Finish(RunStatus::kFailed, "the disk is full");
  EXPECT_EQ(FirstLine(),
            "FAILED: 1 of 1 cell passed; no findings; the run failed: the disk is full");
}

}  // namespace
}  // namespace walkhammer
