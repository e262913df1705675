// SPDX-License-Identifier: Apache-2.0
#include "reports/coverage_report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/base/numbers.h"
#include "harness/base/testing/fails_with.h"
#include "harness/findings/crash_folder.h"
#include "harness/store/record_testing.h"
#include "reports/coverage_text.h"
#include "reports/json_report.h"
#include "reports/run_summary.h"
#include "reports/text_report.h"

namespace walkhammer {

namespace {

using testing::HasSubstr;
using testing::Not;

class CoverageTest : public testing::Test {
 protected:
  CoverageTest() : run_(std::move(RunWriter::Create(dir_.Under("run"), TestIdentity()).value())) {}

  // One block of 6 after 1 s, three after 30 s.
  void SetTestCoverage() {
    ASSERT_TRUE(run_.SetCoverage(TestCoverage()).ok());
    Save({1, 0, 0, 0, 0, 0}, 1004, 1200);
    Save({1, 1, 0, 1, 0, 0}, 30'001, 1'234'567);
  }
  void Save(const std::vector<uint8_t>& hit, uint64_t time_ms, uint64_t walks) {
    ASSERT_TRUE(run_.SaveBlocks(hit, time_ms).ok());
    RunTotals totals = TestTotals();
    totals.time_ms = time_ms;
    totals.walks = walks;
    totals.blocks = static_cast<uint64_t>(std::count(hit.begin(), hit.end(), 1));
    ASSERT_TRUE(run_.SaveProgress(totals).ok());
  }
  // Ends the run with the totals of the last progress.
  void Finish() {
    const RunTotals totals = Read(run_).Run().value().totals;
    ASSERT_TRUE(run_.Finish(RunStatus::kCleanEnd, totals).ok());
  }
  void AddForbidden() {
    ASSERT_TRUE(run_.AddFinding(TestRecord("crash", "fault", "t", Realism::kGenuine)).ok());
  }
  Verdict VerdictAt(double percent) {
    RunSummary summary = ReadRun(Read(run_)).value();
    HoldToGoal(summary, percent);
    EXPECT_EQ(summary.goal->percent, percent);
    return summary.verdict;
  }

  TemporaryFolder dir_;
  RunWriter run_;
};

TEST(Numbers, AreWrittenForPeople) {
  EXPECT_EQ(Grouped(0), "0");
  EXPECT_EQ(Grouped(999), "999");
  EXPECT_EQ(Grouped(1'234'567), "1,234,567");
  EXPECT_EQ(Counted(1, "edit"), "1 edit");
  EXPECT_EQ(Counted(1000, "edit"), "1,000 edits");
  EXPECT_EQ(Percent(1234, 4168, 1), "29.6 %");
  EXPECT_EQ(Percent(0, 4168, 1), "0.0 %");
  EXPECT_EQ(Percent(1, 4168, 1), "<0.1 %");
  EXPECT_EQ(Percent(4167, 4168, 1), ">99.9 %");
  EXPECT_EQ(Percent(4168, 4168, 1), "100.0 %");
  EXPECT_EQ(Percent(1, 1'000'000, 2), "<0.01 %");
  EXPECT_EQ(Percent(999'999, 1'000'000, 2), ">99.99 %");
  EXPECT_EQ(Percent(0, 0, 1), "-");
}

TEST_F(CoverageTest, TheSectionOfTheTextReport) {
  SetTestCoverage();
  Finish();
  EXPECT_THAT(TextReport(ReadRun(Read(run_)).value()), HasSubstr(R"(
Coverage
  3 of 6 blocks (50.0 %) in 2 of 3 functions
  after      1.0 s       1 blocks     0 buckets           1,200 walks
  after     30.0 s       3 blocks     0 buckets       1,234,567 walks
  Most blocks not reached:
       2 of     3  Walk(int)
       1 of     2  frame::sender() const
       0 of     1  nmethod::is_alive() const
  Left out: 1 (report --coverage says what and why)

Scenes
)"));
}

TEST_F(CoverageTest, TheCurveTakesTheFirstPointAtEachMarkAndTheLast) {
  ASSERT_TRUE(run_.SetCoverage(TestCoverage()).ok());
  for (uint64_t second = 1; second <= 95; second++)
    Save({1, 0, 0, 0, 0, 0}, second * 1000 + 7, second);
  const RunSummary summary = ReadRun(Read(run_)).value();
  const std::string text = CoverageSection(summary.coverage, summary.progress);
  size_t lines = 0;
  for (size_t at = 0; (at = text.find("  after ", at)) != std::string::npos; at++) lines++;
  EXPECT_EQ(lines, 5u) << text;
  for (const char* time : {"  1.0 s", " 10.0 s", " 30.0 s", " 60.0 s", " 95.0 s"})
    EXPECT_THAT(text, HasSubstr(time));
}

TEST_F(CoverageTest, AtMostFifteenFunctionsAndNoneThatIsWhole) {
  CoverageRows code;
  for (uint32_t i = 0; i < 20; i++) {
    code.functions.push_back({fmt::format("f{:02}", i), i * 16, 16, "direct", i, 1});
    code.blocks.push_back({i * 16, 16, i, {}});
  }
  code.blocks[0].first_ms = 1;
  const std::string many = CoverageSection(code, {});
  EXPECT_THAT(many, Not(HasSubstr("f00")));
  EXPECT_THAT(many, HasSubstr("f01"));
  EXPECT_THAT(many, HasSubstr("f15"));
  EXPECT_THAT(many, Not(HasSubstr("f16")));
  for (CoverageBlockRow& block : code.blocks) block.first_ms = 1;
  EXPECT_EQ(CoverageSection(code, {}), "  20 of 20 blocks (100.0 %) in 20 of 20 functions\n");
}

TEST_F(CoverageTest, WithoutCoverageTheReportsSayWhy) {
  ASSERT_TRUE(run_.SetNoCoverage("libjvm.so has no .symtab").ok());
  Finish();
  EXPECT_THAT(TextReport(ReadRun(Read(run_)).value()),
              HasSubstr("\nCoverage\n  none: libjvm.so has no .symtab\n\n"));
  const auto json =
      nlohmann::json::parse(JsonReport(Read(run_), ReadRun(Read(run_)).value()).value());
  EXPECT_EQ(json["coverage"], nlohmann::json({{"reason", "libjvm.so has no .symtab"}}));
  for (const auto& report : {FunctionReport(Read(run_), ""), UnreachedReport(Read(run_), "")}) {
    ASSERT_FALSE(report.ok());
    EXPECT_EQ(report.failure().code, ExitCode::kUnable);
    EXPECT_THAT(report.failure().message, HasSubstr("libjvm.so has no .symtab"));
  }
  EXPECT_TRUE(WriteCoverageFile(Read(run_)).ok());
  EXPECT_FALSE(std::filesystem::exists(dir_.Under("run/coverage.txt")));
}

TEST_F(CoverageTest, JsonHasFunctionsBlocksAndTheCurve) {
  SetTestCoverage();
  AddForbidden();
  Finish();
  RunSummary summary = ReadRun(Read(run_)).value();
  EXPECT_TRUE(
      nlohmann::json::parse(JsonReport(Read(run_), summary).value())["coverage_goal"].is_null());
  HoldToGoal(summary, 60);
  const auto json = nlohmann::json::parse(JsonReport(Read(run_), summary).value());
  const auto& coverage = json["coverage"];
  EXPECT_EQ(coverage["reason"], "");
  EXPECT_EQ(coverage["file"], "/no/such/libjvm.so");
  EXPECT_EQ(coverage["build_id"], "00ff");
  EXPECT_EQ(coverage["blocks"], 6);
  EXPECT_EQ(coverage["reached"], 3);
  EXPECT_EQ(coverage["functions_reached"], 2);
  ASSERT_EQ(coverage["functions"].size(), 3u);
  EXPECT_EQ(coverage["functions"][1]["name"], "frame::sender() const");
  EXPECT_EQ(coverage["functions"][1]["address"], "0x2000");
  EXPECT_EQ(coverage["functions"][1]["size"], 32);
  EXPECT_EQ(coverage["functions"][1]["reach"], "direct");
  EXPECT_EQ(coverage["functions"][1]["reached"], 1);
  ASSERT_EQ(coverage["functions"][1]["blocks"].size(), 2u);
  EXPECT_EQ(coverage["functions"][1]["blocks"][0],
            nlohmann::json({{"address", "0x2000"}, {"size", 16}, {"first_ms", 30'001}}));
  EXPECT_TRUE(coverage["functions"][1]["blocks"][1]["first_ms"].is_null());
  EXPECT_EQ(coverage["left_out"][0]["reason"], "an indirect call at +0x12");
  EXPECT_EQ(json["progress"][0]["blocks"], 1);
  EXPECT_EQ(json["progress"][1]["blocks"], 3);
  EXPECT_EQ(json["totals"]["blocks"], 3);
  EXPECT_EQ(json["identity"]["workers"], 1);
  EXPECT_EQ(json["coverage_goal"],
            nlohmann::json({{"percent", 60.0}, {"needed", 4}, {"met", false}}));
  EXPECT_TRUE(json["buckets"][0]["minimized_edits"].is_null());
  EXPECT_TRUE(json["buckets"][0]["minimized"].is_null());
}

TEST_F(CoverageTest, MinimizedInputsAreShown) {
  const auto added = run_.AddFinding(TestRecord("crash", "fault", "t", Realism::kGenuine)).value();
  EXPECT_THAT(TextReport(ReadRun(Read(run_)).value()), Not(HasSubstr("minimised")));
  ASSERT_TRUE(run_.SetMinimized(added.bucket, 1, 4, 5).ok());
  EXPECT_THAT(TextReport(ReadRun(Read(run_)).value()),
              HasSubstr("      minimised to 1 edit, 4/5\n"));
  const std::string file = added.folder + "/" + kMinimizedName;
  std::filesystem::create_directories(dir_.Under("run/") + added.folder);
  std::ofstream(dir_.Under("run/") + file) << "walk 1\n";
  ASSERT_TRUE(run_.SetMinimized(added.bucket, 2, 5, 5).ok());
  EXPECT_THAT(TextReport(ReadRun(Read(run_)).value()),
              HasSubstr("      minimised to 2 edits, 5/5: " + dir_.Under("run/") + file + "\n"));
  const auto json =
      nlohmann::json::parse(JsonReport(Read(run_), ReadRun(Read(run_)).value()).value());
  EXPECT_EQ(json["buckets"][0]["minimized_edits"], 2);
  EXPECT_EQ(json["buckets"][0]["minimized_confirmed"], 5);
  EXPECT_EQ(json["buckets"][0]["minimized_tries"], 5);
  EXPECT_EQ(json["buckets"][0]["minimized"], file);
}

TEST_F(CoverageTest, AGoalIsMetOrMissedByOneBlock) {
  SetTestCoverage();  // 3 of 6 blocks
  Finish();
  EXPECT_EQ(VerdictAt(50).word, "CLEAN");
  EXPECT_EQ(VerdictAt(50).exit, ExitCode::kClean);
  EXPECT_EQ(VerdictAt(50).sentence,
            "no findings; coverage is at its goal of 50 % (3 blocks): 3 of 6 blocks (50.0 %) in 2 "
            "of 3 functions");
  EXPECT_EQ(VerdictAt(50.1).word, "BELOW GOAL");
  EXPECT_EQ(VerdictAt(50.1).exit, ExitCode::kFindings);
  EXPECT_EQ(VerdictAt(50.1).sentence,
            "no findings; coverage is below its goal of 50.1 % (4 blocks): 3 of 6 blocks (50.0 %) "
            "in 2 of 3 functions");
  EXPECT_EQ(VerdictAt(100).exit, ExitCode::kFindings);
}

TEST_F(CoverageTest, ARunThatReachedNothingMeetsNoGoal) {
  ASSERT_TRUE(run_.SetCoverage(TestCoverage()).ok());
  Save({0, 0, 0, 0, 0, 0}, 1000, 10);
  EXPECT_EQ(VerdictAt(1e-9).word, "BELOW GOAL");
}

TEST_F(CoverageTest, AGoalOfAWholeNumberOfBlocksIsThatNumber) {
  CoverageRows code;
  code.functions = {{"f", 0, 1000, "root", 0, 1000}};
  for (uint32_t i = 0; i < 1000; i++) code.blocks.push_back({i, 1, 0, {}});
  RunSummary summary;
  summary.coverage = code;
  for (int tenths = 1; tenths <= 1000; tenths++) {
    HoldToGoal(summary, tenths / 10.0);
    EXPECT_EQ(summary.goal->needed, static_cast<uint64_t>(tenths));
  }
}

TEST_F(CoverageTest, AGoalNeverHidesFindingsNorAVacuousRun) {
  SetTestCoverage();
  AddForbidden();
  EXPECT_EQ(VerdictAt(90).word, "FINDINGS");
  EXPECT_EQ(VerdictAt(90).exit, ExitCode::kFindings);
  EXPECT_THAT(VerdictAt(90).sentence, HasSubstr("1 Forbidden bucket; "));
  EXPECT_THAT(VerdictAt(90).sentence, HasSubstr("; coverage is below its goal"));
  EXPECT_EQ(VerdictAt(10).word, "FINDINGS");
  RunTotals totals = TestTotals();
  totals.pristine_true = 0;
  ASSERT_TRUE(run_.Finish(RunStatus::kCleanEnd, totals).ok());
  for (const double percent : {10.0, 90.0}) {
    EXPECT_EQ(VerdictAt(percent).word, "VACUOUS");
    EXPECT_EQ(VerdictAt(percent).exit, ExitCode::kToolFailed);
  }
}

TEST_F(CoverageTest, AGoalWithoutCoverageCannotBeJudged) {
  ASSERT_TRUE(run_.SetNoCoverage("no .symtab").ok());
  ASSERT_TRUE(run_.Finish(RunStatus::kCleanEnd, TestTotals()).ok());
  EXPECT_EQ(VerdictAt(10).word, "NO COVERAGE");
  EXPECT_EQ(VerdictAt(10).exit, ExitCode::kUnable);
  EXPECT_EQ(VerdictAt(10).sentence,
            "no findings; its goal of 10 % was not measured, there is no coverage: no .symtab");
  AddForbidden();
  EXPECT_EQ(VerdictAt(10).word, "FINDINGS");
  EXPECT_EQ(VerdictAt(10).exit, ExitCode::kFindings);
  RunTotals totals = TestTotals();
  totals.successful = 0;
  ASSERT_TRUE(run_.Finish(RunStatus::kCleanEnd, totals).ok());
  EXPECT_EQ(VerdictAt(10).exit, ExitCode::kToolFailed);
}

TEST_F(CoverageTest, TheTableHasEveryFunctionAndWhatWasLeftOut) {
  SetTestCoverage();
  EXPECT_EQ(FunctionReport(Read(run_), "").value(),
            R"(/no/such/libjvm.so, build id 00ff
3 of 6 blocks (50.0 %) in 2 of 3 functions

reached  blocks    share  by           first  address     function
      2       3   66.7 %  root         1.0 s  0x1000      Walk(int)
      1       2   50.0 %  direct      30.0 s  0x2000      frame::sender() const
      0       1    0.0 %  vtable       never  0x3000      nmethod::is_alive() const

Left out
  frame::sender() const: an indirect call at +0x12
)");
  const std::string part = FunctionReport(Read(run_), "frame::").value();
  EXPECT_THAT(part, HasSubstr("frame::sender"));
  EXPECT_THAT(part, Not(HasSubstr("nmethod")));
  EXPECT_THAT(FunctionReport(Read(run_), "nowhere"),
              FailsWith(ExitCode::kBadInput, HasSubstr("\"nowhere\"")));
}

TEST_F(CoverageTest, WithoutTheRightFileThereIsNoCodeToShow) {
  SetTestCoverage();  // of a file that does not exist
  const auto listing = UnreachedReport(Read(run_), "");
  const Status written = WriteCoverageFile(Read(run_));
  ASSERT_FALSE(listing.ok() || written.ok());
  for (const Failure& failure : {listing.failure(), written.failure()}) {
    EXPECT_EQ(failure.code, ExitCode::kUnable);
    EXPECT_THAT(failure.message, HasSubstr("/no/such/libjvm.so: is gone"));
  }
  EXPECT_TRUE(FunctionReport(Read(run_), "").ok());  // this report needs no file
}

}  // namespace
}  // namespace walkhammer
