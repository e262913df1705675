// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "harness/store/collapsed.h"
#include "harness/store/record_testing.h"
#include "harness/store/run_db.h"
#include "harness/store/run_tables.h"

namespace walkhammer {
namespace {

using testing::ElementsAre;

#define ASSERT_OK(expression)                                   \
  do {                                                          \
    const auto& ok_result = (expression);                       \
    ASSERT_TRUE(ok_result.ok()) << ok_result.failure().message; \
  } while (false)

class RunDbStress : public testing::Test {
 protected:
  TempDir dir_;
  RunDb run_ = std::move(RunDb::Create(dir_.Under("run"), TestIdentity()).value());
};

TEST(CellStatus, EachHasAWordOfItsOwnThatReadsBack) {
  std::set<std::string> words;
  for (uint8_t i = 0; i < static_cast<uint8_t>(CellStatus::kCount); i++) {
    const auto status = static_cast<CellStatus>(i);
    words.insert(CellStatusWord(status));
    EXPECT_EQ(CellStatusFromWord(CellStatusWord(status)), status);
  }
  // Runs store these words: never rename one.
  EXPECT_EQ(words, std::set<std::string>({"running", "passed", "interrupted", "vacuous", "died",
                                          "workload-failed", "hung", "output-flood",
                                          "handlers-changed", "bad-output", "disk-full",
                                          "unavailable", "not-hotspot", "tool-failed"}));
  EXPECT_EQ(CellStatusFromWord("of a later version"), CellStatus::kToolFailed);
  EXPECT_EQ(CellStatusFromWord(""), CellStatus::kToolFailed);
}

TEST(NoteKind, EachHasAWordOfItsOwnThatReadsBack) {
  std::set<std::string> words;
  for (uint8_t i = 0; i < static_cast<uint8_t>(NoteKind::kCount); i++) {
    const auto kind = static_cast<NoteKind>(i);
    words.insert(NoteKindWord(kind));
    EXPECT_EQ(NoteKindFromWord(NoteKindWord(kind)), kind);
  }
  // As stored: never renamed.
  EXPECT_EQ(words, std::set<std::string>({"in-force", "not-in-force", "dropped", "incident"}));
  EXPECT_EQ(NoteKindFromWord("of a later version"), NoteKind::kIncident);
}

TEST_F(RunDbStress, NotesOfTheRunAndOfItsCellsAreReplacedApart) {
  CellRow cell;
  cell.workload = "torture:x";
  ASSERT_OK(run_.SaveCell(cell));
  const NoteRow of_run{kNoCell, NoteKind::kIncident, "killed from outside", 2, "signal 9"};
  const NoteRow of_cell{0, NoteKind::kDropped, "findings", 7, ""};
  ASSERT_OK(run_.SaveNotes(kNoCell, std::vector<NoteRow>{of_run, of_run}));
  ASSERT_OK(run_.SaveNotes(0, std::vector<NoteRow>{of_cell}));
  ASSERT_OK(run_.SaveNotes(kNoCell, std::vector<NoteRow>{of_run}));
  const auto notes = run_.Notes();
  ASSERT_OK(notes);
  ASSERT_EQ(notes.value().size(), 2u);
  EXPECT_EQ(notes.value()[0].cell, kNoCell);
  EXPECT_EQ(notes.value()[0].kind, NoteKind::kIncident);
  EXPECT_EQ(notes.value()[0].name, "killed from outside");
  EXPECT_EQ(notes.value()[0].count, 2u);
  EXPECT_EQ(notes.value()[0].detail, "signal 9");
  EXPECT_EQ(notes.value()[1].cell, 0);
  EXPECT_EQ(notes.value()[1].kind, NoteKind::kDropped);
  EXPECT_EQ(notes.value()[1].count, 7u);
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

TEST_F(RunDbStress, KeepsEveryFieldOfACell) {
  CellRow cell = TestCell(2);
  cell.reason = std::string("odd \xff\0 text", 11);
  ASSERT_OK(run_.SaveCell(cell));
  ASSERT_OK(run_.SaveCell(TestCell(1)));
  const std::vector<CellRow> cells = run_.Cells().value();
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[0].position, 1);
  const CellRow& read = cells[1];
  EXPECT_EQ(read.position, 2);
  EXPECT_EQ(read.label, cell.label);
  EXPECT_EQ(read.workload, cell.workload);
  EXPECT_EQ(read.jdk_path, cell.jdk_path);
  EXPECT_EQ(read.vm_version, cell.vm_version);
  EXPECT_EQ(read.vm_gc, cell.vm_gc);
  EXPECT_EQ(read.profile, cell.profile);
  EXPECT_EQ(read.jvm_flags, cell.jvm_flags);
  EXPECT_EQ(read.walker, cell.walker);
  EXPECT_EQ(read.mode, cell.mode);
  EXPECT_EQ(read.sampler, cell.sampler);
  EXPECT_EQ(read.sampler_reason, cell.sampler_reason);
  EXPECT_EQ(read.clock, cell.clock);
  EXPECT_EQ(read.interval_min_ns, cell.interval_min_ns);
  EXPECT_EQ(read.interval_max_ns, cell.interval_max_ns);
  EXPECT_EQ(read.status, cell.status);
  EXPECT_EQ(read.reason, cell.reason);
  EXPECT_EQ(read.time_ms, cell.time_ms);
  EXPECT_EQ(read.starts, cell.starts);
  EXPECT_EQ(read.delivery.requested, cell.delivery.requested);
  EXPECT_EQ(read.delivery.delivered, cell.delivery.delivered);
  EXPECT_EQ(read.delivery.coalesced, cell.delivery.coalesced);
  EXPECT_EQ(read.delivery.missed, cell.delivery.missed);
  EXPECT_EQ(read.delivery.walks, cell.delivery.walks);
  EXPECT_EQ(read.delivery.successful, cell.delivery.successful);
  EXPECT_EQ(read.contained_crashes, cell.contained_crashes);
  EXPECT_EQ(read.agent_kib, cell.agent_kib);
  EXPECT_EQ(read.output_bytes, cell.output_bytes);
}

TEST_F(RunDbStress, SavingACellAgainReplacesItAndKeepsWhatItHas) {
  CellRow cell = TestCell(0);
  cell.status = CellStatus::kRunning;
  ASSERT_OK(run_.SaveCell(cell));
  StackTree stacks{{"a.B.c()V", 3}};
  ASSERT_OK(run_.SaveStacks(0, stacks));
  for (uint8_t i = 0; i < static_cast<uint8_t>(CellStatus::kCount); i++) {
    cell.status = static_cast<CellStatus>(i);
    ASSERT_OK(run_.SaveCell(cell));
    ASSERT_EQ(run_.Cells().value().size(), 1u);
    EXPECT_EQ(run_.Cells().value()[0].status, cell.status);
  }
  EXPECT_EQ(run_.Stacks(0).value().Stacks(), stacks.Stacks());
  CellRow twin = cell;
  twin.position = 1;
  EXPECT_FALSE(run_.SaveCell(twin).ok());  // has the same label
  EXPECT_EQ(run_.Cells().value().size(), 1u);
}

TEST_F(RunDbStress, ThreadsOfACellAreReplacedAndThoseOfOthersAreNot) {
  for (const int position : {0, 1}) ASSERT_OK(run_.SaveCell(TestCell(position)));
  std::vector<CellThreadRow> threads = TestThreads();
  for (const int64_t cell : {1, 0, 0})  // cell 0 twice: replaced
    ASSERT_OK(run_.SaveCellThreads(cell, threads));
  ASSERT_EQ(run_.CellThreads().value().size(), 2 * threads.size());
  const CellThreadRow thread = run_.CellThreads().value()[0];
  EXPECT_EQ(thread.cell, 0);
  EXPECT_EQ(thread.tid, threads[0].tid);
  EXPECT_EQ(thread.name, threads[0].name);
  EXPECT_EQ(thread.java, threads[0].java);
  EXPECT_EQ(thread.cpu_ms, threads[0].cpu_ms);
  EXPECT_EQ(thread.delivery.requested, threads[0].delivery.requested);
  EXPECT_EQ(thread.delivery.successful, threads[0].delivery.successful);
}

TEST_F(RunDbStress, EndsOfWalksAreReplacedByCell) {
  for (const int position : {0, 1}) ASSERT_OK(run_.SaveCell(TestCell(position)));
  const std::vector<WalkEndRow> ends = {{7, "asgst", "whole", 12}, {7, "asgst", "guessed", 1}};
  for (const int64_t cell : {1, 0, 0}) ASSERT_OK(run_.SaveWalkEnds(cell, ends));
  const auto saved = run_.WalkEnds().value();
  ASSERT_EQ(saved.size(), 4u);
  EXPECT_EQ(saved[1].cell, 0);
  EXPECT_EQ(saved[1].walker, "asgst");
  EXPECT_EQ(saved[1].end, "guessed");
  EXPECT_EQ(saved[1].count, 1u);
  EXPECT_EQ(saved[2].cell, 1);
}

TEST_F(RunDbStress, AgreementOfACellIsReplacedAndThatOfOthersIsNot) {
  for (const int position : {0, 1}) ASSERT_OK(run_.SaveCell(TestCell(position)));
  const std::vector<AgreementRow> agreement = {
      {7, "asgst", "agct", Realism::kGenuine, "codelet", "bci", 12},
      {7, "asgst", "agct", Realism::kGenuine, "stub", "none", 3}};
  const std::vector<EvidenceRow> evidence = {
      {7, "asgst", "agct", "codelet", "bci", "byte-code", "other", 11}};
  for (const int64_t cell : {1, 0, 0}) {  // cell 0 twice: replaced
    ASSERT_OK(run_.SaveAgreement(cell, agreement));
    ASSERT_OK(run_.SaveEvidence(cell, evidence));
  }
  ASSERT_EQ(run_.Agreement().value().size(), 2 * agreement.size());
  const AgreementRow agreed = run_.Agreement().value()[0];
  EXPECT_EQ(agreed.cell, 0);
  EXPECT_EQ(agreed.walker, "asgst");
  EXPECT_EQ(agreed.other, "agct");
  EXPECT_EQ(agreed.region, "codelet");
  EXPECT_EQ(agreed.kind, "bci");
  EXPECT_EQ(agreed.samples, 12u);
  EXPECT_EQ(agreed.realism, Realism::kGenuine);
  ASSERT_EQ(run_.Evidence().value().size(), 2u);
  const EvidenceRow witnessed = run_.Evidence().value()[1];
  EXPECT_EQ(witnessed.cell, 1);
  EXPECT_EQ(witnessed.walker, "asgst");
  EXPECT_EQ(witnessed.other, "agct");
  EXPECT_EQ(witnessed.region, "codelet");
  EXPECT_EQ(witnessed.kind, "bci");
  EXPECT_EQ(witnessed.witness, "byte-code");
  EXPECT_EQ(witnessed.against, "other");
  EXPECT_EQ(witnessed.samples, 11u);
}

TEST_F(RunDbStress, StepsOfACellAreReplacedAndThoseOfOthersAreNot) {
  for (const int position : {0, 1}) ASSERT_OK(run_.SaveCell(TestCell(position)));
  std::vector<StepRegionRow> regions = TestRegions();
  std::vector<StepRangeRow> ranges = TestRanges();
  for (const int64_t cell : {1, 0, 0}) {  // cell 0 twice: replaced
    ASSERT_OK(run_.SaveStepRegions(cell, regions));
    ASSERT_OK(run_.SaveStepRanges(cell, ranges));
  }
  ASSERT_EQ(run_.StepRegions().value().size(), 2 * regions.size());
  ASSERT_EQ(run_.StepRanges().value().size(), 2 * ranges.size());
  const StepRegionRow region = run_.StepRegions().value()[1];
  EXPECT_EQ(region.kind, regions[1].kind);
  EXPECT_EQ(region.name, regions[1].name);
  EXPECT_EQ(region.level, regions[1].level);
  EXPECT_EQ(region.pcs, regions[1].pcs);
  EXPECT_EQ(region.steps, regions[1].steps);
  EXPECT_EQ(region.answered, regions[1].answered);
  EXPECT_EQ(region.failed, regions[1].failed);
  EXPECT_EQ(region.wrong, regions[1].wrong);
  const StepRangeRow range = run_.StepRanges().value()[0];
  EXPECT_EQ(range.kind, ranges[0].kind);
  EXPECT_EQ(range.name, ranges[0].name);
  EXPECT_EQ(range.level, ranges[0].level);
  EXPECT_EQ(range.answer, ranges[0].answer);
  EXPECT_EQ(range.begin, ranges[0].begin);
  EXPECT_EQ(range.end, ranges[0].end);
  EXPECT_EQ(range.steps, ranges[0].steps);
  EXPECT_EQ(range.disassembly, ranges[0].disassembly);
}

TEST_F(RunDbStress, RowsOfACellThatWasNotSavedAreRefused) {
  StackTree stacks{{"x", 1}};
  EXPECT_FALSE(run_.SaveStacks(5, stacks).ok());
  EXPECT_TRUE(run_.Stacks(5).value().empty());
  EXPECT_TRUE(stacks.IsChanged(1));  // it is to be written yet
}

TEST_F(RunDbStress, CountRowsAreTotals) {
  std::vector<CountRow> counts = {
      {"agct", "torture:x jdk17 zgc", "in_Java", "nmethod", "-5", 3},
      {"agct", "torture:x jdk17 zgc", "in_Java", "nmethod", "frames", 1}};
  ASSERT_OK(run_.SaveCountRows(counts));
  counts[0].count = 9;
  ASSERT_OK(run_.SaveCountRows({counts.data(), 1}));
  const std::vector<CountRow> read = run_.Counts().value();
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].scene, counts[0].scene);
  EXPECT_EQ(read[0].region, "nmethod");
  EXPECT_EQ(read[0].count, 9u);
  EXPECT_EQ(read[1].count, 1u);
}

TEST_F(RunDbStress, FindingsNameTheirCell) {
  FindingRecord record = TestRecord("crash", "fault", "t", Realism::kGenuine);
  const int64_t bucket = run_.AddFinding(record).value().bucket;
  for (const int64_t cell : {3, 0, 3}) {
    record.cell = cell;
    record.sequence++;
    ASSERT_OK(run_.AddFinding(record));
  }
  const std::vector<FindingRecord> findings = run_.Findings(bucket).value();
  ASSERT_EQ(findings.size(), 4u);
  EXPECT_EQ(findings[0].cell, std::nullopt);
  EXPECT_EQ(findings[1].cell, 3);
  EXPECT_EQ(findings[2].cell, 0);
  EXPECT_THAT(run_.BucketCells().value(),
              ElementsAre(std::pair(bucket, int64_t{0}), std::pair(bucket, int64_t{3})));
}

TEST_F(RunDbStress, ACleanEndIsVacuousByItsCells) {
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
  cell.status = CellStatus::kPassed;  // without a successful walk
  ASSERT_OK(run_.SaveCell(cell));
  EXPECT_EQ(run_.Finish(RunStatus::kCleanEnd, totals).value(), RunStatus::kVacuous);
}

}  // namespace
}  // namespace walkhammer
