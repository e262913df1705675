// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/stress_report_testing.h"

namespace walkhammer {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(StressReport, RunThatIsStillGoingOrWasKilled) {
  Cell(0, CellStatus::kRunning);
  Cell(1, CellStatus::kRunning);
  EXPECT_EQ(FirstLine(),
            "VACUOUS: so far no cell has ended; 0 of 2 cells passed, 2 running; no findings; the "
            "run is still going");
  Cell(0, CellStatus::kPassed);
  EXPECT_EQ(FirstLine(),
            "CLEAN: no findings; 1 of 2 cells passed, 1 running; the run is still going");
  run_.reset();  // no Finish, as in a run that is killed
  EXPECT_EQ(FirstLine(),
            "FAILED: torture:recursion jdk17 zgc-1: unfinished; 1 of 2 cells passed, 1 unfinished; "
            "no findings; the run was killed before it could finish");
}

TEST_F(StressReport, ABlockTellsOfTheCell) {
  Cell(0, CellStatus::kPassed);
  Cell(1, CellStatus::kWorkloadFailed, "it ended with exit code 3\nand an odd line");
  const std::vector<CountRow> counts = {
      {"agct", "torture:recursion jdk17 zgc", "in_Java", "nmethod", "frames", 900},
      {"agct", "torture:recursion jdk17 zgc", "in_Java", "stub", "-5", 100},
      {"agct", "torture:recursion jdk17 zgc", "in_native", "libs", "frames", 7},
      {"agct", "of another", "in_vm", "libs", "frames", 50}};
  ASSERT_TRUE(run_->SaveCounts(counts).ok());
  std::vector<CellThreadRow> threads = TestThreads();
  for (int i = 0; i < 4; i++) threads.push_back({0, 200 + i, "few", true, 1, {1, 1, 0, 0, 1, 1}});
  Save(0, threads);
  StackTree stacks{{"a", 2}, {"a\nc", 0}, {"b\nd", 1'000}};
  ASSERT_TRUE(run_->SaveStacks(0, stacks).ok());
  Add("crash", "fault", 0);
  Add("crash", "fault", 1);
  Finish();
  EXPECT_THAT(Text(), HasSubstr("\n      in torture:recursion jdk17 zgc and 1 more cell\n"));
  EXPECT_THAT(Text(), AllOf(Not(HasSubstr("\nScenes\n")), Not(HasSubstr("\nCoverage\n"))));
  EXPECT_THAT(Text(), HasSubstr(R"(
Cells
  1  torture:recursion jdk17 zgc-1: WORKLOAD-FAILED
      why           it ended with exit code 3?and an odd line
)"));
  EXPECT_THAT(Text(), HasSubstr(R"(
  0  torture:recursion jdk17 zgc: PASSED
      VM            Vendor VM 17, Z
      flags         -XX:+UseZGC -Xmx64m
      walked        agct, handler, 60.0 s, 2 JVMs
      sampled       perf, cpu clock, every 5 ms to 10 ms: the kernel allows it
      signals       11,784 delivered, 98.2 % of 12,000 requested, 120 coalesced, 96 missed
      interval      10 ms achieved (median), asked for every 5 ms to 10 ms
      walks         11,700, 93.16 % successful
      crashes       3 contained
      took          2,048 KiB in the agent; 4,096 bytes printed by the workload
      stacks        2 distinct of 1,002 (report --flame draws them)
      answers, by thread state
              1,000  in_Java             90.00 % frames, 10.00 % -5 unknown_Java
                  7  in_native           100.00 % frames
      threads, by signals, of 7
                200    95.2 % of requested    96.0 % of walks successful       2 s CPU  Java    main
                 40    40.0 % of requested     0.0 % of walks successful    500 ms CPU  native  C2 CompilerThread0
                  9    90.0 % of requested   100.0 % of walks successful     90 ms CPU  Java    odd?name
                  1   100.0 % of requested   100.0 % of walks successful      1 ms CPU  Java    few
                  1   100.0 % of requested   100.0 % of walks successful      1 ms CPU  Java    few

Totals
)"));
}

TEST_F(StressReport, ACellThatNeverRanIsShort) {
  CellRow cell;
  cell.label = "dacapo:h2 jdk25 default";
  cell.status = CellStatus::kUnavailable;
  cell.reason = "dacapo is not installed; run setup";
  ASSERT_TRUE(run_->SaveCell(cell).ok());
  Finish();
  EXPECT_THAT(Text(), HasSubstr("\nCells\n  0  dacapo:h2 jdk25 default: UNAVAILABLE\n"
                                "      why           dacapo is not installed; run setup\n\n"));
}

TEST_F(StressReport, TheIntervalIsTheMedianOverSignals) {
  CellRow cell = TestCell(0);
  cell.interval_min_ns = cell.interval_max_ns = 0;
  cell.sampler_reason.clear();
  ASSERT_TRUE(run_->SaveCell(cell).ok());
  Finish();
  EXPECT_THAT(Text(),
              HasSubstr("interval      5.09 ms achieved (median), asked for back to back\n"));
  EXPECT_THAT(Text(), HasSubstr("sampled       perf, cpu clock, back to back\n"));
  // Thread b has most signals. With a wall clock, the time of the cell counts, not the CPU time.
  Save<CellThreadRow>(0, {{0, 1, "a", true, 9, {1, 1, 0, 0, 1, 1}},
                          {0, 2, "b", true, 60, {9, 3, 0, 0, 1, 1}},
                          {0, 3, "c", true, 900, {1, 1, 0, 0, 1, 1}}});
  EXPECT_THAT(Text(), HasSubstr("interval      20 ms achieved"));
  cell.clock = "wall";
  ASSERT_TRUE(run_->SaveCell(cell).ok());
  EXPECT_THAT(Text(), HasSubstr("interval      20 s achieved"));
}

TEST_F(StressReport, WhatTwoWalkersAgreeOn) {
  Cell(0, CellStatus::kPassed);
  Save<AgreementRow>(0, {{0, "asgst", "agct", Realism::kGenuine, "codelet", "none", 80},
                         {0, "asgst", "agct", Realism::kGenuine, "codelet", "bci", 15},
                         {0, "asgst", "agct", Realism::kGenuine, "codelet", "method", 5},
                         {0, "asgst", "agct", Realism::kGenuine, "nmethod", "none", 900},
                         {0, "asgst", "agct", Realism::kGenuine, "nmethod", "one-failed", 50}});
  Finish();
  EXPECT_THAT(Text(), HasSubstr(R"(
      asgst with agct: share with the same methods, by where pc was; with bytecodes and levels, too
          99.50 % of       1,000  anywhere        98.00 %  15 bci  5 method  (50 more, which one of them failed on)
          95.00 % of         100  codelet         80.00 %  15 bci  5 method
         100.00 % of         900  nmethod        100.00 %  (50 more, which one of them failed on)
)"));
  EXPECT_EQ(ReadJson()["cells"][0]["agreement"][1], json::parse(R"(
      {"walker": "asgst", "other": "agct", "realism": "genuine", "region": "codelet",
       "kind": "bci", "samples": 15})"));
}

TEST_F(StressReport, WhomAWitnessContradicts) {
  Cell(0, CellStatus::kPassed);
  Save<EvidenceRow>(0, {{0, "asgst", "agct", "codelet", "bci", "byte-code", "other", 1200},
                        {0, "asgst", "agct", "codelet", "bci", "byte-code", "neither", 7},
                        {0, "asgst", "agct", "nmethod", "none", "steps", "neither", 900},
                        {0, "asgst", "agct", "nmethod", "truncated", "steps", "walker", 5},
                        {0, "asgst", "agct", "stub", "truncated", "steps", "walker", 6},
                        {0, "asgst", "agct", "stub", "truncated", "steps", "both", 2}});
  Finish();
  EXPECT_THAT(Text(), HasSubstr(R"(
      asgst with agct, byte-code: whom it contradicts, by how they differ
              1,207  bci             agct 1,200, asgst 0, both 0, neither 7
      asgst with agct, steps: whom it contradicts, by how they differ
                900  none            agct 0, asgst 0, both 0, neither 900
                 13  truncated       agct 0, asgst 11, both 2, neither 0
)"));
  EXPECT_EQ(ReadJson()["cells"][0]["evidence"][0], json::parse(R"(
      {"walker": "asgst", "other": "agct", "region": "codelet", "kind": "bci",
       "witness": "byte-code", "against": "other", "samples": 1200})"));
}

TEST_F(StressReport, HowWalksEnded) {
  Cell(0, CellStatus::kPassed);
  Save<WalkEndRow>(
      0, {{0, "asgst", "no-caller", 20}, {0, "asgst", "whole", 1970}, {0, "asgst", "guessed", 10}});
  Finish();
  EXPECT_THAT(Text(), HasSubstr(R"(
      how walks of asgst ended
              2,000  98.50 % whole, 1.00 % no-caller, 0.50 % guessed
)"));
  EXPECT_EQ(ReadJson()["cells"][0]["walk_ends"][0],
            json({{"walker", "asgst"}, {"end", "no-caller"}, {"count", 20}}));
}

TEST_F(StressReport, AFuzzRunTellsByRealismWhatWalkersAgreeOn) {
  Save<AgreementRow>(
      kNoCell, {{kNoCell, "asgst", "agct", Realism::kEditedStack, "pristine", "skipped-caller", 1},
                {kNoCell, "asgst", "agct", Realism::kEditedStack, "pristine", "none", 3},
                {kNoCell, "asgst", "agct", Realism::kGenuine, "pristine", "none", 66}});
  ASSERT_TRUE(run_->Finish(RunStatus::kCleanEnd, TestTotals()).ok());
  EXPECT_THAT(Text(), HasSubstr(R"(
Agreement of walkers that were shown the same
  asgst with agct, genuine requests: share with the same methods, by where pc was; with bytecodes and levels, too
     100.00 % of          66  anywhere       100.00 %
     100.00 % of          66  pristine       100.00 %
  asgst with agct, edited-stack requests: share with the same methods, by where pc was; with bytecodes and levels, too
      75.00 % of           4  anywhere        75.00 %  1 skipped-caller
      75.00 % of           4  pristine        75.00 %  1 skipped-caller
)"));
  ASSERT_EQ(ReadJson()["agreement"].size(), 3u);
  EXPECT_EQ(ReadJson()["agreement"][0]["realism"], "edited-stack");
  EXPECT_EQ(ReadJson()["agreement"][0]["kind"], "skipped-caller");
}

TEST_F(StressReport, WhatTheCallsSayOfTheCallers) {
  Cell(0, CellStatus::kPassed);
  std::vector<StepRegionRow> regions = TestRegions();
  regions[0].proven = regions[0].steps / 2;
  regions[0].contradicted = 3;
  Save(0, regions);
  Finish();
  EXPECT_THAT(Text(), HasSubstr("      callers, by the calls that were made\n"));
  EXPECT_THAT(Text(), HasSubstr(" 3 contradicted  all\n"));
  EXPECT_THAT(Text(), HasSubstr(" 3 contradicted  " + regions[0].kind + "\n"));
  EXPECT_THAT(Text(), HasSubstr("; 3 contradicted\n"));
  const json report = ReadJson();
  for (size_t i = 0; i < regions.size(); i++) {
    EXPECT_EQ(report["step_regions"][i]["proven"], regions[i].proven);
    EXPECT_EQ(report["step_regions"][i]["contradicted"], regions[i].contradicted);
  }
}

TEST_F(StressReport, WhereWalkersErrByTheirRules) {
  Cell(0, CellStatus::kPassed);
  Save(0, TestRegions());
  Save<FramePlaceRow>(0, {{0, "stub", "sp+8", 9, 3, 20, 12, 10, 2, 4, 7, 1}});
  Save<FramePredictionRow>(0, {{0, "agct", "stub", "no-answer", "refuses", 300, 2, 70, 6},
                               {0, "agct", "adapter", "right", "sp + frame size", 600, 3, 8, 0},
                               {0, "agct", "stub", "depends", "on r13", 100, 0, 0, 0},
                               {0, "asgst", "stub", "wrong", "fp", 40, 0, 0, 0}});
  Save<FrameRefutedRow>(0, {{0, "agct", "stub", "copy", -1, 4, "no-answer", "refuses", "sp+8",
                             "+0x4  nop", 5, 1, 2}});
  Finish();
  EXPECT_THAT(Text(), HasSubstr("the caller's sp known at  44.44 %; 7 steps agree, 1 disagree\n"));
  EXPECT_THAT(Text(), HasSubstr(R"(
      where walkers err by their own rules, in all code that the JVM has
        agct        all      errs at  30.00 %, may err at  10.00 % of       1,000; 78 steps as predicted, 6 not
        agct        adapter  errs at   0.00 %, may err at   0.00 % of         600; 8 steps as predicted, 0 not
        agct        stub     errs at  75.00 %, may err at  25.00 % of         400; 70 steps as predicted, 6 not
        asgst       all      errs at 100.00 %, may err at   0.00 % of          40
        asgst       stub     errs at 100.00 %, may err at   0.00 % of          40
      instructions at which they err, or may err, by rule
                300  agct        stub     no-answer  refuses
                100  agct        stub     depends    on r13
                 40  asgst       stub     wrong      fp
      walkers that do not answer as predicted
                  6 x agct is no-answer by its rule (refuses); the calls prove 5, contradict 1, no answer 2: stub copy, sp+8
            +0x4  nop
)"));
}

TEST_F(StressReport, StepsByKindByLevelAndTheWorst) {
  Cell(0, CellStatus::kPassed);
  Save(0, TestRegions());
  std::vector<StepRangeRow> ranges = TestRanges();
  ranges[0].disassembly = "i1\ni2\ni3\ni4\ni5\ni6\ni7\ni8\ni9\ni10\n";
  Save(0, ranges);
  Finish();
  EXPECT_THAT(Text(), HasSubstr(R"(
      walkable      89.60 % of 100,000 instructions executed
      by kind of code
          98.89 % of        90,000  body            1.11 % failed
           0.00 % of         9,000  stub            100.00 % failed
          60.00 % of         1,000  prologue        10.00 % failed  30.00 % wrong
      by compile level
          98.89 % of        90,000  level 4, C2     1.11 % failed
           0.00 % of         9,000  not compiled    100.00 % failed
          60.00 % of         1,000  level 1, C1     10.00 % failed  30.00 % wrong
      worst code
              9,000 failed            0 wrong  of         9,000  stub call_stub, not compiled
              1,000 failed            0 wrong  of        90,000  body a.B.c(I)V, level 4, C2
                100 failed          300 wrong  of         1,000  prologue a.B.c(I)V, level 1, C1
      worst ranges
              8,000 x -5 unknown_Java  stub call_stub +0x10 to +0x3a, not compiled
            i1
            i2
            i3
            i4
            i5
            i6
            i7
            i8
            and 2 more
                300 x wrong  prologue a.B.c(I)V +0x0 to +0x4, level 1, C1
            sub rsp, 0x20
)"));
}

TEST_F(StressReport, AtMostTenRegionsAndFiveRanges) {
  Cell(0, CellStatus::kPassed);
  std::vector<StepRegionRow> regions;
  std::vector<StepRangeRow> ranges;
  for (uint64_t i = 0; i < 20; i++) {
    const std::string name = "r" + std::to_string(100 + i) + "r";
    regions.push_back({0, "stub", name, -1, 1, 100, 100 - i, i, 0});  // the first has no failures
    ranges.push_back({0, "stub", "t" + name, -1, "wrong", 0, 1, i, ""});
  }
  Save(0, regions);
  Save(0, ranges);
  Finish();
  EXPECT_THAT(Text(), AllOf(HasSubstr(" r119r"), HasSubstr(" r110r"), Not(HasSubstr(" r109r")),
                            HasSubstr("        and 9 more\n")));
  EXPECT_THAT(Text(), AllOf(HasSubstr(" tr119r"), HasSubstr(" tr115r"), Not(HasSubstr(" tr114r")),
                            HasSubstr("        and 15 more (report --json has all)\n")));
}

TEST_F(StressReport, JsonHasItAll) {
  Cell(0, CellStatus::kPassed);
  Cell(1, CellStatus::kHung, "no \xff progress");
  Save(0, TestThreads());
  StackTree stacks{{"a", 2}, {"b", 1}};
  ASSERT_TRUE(run_->SaveStacks(0, stacks).ok());
  ASSERT_TRUE(run_->SaveCounts(std::vector<CountRow>{{"agct", "torture:recursion jdk17 zgc",
                                                      "in_Java", "x", "-5", 2}})
                  .ok());
  Add("crash", "fault", 1);
  Finish();
  const json report = ReadJson();
  EXPECT_EQ(report["schema"], 1);
  ASSERT_EQ(report["cells"].size(), 2u);
  const json& cell = report["cells"][0];
  EXPECT_EQ(cell["label"], "torture:recursion jdk17 zgc");
  EXPECT_EQ(cell["status"], "passed");
  EXPECT_EQ(cell["delivery"]["requested"], 12'000);
  EXPECT_EQ(cell["delivery"]["successful"], 10'900);
  EXPECT_EQ(cell["stacks"], json({{"distinct", 2}, {"count", 3}}));
  EXPECT_EQ(cell["codes_by_state"][0]["codes"][0]["name"], "unknown_Java");
  ASSERT_EQ(cell["threads"].size(), 3u);
  EXPECT_EQ(cell["threads"][0]["name"], "main");
  EXPECT_EQ(cell["threads"][0]["delivery"]["delivered"], 200);
  EXPECT_EQ(report["cells"][1]["status"], "hung");
  EXPECT_EQ(report["cells"][1]["reason"], "no \uFFFD progress");
  EXPECT_EQ(report["buckets"][0]["findings"][0]["cell"], 1);
}

TEST_F(StressReport, JsonHasTheMapOfSteps) {
  Cell(0, CellStatus::kPassed);
  Cell(1, CellStatus::kPassed);
  Save(1, TestRegions());
  Save(1, TestRanges());
  Finish();
  const json report = ReadJson();
  ASSERT_EQ(report["step_regions"].size(), 3u);
  EXPECT_EQ(report["step_regions"][1], json::parse(R"(
      {"cell": 1, "kind": "prologue", "name": "a.B.c(I)V", "level": 1, "pcs": 10, "steps": 1000,
       "answered": 600, "failed": 100, "wrong": 300, "proven": 0, "contradicted": 0})"));
  ASSERT_EQ(report["step_ranges"].size(), 2u);
  EXPECT_EQ(report["step_ranges"][0], json::parse(R"(
      {"cell": 1, "kind": "stub", "name": "call_stub", "level": -1, "answer": "-5 unknown_Java",
       "begin": 16, "end": 58, "steps": 8000, "disassembly": "push rbp\nret\n"})"));
}

TEST_F(StressReport, AFuzzRunHasNoCells) {
  Add("crash", "fault", {});
  ASSERT_TRUE(run_->Finish(RunStatus::kCleanEnd, TestTotals()).ok());
  EXPECT_EQ(ReadJson()["cells"], json::array());
  EXPECT_EQ(ReadJson()["agreement"], json::array());
  EXPECT_TRUE(ReadJson()["buckets"][0]["findings"][0]["cell"].is_null());
  EXPECT_THAT(Text(), AllOf(Not(HasSubstr("\nCells\n")), HasSubstr("\nScenes\n")));
}

}  // namespace
}  // namespace walkhammer
