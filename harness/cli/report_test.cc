// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/cli/verb_testing.h"
#include "harness/store/record_testing.h"

namespace walkhammer {
namespace {

using testing::HasSubstr;

Outcome Report(const std::vector<std::string>& arguments) {
  return RunVerb("report", AddReport, arguments);
}

class ReportVerb : public testing::Test {
 protected:
  // Makes a run that reached `reached` of 6 blocks and returns its folder; none: without coverage.
  std::string Run(const char* name, std::optional<size_t> reached,
                  RunTotals totals = TestTotals()) {
    const std::string path = dir_.Under(name);
    RunWriter run = std::move(RunWriter::Create(path, TestIdentity()).value());
    std::vector<uint8_t> hit(6);
    std::fill_n(hit.begin(), reached.value_or(0), 1);
    EXPECT_TRUE(reached ? run.SetCoverage(TestCoverage()).ok() : run.SetNoCoverage("why").ok());
    EXPECT_TRUE(run.SaveBlocks(hit, 1).ok());
    EXPECT_TRUE(run.Finish(RunStatus::kCleanEnd, totals).ok());
    return path;
  }

  TemporaryFolder dir_;
};

TEST_F(ReportVerb, TheGoalDecidesTheExitCode) {
  const std::string half = Run("half", 3), without = Run("without", {});
  EXPECT_EQ(Report({half}).exit_code, 0);
  EXPECT_EQ(Report({half, "--coverage-goal", "50"}).exit_code, 0);
  EXPECT_EQ(Report({half, "--coverage-goal", "50%"}).exit_code, 0);
  EXPECT_EQ(Report({half, "--coverage-goal", "50.5"}).exit_code, 1);
  EXPECT_THAT(Report({half, "--coverage-goal", "60"}).out,
              testing::StartsWith("BELOW GOAL: no findings; coverage is below"));
  EXPECT_EQ(Report({half, "--json", "--coverage-goal", "60"}).exit_code, 1);
  EXPECT_EQ(Report({half, "--coverage", "--coverage-goal", "60"}).exit_code, 1);
  EXPECT_EQ(Report({without}).exit_code, 0);
  EXPECT_EQ(Report({without, "--coverage-goal", "1"}).exit_code, 3);
}

TEST_F(ReportVerb, OfSeveralRunsTheGravestCounts) {
  RunTotals vacuous = TestTotals();
  vacuous.walks = 0;
  const std::string half = Run("half", 3), full = Run("full", 6), without = Run("without", {}),
                    empty = Run("empty", 6, vacuous);
  EXPECT_EQ(Report({full, full, "--coverage-goal", "60"}).exit_code, 0);
  EXPECT_EQ(Report({full, half, "--coverage-goal", "60"}).exit_code, 1);
  EXPECT_EQ(Report({full, without, "--coverage-goal", "60"}).exit_code, 3);
  EXPECT_EQ(Report({without, half, "--coverage-goal", "60"}).exit_code, 1);
  EXPECT_EQ(Report({half, empty, without, "--coverage-goal", "60"}).exit_code, 4);
}

TEST_F(ReportVerb, AGoalThatIsNoPercentageIsBadUsage) {
  const std::string half = Run("half", 3);
  for (const char* goal : {"0", "-1", "100.1", "nan", "inf", "", "%", "x", "5x", "1e1"}) {
    const Outcome outcome = Report({half, "--coverage-goal", goal});
    EXPECT_EQ(outcome.exit_code, 2) << goal;
    EXPECT_THAT(outcome.err, HasSubstr("--coverage-goal")) << goal;
  }
}

TEST_F(ReportVerb, CoverageShowsTheTableAndUnreachedNeedsTheCode) {
  const std::string half = Run("half", 3), without = Run("without", {});
  EXPECT_THAT(Report({half, "--coverage"}).out, HasSubstr("nmethod::is_alive() const\n"));
  EXPECT_THAT(
      Report({half, "--coverage", "--function", "frame"}).out,
      testing::AllOf(HasSubstr("frame::sender() const\n"), testing::Not(HasSubstr("nmethod"))));
  EXPECT_EQ(Report({half, "--coverage", "--function", "nowhere"}).exit_code, 2);
  const Outcome gone = Report({half, "--unreached"});
  EXPECT_EQ(gone.exit_code, 3);
  EXPECT_THAT(gone.err, HasSubstr("/no/such/libjvm.so: is gone"));
  EXPECT_EQ(std::count(gone.err.begin(), gone.err.end(), '\n'), 1);
  EXPECT_EQ(Report({without, "--coverage"}).exit_code, 3);
  EXPECT_EQ(Report({half, "--function", "frame"}).exit_code, 2);
  EXPECT_EQ(Report({half, "--json", "--unreached"}).exit_code, 2);
}

TEST_F(ReportVerb, WritesSeveralFormsInOneCall) {
  const std::string half = Run("half", 3);
  const std::string page = dir_.Under("p.html"), junit = dir_.Under("j.xml"),
                    sarif = dir_.Under("s.sarif");
  const Outcome outcome = Report({half, "--html", page, "--junit", junit, "--sarif", sarif});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, page + ": written\n" + junit + ": written\n" + sarif + ": written\n");
  EXPECT_THAT(ReadFile(page), HasSubstr("<strong>CLEAN</strong>"));
  EXPECT_THAT(ReadFile(junit), testing::StartsWith("<?xml "));
  EXPECT_THAT(ReadFile(sarif), HasSubstr("\"version\": \"2.1.0\""));
  EXPECT_EQ(Report({half, "--html", page, "--coverage-goal", "60"}).exit_code, 1);
  EXPECT_THAT(ReadFile(page), HasSubstr("<strong>BELOW GOAL</strong>"));
}

TEST_F(ReportVerb, PrintsAFormOnStdoutAlone) {
  const Outcome outcome = Report({Run("half", 3), "--markdown", "-"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, testing::StartsWith("# walkhammer half: CLEAN\n"));
  EXPECT_EQ(outcome.err, "");
}

TEST_F(ReportVerb, AFormGoesWithOneRunAndCanBeWritten) {
  const std::string half = Run("half", 3), full = Run("full", 6);
  EXPECT_EQ(Report({half, full, "--html", dir_.Under("p.html")}).exit_code, 2);
  EXPECT_EQ(Report({half, "--json", "--html", dir_.Under("p.html")}).exit_code, 2);
  const Outcome nowhere = Report({half, "--junit", dir_.Under("no/such/folder.xml")});
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("--junit " + dir_.Under("no/such/folder.xml")));
  EXPECT_FALSE(std::filesystem::exists(dir_.Under("p.html")));
}

TEST_F(ReportVerb, HistoryReadsFoldersOfRuns) {
  RunTotals vacuous = TestTotals();
  vacuous.walks = 0;
  Run("nights/1", 3);
  EXPECT_EQ(Report({"--history", dir_.Under("nights")}).exit_code, 0);
  Run("nights/2", 3, vacuous);
  const Outcome both = Report({"--history", dir_.Under("nights")});
  EXPECT_EQ(both.exit_code, 4);
  EXPECT_THAT(both.out, testing::StartsWith("2 runs from "));
  EXPECT_THAT(Report({"--history", dir_.Under("nights"), "--json"}).out,
              testing::StartsWith("{\n  \"schema\": 1"));
  const std::string page = dir_.Under("p.html");
  EXPECT_EQ(Report({"--history", dir_.Under("nights"), "--html", page}).exit_code, 4);
  EXPECT_THAT(ReadFile(page), HasSubstr("history of 2 runs</h1>"));
  for (const char* other : {"--junit", "--markdown", "--sarif", "--flame"})
    EXPECT_EQ(Report({"--history", dir_.Under("nights"), other, page}).exit_code, 2) << other;
  EXPECT_EQ(Report({"--history", dir_.Under("nowhere")}).exit_code, 2);
  EXPECT_EQ(Report({"--history", dir_.Under("nights"), "--coverage-goal", "5"}).exit_code, 2);
  EXPECT_EQ(Report({"--history", dir_.Under("nights"), "--coverage"}).exit_code, 2);
}

TEST_F(ReportVerb, AFlameGraphCanBeHeldAgainstABaseline) {
  for (const char* name : {"before", "now"}) {
    RunWriter run = std::move(RunWriter::Create(dir_.Under(name), TestIdentity()).value());
    ASSERT_TRUE(run.SaveCell(TestCell(0)).ok());
    StackTree stacks{{"f", 100}, {name, 900}};
    ASSERT_TRUE(run.SaveStacks(0, stacks).ok());
    ASSERT_TRUE(run.Finish(RunStatus::kCleanEnd, TestTotals()).ok());
  }
  const std::string before = dir_.Under("before"), now = dir_.Under("now"),
                    page = dir_.Under("p.html"), text = dir_.Under("p.txt");
  EXPECT_EQ(Report({now, "--baseline", before}).exit_code, 2);
  const Outcome collapsed = Report({now, "--baseline", before, "--collapsed", text});
  EXPECT_EQ(collapsed.exit_code, 2);
  EXPECT_THAT(collapsed.err, HasSubstr("--baseline needs --flame FILE.html"));
  EXPECT_EQ(Report({now, "--baseline", before, "--flame", page, "--collapsed", text}).exit_code, 2);
  EXPECT_EQ(Report({now, "--baseline", dir_.Under("none"), "--flame", page}).exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(page));
  const Outcome written = Report({now, "--baseline", before, "--flame", page});
  EXPECT_EQ(written.exit_code, Report({now}).exit_code) << written.err;
  EXPECT_THAT(ReadFile(page), HasSubstr("<h1>walkhammer: now against before, "));
  EXPECT_THAT(ReadFile(page), HasSubstr("\"changes\":[-3,0,3]"));
}

}  // namespace
}  // namespace walkhammer
