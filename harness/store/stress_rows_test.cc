// SPDX-License-Identifier: Apache-2.0
#include "harness/store/stress_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "harness/base/testing/fails_with.h"
#include "harness/store/record_testing.h"
#include "harness/store/run_tables.h"
#include "harness/store/run_writer.h"

namespace walkhammer {
namespace {

using testing::ElementsAre;

using StressRowsTest = NewRunTest;

// Checks that each value has a word of its own, in the order of `words`, that leads back to it, and
// that other words lead to `otherwise`. Runs store these words: never rename one.
template <typename Kind, typename Of, typename From>
void ExpectWords(const std::vector<std::string>& words, Of of, From from, Kind otherwise) {
  ASSERT_EQ(words.size(), static_cast<size_t>(Kind::kCount));
  for (size_t i = 0; i < words.size(); i++) {
    EXPECT_EQ(of(static_cast<Kind>(i)), words[i]);
    EXPECT_EQ(from(words[i]), static_cast<Kind>(i));
  }
  for (const char* other : {"of a later version", ""}) EXPECT_EQ(from(other), otherwise);
}

TEST(StoredWords, LeadBackToTheirValues) {
  ExpectWords({"running", "passed", "interrupted", "vacuous", "died", "workload-failed", "hung",
               "output-flood", "handlers-changed", "bad-output", "disk-full", "unavailable",
               "not-hotspot", "not-for-jdk", "tool-failed"},
              CellStatusWord, CellStatusFromWord, CellStatus::kToolFailed);
  ExpectWords({"in-force", "not-in-force", "dropped", "incident"}, NoteKindWord, NoteKindFromWord,
              NoteKind::kIncident);
}

TEST_F(StressRowsTest, NotesOfTheRunAndOfItsCellsAreReplacedApart) {
  CellRow cell;
  cell.workload = "torture:x";
  ASSERT_OK(run_.SaveCell(cell));
  const NoteRow of_run{kNoCell, NoteKind::kIncident, "killed from outside", 2, "signal 9"};
  const NoteRow of_cell{0, NoteKind::kDropped, "findings", 7, ""};
  ASSERT_OK(run_.Replace(kNoCell, std::vector<NoteRow>{of_run, of_run}));
  ASSERT_OK(run_.Replace(0, std::vector<NoteRow>{of_cell}));
  ASSERT_OK(run_.Replace(kNoCell, std::vector<NoteRow>{of_run}));
  const auto notes = Must(Read(run_).Rows<NoteRow>());
  EXPECT_THAT(notes, ElementsAre(of_run, of_cell));
}

TEST(SplitFrames, TakesApartWhatWasJoined) {
  std::string frames;
  for (const char* frame : {"a.B.c(Ljava/lang/String;)V", "d.E.f\n()V", "[agct -1]"})
    AppendFrame(frames, frame);
  EXPECT_THAT(SplitFrames(frames),
              ElementsAre("a.B.c(Ljava/lang/String;)V", "d.E.f ()V", "[agct -1]"));
  EXPECT_THAT(SplitFrames(""), ElementsAre());
  EXPECT_THAT(SplitFrames("\n\na\n"), ElementsAre("a"));
}

TEST(SplitCollapsed, DescriptorsAreNotTakenApart) {
  EXPECT_THAT(SplitCollapsed(""), ElementsAre());
  EXPECT_THAT(SplitCollapsed("[agct -5 unknown_Java]"), ElementsAre("[agct -5 unknown_Java]"));
  EXPECT_THAT(SplitCollapsed("java.lang.Thread.run()V;wh.A.b(I)I"),
              ElementsAre("java.lang.Thread.run()V", "wh.A.b(I)I"));
  EXPECT_THAT(
      SplitCollapsed("a.B.c(Ljava/lang/String;[[I)Ljava/lang/Object;;d.E.f()[La/B;;g.H.i()V"),
      ElementsAre("a.B.c(Ljava/lang/String;[[I)Ljava/lang/Object;", "d.E.f()[La/B;", "g.H.i()V"));
  EXPECT_THAT(SplitCollapsed("a.B.c()La/B;"), ElementsAre("a.B.c()La/B;"));
  EXPECT_THAT(SplitCollapsed("cell (x);a.B.c()V;[agct -1]"),
              ElementsAre("cell (x)", "a.B.c()V", "[agct -1]"));
  EXPECT_THAT(SplitCollapsed("os::wait(long, int)+0x1;f(Lock*);g()"),
              ElementsAre("os::wait(long, int)+0x1", "f(Lock*)", "g()"));
  EXPECT_THAT(SplitCollapsed(";;a;;b;"), ElementsAre("a", "b"));
  EXPECT_THAT(SplitCollapsed("Lock;I;a"), ElementsAre("Lock", "I", "a"))
      << "what looks like a type is none where no descriptor has begun";
}

// Each frame is looked at once, however many follow.
TEST(SplitCollapsed, TakesTimeInProportionToTheText) {
  std::string text;
  for (int i = 0; i < 500'000; i++) text += "a;";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(SplitCollapsed(text).size(), 500'000u);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST(SplitCollapsed, NamesThatWereCutSwallowNoOther) {
  for (const char* cut :
       {"a.B.c(", "a.B.c(I", "a.B.c(Ljava/la", "a.B.c(Ljava/lang/String;I", "a.B.c()",
        "a.B.c()Ljava/la", "a.B.c()[", "a.B.c([", "a.B.c(ILa/B;J", "a.B.c"})
    for (const char* next : {"d.E.f(I)V", "I.m()V", "L.m(J)La/B;", "[agct -5 x]"})
      EXPECT_THAT(SplitCollapsed(std::string(cut) + ";" + next), ElementsAre(cut, next));
  EXPECT_THAT(SplitCollapsed("d.E.f()V;a.B.c(Ljava/lang/String;I"),
              ElementsAre("d.E.f()V", "a.B.c(Ljava/lang/String;I"));
}

TEST(CellLabel, IsTheLabelOrMadeOfThePath) {
  CellRow cell = TestCell(0);
  EXPECT_EQ(CellLabel(cell), "torture:recursion jdk17 zgc");
  cell.label.clear();
  EXPECT_EQ(CellLabel(cell), "torture:recursion java-17-openjdk zgc");
}

TEST_F(StressRowsTest, KeepsEveryFieldOfACell) {
  CellRow cell = TestCell(2);
  cell.reason = std::string("odd \xff\0 text", 11);
  ASSERT_OK(run_.SaveCell(cell));
  ASSERT_OK(run_.SaveCell(TestCell(1)));
  const std::vector<CellRow> cells = Read(run_).Rows<CellRow>().value();
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[0].position, 1);
  EXPECT_EQ(cells[1], cell);
}

TEST_F(StressRowsTest, SavingACellAgainReplacesItAndKeepsWhatItHas) {
  CellRow cell = TestCell(0);
  cell.status = CellStatus::kRunning;
  ASSERT_OK(run_.SaveCell(cell));
  StackTree stacks{{"a.B.c()V", 3}};
  ASSERT_OK(run_.SaveStacks(0, stacks));
  for (uint8_t i = 0; i < static_cast<uint8_t>(CellStatus::kCount); i++) {
    cell.status = static_cast<CellStatus>(i);
    ASSERT_OK(run_.SaveCell(cell));
    ASSERT_EQ(Read(run_).Rows<CellRow>().value().size(), 1u);
    EXPECT_EQ(Read(run_).Rows<CellRow>().value()[0].status, cell.status);
  }
  EXPECT_EQ(Read(run_).Stacks(0).value().Stacks(), stacks.Stacks());
  CellRow twin = cell;
  twin.position = 1;
  EXPECT_FALSE(run_.SaveCell(twin).ok());  // has the same label
  EXPECT_EQ(Read(run_).Rows<CellRow>().value().size(), 1u);
}

// Saves the rows for cell 1, and twice for cell 0.
template <typename Row>
void ExpectReplacedByCell(RunWriter& run, const std::vector<Row>& rows) {
  for (const int64_t cell : {1, 0, 0}) ASSERT_OK(run.Replace(cell, rows));
  std::vector<Row> wanted;
  for (const int64_t cell : {0, 1})
    for (Row row : rows) {
      row.cell = cell;
      wanted.push_back(row);
    }
  EXPECT_EQ(Read(run).Rows<Row>().value(), wanted);
}

TEST_F(StressRowsTest, RowsOfACellAreReplacedAndThoseOfOthersAreNot) {
  for (const int position : {0, 1}) ASSERT_OK(run_.SaveCell(TestCell(position)));
  ExpectReplacedByCell(run_, TestThreads());
  ExpectReplacedByCell<WalkEndRow>(run_, {{7, "asgst", "whole", 12}, {7, "asgst", "guessed", 1}});
  ExpectReplacedByCell<AgreementRow>(run_,
                                     {{7, "asgst", "agct", Realism::kGenuine, "codelet", "bci", 12},
                                      {7, "asgst", "agct", Realism::kGenuine, "stub", "none", 3}});
  ExpectReplacedByCell<EvidenceRow>(
      run_, {{7, "asgst", "agct", "codelet", "bci", "byte-code", "other", 11}});
  ExpectReplacedByCell(run_, TestRegions());
  ExpectReplacedByCell(run_, TestRanges());
}

TEST_F(StressRowsTest, RowsOfACellThatWasNotSavedAreRefused) {
  StackTree stacks{{"x", 1}};
  EXPECT_FALSE(run_.SaveStacks(5, stacks).ok());
  EXPECT_TRUE(Read(run_).Stacks(5).value().empty());
  EXPECT_TRUE(stacks.IsChanged(1));  // it is to be written yet
}

TEST_F(StressRowsTest, CountRowsAreTotals) {
  std::vector<CountRow> counts = {
      {"agct", "torture:x jdk17 zgc", "in_Java", "nmethod", "-5", 3},
      {"agct", "torture:x jdk17 zgc", "in_Java", "nmethod", "frames", 1}};
  ASSERT_OK(run_.SaveCounts(counts));
  counts[0].count = 9;
  ASSERT_OK(run_.SaveCounts({counts[0]}));
  EXPECT_EQ(Read(run_).Rows<CountRow>().value(), counts);
}

TEST_F(StressRowsTest, FindingsNameTheirCell) {
  FindingRecord record = TestRecord("crash", "fault", "t", Realism::kGenuine);
  const int64_t bucket = run_.AddFinding(record).value().bucket;
  for (const int64_t cell : {3, 0, 3}) {
    record.cell = cell;
    record.sequence++;
    ASSERT_OK(run_.AddFinding(record));
  }
  const std::vector<FindingRecord> findings = Read(run_).Findings(bucket).value();
  ASSERT_EQ(findings.size(), 4u);
  EXPECT_EQ(findings[0].cell, std::nullopt);
  EXPECT_EQ(findings[1].cell, 3);
  EXPECT_EQ(findings[2].cell, 0);
  EXPECT_THAT(Read(run_).BucketCells().value(),
              ElementsAre(std::pair(bucket, int64_t{0}), std::pair(bucket, int64_t{3})));
}

TEST_F(StressRowsTest, ACleanEndIsVacuousByItsCells) {
  RunTotals totals = TestTotals();
  totals.pristine_walks = totals.pristine_true = 0;
  CellRow cell = TestCell(0);
  ASSERT_OK(run_.SaveCell(cell));
  EXPECT_EQ(run_.Finish(RunStatus::kCleanEnd, totals).value(), RunStatus::kCleanEnd);
  // A cell that walked but ended badly makes no vacuous run; the verdict says how the cell ended.
  cell.status = CellStatus::kDied;
  ASSERT_OK(run_.SaveCell(cell));
  EXPECT_EQ(run_.Finish(RunStatus::kCleanEnd, totals).value(), RunStatus::kCleanEnd);
  cell.delivery.walks = cell.delivery.successful = 0;
  ASSERT_OK(run_.SaveCell(cell));
  EXPECT_EQ(run_.Finish(RunStatus::kCleanEnd, totals).value(), RunStatus::kVacuous);
  CellRow other = TestCell(1);
  ASSERT_OK(run_.SaveCell(other));
  EXPECT_EQ(run_.Finish(RunStatus::kCleanEnd, totals).value(), RunStatus::kCleanEnd);
  cell.status = CellStatus::kVacuous;
  ASSERT_OK(run_.SaveCell(cell));
  EXPECT_EQ(run_.Finish(RunStatus::kCleanEnd, totals).value(), RunStatus::kVacuous);
  EXPECT_EQ(run_.Finish(RunStatus::kInterrupted, totals).value(), RunStatus::kInterrupted);
  other.delivery.walks = kLeastWalks - 1;
  ASSERT_OK(run_.SaveCell(other));
  cell = TestCell(0);
  ASSERT_OK(run_.SaveCell(cell));
  EXPECT_EQ(run_.Finish(RunStatus::kCleanEnd, totals).value(), RunStatus::kVacuous);
  other.delivery.walks = kLeastWalks;
  ASSERT_OK(run_.SaveCell(other));
  EXPECT_EQ(run_.Finish(RunStatus::kCleanEnd, totals).value(), RunStatus::kCleanEnd);
  cell.delivery.walks = cell.delivery.successful = 0;  // and passed
  ASSERT_OK(run_.SaveCell(cell));
  EXPECT_EQ(run_.Finish(RunStatus::kCleanEnd, totals).value(), RunStatus::kVacuous);
}

}  // namespace
}  // namespace walkhammer
