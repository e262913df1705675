// SPDX-License-Identifier: Apache-2.0
#include "reports/report_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/base/numbers.h"
#include "harness/base/shell.h"
#include "harness/base/testing/sanitized.h"
#include "harness/findings/crash_folder.h"
#include "reports/markup.h"
#include "reports/report_testing.h"

namespace walkhammer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// What an untrusted run's folder may hold to get out of a quotation, an element or a table.
constexpr char kHostile[] =
    "\"'><script>window.pwned=1</script><!-- ]]> &amp; \x01\x1b[31m\xff\xef\xbf\xbf | [x](y:z) "
    "@TITLE@ @everyone www.evil";

class OutputTest : public ReportedRun {
 protected:
  int64_t Add(const char* oracle, const char* outcome, const std::string& title, Realism realism) {
    FindingRecord record = TestRecord(oracle, outcome, title, realism);
    record.request =
        "walk 1\nwalker agct\nscene c2\nexpect x\nstate in_Java\nedit stack+0x8 = 0x1\n";
    return run_->AddFinding(record).value().bucket;
  }
  void Finish(RunTotals totals = TestTotals()) {
    EXPECT_TRUE(run_->Finish(RunStatus::kCleanEnd, totals).ok());
    run_.reset();
  }
  // The output `option` of the run, as if it were written to out/page in the test's folder.
  std::string Output(std::string_view option, std::optional<double> goal = {}) {
    const RunReader db = Opened();
    RunSummary summary = ReadRun(db, judging_).value();
    if (goal) HoldToGoal(summary, *goal);
    const OutputSource source =
        ReadOutputSource(db, summary, dir_.Under("out/page"), flame_).value();
    for (const ReportOutput& output : ReportOutputs())
      if (option == output.option) return output.write(source);
    ADD_FAILURE() << "no output " << option;
    return "";
  }
  // Makes findings with this title known as WH-1.
  void Know(const std::string& title) {
    ReportedRun::Know("issues", "WH-1", title);
    judging_ = Knowing("issues");
  }
  // Exit code of a shell command that reads `text` as its input.
  int Pipe(const std::string& command, const std::string& text) {
    const std::string file = dir_.Under("text");
    EXPECT_TRUE(WriteFileAtomically(file, text).ok());
    return std::system(("(" + command + ") <" + ShellWord(file)).c_str());
  }
  // Fails the test if `text` is not JUnit XML as reports/testing/junit.rng has it.
  void ExpectJunit(const std::string& text) {
    const std::string schema = std::string(WALKHAMMER_REPORT_TESTING) + "/junit.rng";
    EXPECT_EQ(Pipe("xmllint --noout --nonet --relaxng " + ShellWord(schema) + " - 2>&1", text), 0)
        << text;
  }

  std::string flame_;
  Judging judging_;
};

size_t Times(const std::string& text, const std::string& part) {
  size_t times = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) times++;
  return times;
}

TEST_F(OutputTest, ThePageBeginsWithTheVerdictAndTheMostRealFindings) {
  Add("crash", "fault", "crash in edited", Realism::kEditedStack);
  Add("crash", "fault", "crash in genuine", Realism::kGenuine);
  Finish();
  const std::string page = Output("--html");
  const auto at = [&](const char* part) {
    EXPECT_EQ(Times(page, part), 1u) << part;
    return page.find(part);
  };
  EXPECT_LT(at("<strong>FINDINGS</strong> 2 new Forbidden buckets"),
            at("</b> crash in genuine <i>"));
  EXPECT_LT(at("</b> crash in genuine <i>"), at("</b> crash in edited <i>"));
  EXPECT_THAT(page, HasSubstr("state in_Java\nedit stack+0x8 = 0x1</pre>"));
  EXPECT_THAT(page, Not(HasSubstr("<details class=\"f\" open")));
}

// A browser runs only the style and the script whose hashes the policy names.
TEST_F(OutputTest, ThePolicyOfThePageAllowsItsOwnScriptAndStyleAlone) {
  Finish();
  const std::string page = Output("--html");
  EXPECT_THAT(page, HasSubstr("content=\"default-src 'none'; style-src 'sha256-"));
  EXPECT_THAT(page, Not(HasSubstr("unsafe")));
  for (const std::string name : {"style", "script"}) {
    ASSERT_EQ(Times(page, "<" + name), 1u);
    const size_t begin = page.find("<" + name + ">") + name.size() + 2;
    const std::string text = page.substr(begin, page.find("</" + name + ">") - begin);
    ASSERT_GT(text.size(), 100u);
    const std::string hash = page.substr(page.find(name + "-src 'sha256-") + name.size() + 13, 44);
    EXPECT_EQ(
        Pipe("test \"$(sha256sum | cut -c 1-64 | tr a-f A-F | basenc -d --base16 | base64)\" = "
             "'" +
                 hash + "'",
             text),
        0)
        << name << " " << hash;
  }
  EXPECT_THAT(page, Not(HasSubstr(" style=")));  // the policy would refuse it
  EXPECT_THAT(page, Not(HasSubstr(" onclick")));
  EXPECT_THAT(page, Not(HasSubstr("http://")));
  EXPECT_THAT(page, Not(HasSubstr("https://")));
}

TEST_F(OutputTest, TextOfStrangersStaysText) {
  Add("crash", "fault", kHostile, Realism::kGenuine);
  ASSERT_TRUE(run_->SetVm(kHostile, kHostile).ok());
  Save<NoteRow>(kNoCell, {{kNoCell, NoteKind::kDropped, kHostile, 3, kHostile}});
  const std::vector<CountRow> counts = {{kHostile, kHostile, kHostile, kHostile, kHostile, 7}};
  ASSERT_TRUE(run_->SaveCounts(counts).ok());
  Finish();
  for (const char* option : {"--html", "--junit", "--markdown"}) {
    const std::string text = Output(option);
    EXPECT_THAT(text, HasSubstr("window.pwned")) << option;
    if (option != std::string_view("--markdown")) {  // where code spans show all as text
      EXPECT_THAT(text, Not(HasSubstr("<script>window"))) << option;
    }
    for (const char* bad : {"\x01", "\x1b", "\xff\xef"})
      EXPECT_THAT(text, Not(HasSubstr(bad))) << option;
  }
  for (const char* bad : {"\xef\xbf\xbf", "]]>"})
    EXPECT_THAT(Output("--junit"), Not(HasSubstr(bad)));
  EXPECT_EQ(Times(Output("--html"), "<script>"), 1u);
  EXPECT_EQ(Times(Output("--html"), "<title>walkhammer: run</title>"), 1u);
  ExpectJunit(Output("--junit"));
  const auto sarif = nlohmann::json::parse(Output("--sarif"));
  EXPECT_EQ(sarif["runs"][0]["results"].size(), 1u);
}

TEST_F(OutputTest, NoneTellsTheSecretsInFlags) {
  Add("crash", "fault", "crash in f", Realism::kGenuine);
  Finish();
  // By name, by shape, by where it stands; in flags and in the command.
  ExecSql(dir_.Under("run"),
          "UPDATE run SET jvm_flags = '-Xint -Ddb.password=hunter2 -Dx=gh'"
          " || 'p_0123456789abcdefghijABCDEF', command_line = 'walkhammer stress --java "
          "\"Main --db-pass hunter3 -p hunter4 scott5/tiger5@//db\"'");
  for (const ReportOutput& output : ReportOutputs())
    for (const char* secret : {"hunter", "0123456789abcdefghij", "scott5", "tiger5"})
      EXPECT_THAT(Output(output.option), Not(HasSubstr(secret))) << output.option;
  EXPECT_THAT(Output("--junit"), HasSubstr("-Xint -Ddb.password=&lt;redacted&gt;"));
  EXPECT_THAT(Text(), HasSubstr("Main --db-pass <redacted> -p <redacted> <redacted>@//"));
}

TEST_F(OutputTest, JunitHasACaseForEachBugAndFailsNewForbiddenOnes) {
  Add("crash", "fault", "crash in a", Realism::kGenuine);
  Add("crash", "fault", "crash in b", Realism::kGenuine);
  Add("method-id", "unloaded", "interesting", Realism::kGenuine);
  Finish();
  Know("crash in b");
  const std::string text = Output("--junit");
  ExpectJunit(text);
  EXPECT_EQ(Times(text, "<failure "), 1u);
  const auto has_case = [&](const char* name) {
    return HasSubstr(std::string("<testcase classname=\"walkhammer.bug\" name=\"") + name + "\"");
  };
  EXPECT_THAT(text,
              AllOf(has_case("agct: crash in a"), has_case("WH-1"), has_case("agct: interesting")));
  EXPECT_THAT(text, HasSubstr("<failure message=\"crash in a\""));
  EXPECT_THAT(text, HasSubstr("<system-out>known: WH-1, about crash in b\n"));
  EXPECT_THAT(text, HasSubstr(" name=\"verdict\" time=\"2.000\"/>"));
  EXPECT_EQ(Times(text, "<testcase "), 4u);
  EXPECT_THAT(text, HasSubstr(" failures=\"1\" errors=\"0\" time=\"2.000\">\n  <testsuite "));
}

TEST_F(OutputTest, JunitOfARunWithKnownBugsAlonePasses) {
  Add("crash", "fault", "crash in b", Realism::kGenuine);
  Finish();
  Know("crash in b");
  EXPECT_THAT(Output("--junit"), HasSubstr(" failures=\"0\" errors=\"0\""));
  judging_.strict = true;
  EXPECT_THAT(Output("--junit"), HasSubstr("<failure message=\"FINDINGS: "));
}

TEST_F(OutputTest, JunitFailsAWalkerThatIsNeverRight) {
  RunTotals wrong = TestTotals();
  wrong.pristine_true = 0;
  Finish(wrong);
  EXPECT_THAT(Output("--junit"), HasSubstr("<failure message=\"FINDINGS: none of 12 undisturbed"));
}

TEST_F(OutputTest, WhatIsNewComesFirstAndWhatIsKnownSaysSo) {
  Add("crash", "fault", "crash in b", Realism::kGenuine);
  Add("crash", "fault", "crash in a", Realism::kEditedStack);
  Finish();
  Know("crash in b");
  const std::string page = Output("--html"), markdown = Output("--markdown");
  EXPECT_LT(page.find("</b> crash in a <i>NEW, "), page.find("</b> crash in b <i>WH-1, "));
  EXPECT_THAT(page, HasSubstr("<h3>Known: "));
  EXPECT_LT(markdown.find("| NEW | Forbidden | edited-stack "),
            markdown.find("| WH-1 | Forbidden | genuine "));
  const auto sarif = nlohmann::json::parse(Output("--sarif"))["runs"][0]["results"];
  EXPECT_EQ(sarif[0]["baselineState"], "new");
  EXPECT_EQ(sarif[0]["level"], "error");
  EXPECT_EQ(sarif[1]["baselineState"], "unchanged");
  EXPECT_EQ(sarif[1]["level"], "note");
}

TEST_F(OutputTest, WhatIsKnownSaysSinceWhenIfTheStoreDoes) {
  Add("crash", "fault", "crash in a", Realism::kGenuine);
  Add("crash", "fault", "crash in b", Realism::kGenuine);
  Add("crash", "fault", "crash in c", Realism::kGenuine);
  Finish();
  ReportedRun::Know("issues", "WH-1", "crash in a");
  ReportedRun::Know("team", "T-1", "crash in b",
                    "[first-seen]\nbuild = \"25.0.1+8\"\nrun = \"night\"\n"
                    "date = 2026-01-02T03:04:05Z\n");
  judging_ = Knowing("issues", "team");
  const std::string page = Output("--html"), markdown = Output("--markdown");
  EXPECT_THAT(markdown, HasSubstr("| T-1, since 2026-01-02 on 25.0.1+8 | Forbidden"));
  EXPECT_THAT(markdown, HasSubstr("| WH-1 | Forbidden"));
  EXPECT_THAT(page, HasSubstr("<dt>known since</dt><dd>2026-01-02 on 25.0.1+8</dd>"));
  EXPECT_EQ(Times(page, "known since"), 1u);
}

TEST_F(OutputTest, MarkdownExplainsTheWordsThatItUses) {
  Add("crash", "fault", "crash in a", Realism::kGenuine);
  Add("method-id", "unloaded", "interesting", Realism::kShifted);
  Finish();
  EXPECT_THAT(
      Output("--markdown"),
      HasSubstr("\n\n* Grade: Forbidden\\: an API promises that this does not happen, or no "
                "program survives it; Interesting\\: worth a look, but no promise is "
                "broken.\n* Realism: genuine\\: exactly what a profiler's signal would have "
                "seen; shifted\\: registers moved by a few bytes from what a signal would "
                "have seen.\n"));
}

// A CI server that looks at JUnit alone must not take a run without a true walk for a pass.
TEST_F(OutputTest, JunitSaysWhatTheExitCodeSays) {
  RunTotals vacuous = TestTotals();
  vacuous.walks = 0;
  Finish(vacuous);
  ExpectJunit(Output("--junit"));
  EXPECT_THAT(Output("--junit"), AllOf(HasSubstr("<error message=\"VACUOUS: "),
                                       HasSubstr(" failures=\"0\" errors=\"1\"")));
}

TEST_F(OutputTest, JunitFailsARunBelowItsGoalAndSkipsOneWithoutCoverage) {
  ASSERT_TRUE(run_->SetCoverage(TestCoverage()).ok());
  Finish();
  EXPECT_EQ(Times(Output("--junit"), "<failure "), 0u);
  EXPECT_THAT(Output("--junit", 50), HasSubstr("<failure message=\"BELOW GOAL: "));
  ExpectJunit(Output("--junit", 50));
}

TEST_F(OutputTest, JunitOfCellsHasEachCellAndEachBug) {
  CellRow dead = TestCell(1), absent = TestCell(2);
  dead.status = CellStatus::kHung;
  dead.reason = "no CPU time";
  absent.status = CellStatus::kUnavailable;
  absent.delivery = {};
  for (const CellRow& cell : {TestCell(0), dead, absent}) ASSERT_TRUE(run_->SaveCell(cell).ok());
  FindingRecord record = TestRecord("crash", "fault", "in a cell", Realism::kGenuine);
  record.cell = 0;
  ASSERT_TRUE(run_->AddFinding(record).ok());
  Add("crash", "fault", "in no cell", Realism::kGenuine);
  Finish();
  const std::string text = Output("--junit");
  ExpectJunit(text);
  EXPECT_THAT(text, AllOf(HasSubstr("<failure message=\"in a cell\""),
                          HasSubstr("<failure message=\"in no cell\""),
                          HasSubstr("<error message=\"hung: no CPU time\" type=\"hung\">"),
                          HasSubstr("<skipped message=\"unavailable\"/>"),
                          HasSubstr("tests=\"6\" failures=\"2\" errors=\"1\"")));
}

TEST_F(OutputTest, LinksLeadFromThePageToTheRun) {
  const int64_t bucket = Add("crash", "fault", "crash in a", Realism::kGenuine);
  const std::string folder = Read(*run_).Buckets().value()[0].folder;
  std::filesystem::create_directories(dir_.Under("run") + "/" + folder);
  for (const char* name : {kInputName, kMinimizedName})
    ASSERT_TRUE(
        WriteFileAtomically(dir_.Under("run") + "/" + folder + "/" + name, "walk 1\n").ok());
  Finish();
  const std::string page = Output("--html");
  EXPECT_THAT(page, HasSubstr("<a href=\"../run/" + folder + "/input.walk\">"));
  // It is not known that the minimised input replays, so the command names the first one.
  EXPECT_THAT(page, HasSubstr("walkhammer replay " + dir_.Under("run") + "/" + folder +
                              "/input.walk --jdk jdk -- -Xint</pre>"));
  EXPECT_THAT(Output("--markdown"), HasSubstr("/input.walk --jdk jdk -- -Xint`"));
  EXPECT_GT(bucket, 0);
}

// The cells of a run are added up.
TEST_F(OutputTest, ThePageShowsAgreementAndWitnessesAsBars) {
  for (int cell = 0; cell < 2; cell++) {
    ASSERT_TRUE(run_->SaveCell(TestCell(cell)).ok());
    Save<AgreementRow>(cell,
                       {{cell, "asgst", "agct", Realism::kGenuine, "codelet", "none", 40},
                        {cell, "asgst", "agct", Realism::kGenuine, "codelet", "bci", 5},
                        {cell, "asgst", "agct", Realism::kGenuine, "nmethod", "method", 5},
                        {cell, "asgst", "agct", Realism::kGenuine, "nmethod", "one-failed", 7}});
    Save<EvidenceRow>(cell,
                      {{cell, "asgst", "agct", "nmethod", "method", "shadow-stack", "other", 3},
                       {cell, "asgst", "agct", "nmethod", "method", "shadow-stack", "both", 1}});
  }
  Finish();
  const std::string page = Output("--html");
  EXPECT_THAT(page, HasSubstr("<caption>asgst with agct</caption>"));
  EXPECT_THAT(page, HasSubstr("<th scope=\"row\">anywhere</th><td class=\"n\">100</td>"
                              "<td class=\"n\">90.00 %</td><td class=\"n\">80.00 %</td>"));
  EXPECT_THAT(page, HasSubstr("<rect class=\"share\" x=\"0.00\" width=\"80.00\" height=\"10\"/>"
                              "<rect class=\"share part\" x=\"80.00\" width=\"10.00\" "
                              "height=\"10\"/><rect class=\"share bad\" x=\"90.00\" "
                              "width=\"10.00\" height=\"10\"/></svg></td>"
                              "<td>10 bci, 10 method</td><td class=\"n\">14</td>"));
  EXPECT_THAT(page, HasSubstr("asgst with agct: whom the witness shadow-stack contradicts"));
  EXPECT_THAT(page, HasSubstr("<th scope=\"row\">method</th><td class=\"n\">8</td>"
                              "<td class=\"n\">8</td>"));
}

TEST_F(OutputTest, ThePageWithoutAgreementHasNoSectionOfIt) {
  ASSERT_TRUE(run_->SaveCell(TestCell(0)).ok());
  Finish();
  EXPECT_THAT(Output("--html"), Not(HasSubstr("id=\"agreement\"")));
}

TEST_F(OutputTest, ThePageLinksAFlameGraphOnlyIfThereIsOne) {
  ASSERT_TRUE(run_->SaveCell(TestCell(0)).ok());
  Finish();
  EXPECT_THAT(Output("--html"), Not(HasSubstr("Flame graph")));
  flame_ = dir_.Under("out/a flame.html");
  EXPECT_THAT(Output("--html"), HasSubstr("<a href=\"a%20flame.html\">Flame graph"));
  flame_.clear();
  ASSERT_TRUE(WriteFileAtomically(dir_.Under("run/flame.html"), "x").ok());
  EXPECT_THAT(Output("--html"), HasSubstr("<a href=\"../run/flame.html\">Flame graph"));
}

TEST_F(OutputTest, SarifHasAResultForEachForbiddenBucket) {
  Add("crash", "fault", "crash in a", Realism::kGenuine);
  Add("crash", "fault", "crash in b", Realism::kShifted);
  Add("bci", "outside", "bci/outside", Realism::kGenuine);
  Add("method-id", "unloaded", "interesting", Realism::kGenuine);
  Finish();
  const auto run = nlohmann::json::parse(Output("--sarif"))["runs"][0];
  const auto& rules = run["tool"]["driver"]["rules"];
  ASSERT_EQ(run["results"].size(), 3u);
  ASSERT_EQ(rules.size(), 2u);
  for (const auto& result : run["results"]) {
    EXPECT_EQ(result["ruleId"], rules[result["ruleIndex"].get<size_t>()]["id"]);
    EXPECT_EQ(result["level"], "error");
    EXPECT_EQ(result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"], "f()");
  }
  EXPECT_EQ(run["invocations"][0]["exitCode"], 1);
  EXPECT_EQ(run["invocations"][0]["executionSuccessful"], true);
}

TEST_F(OutputTest, MarkdownShowsTextAsText) {
  EXPECT_EQ(MarkdownText("a_b*c|d <e> [f](g) @h # i"),
            "a\\_b\\*c\\|d &lt;e&gt; \\[f\\]\\(g\\) &#64;h \\# i");
  EXPECT_EQ(MarkdownText("- 1. x-y 2.5"), "\\- 1. x-y 2.5");
  EXPECT_EQ(MarkdownText("1. x"), "1\\. x");
  EXPECT_EQ(MarkdownText("www.evil https://evil"), "www\\.evil https\\://evil");
  EXPECT_EQ(MarkdownText("93.10 %"), "93.10 %");
  EXPECT_EQ(MarkdownText("a\nb"), "a?b");
}

// Tens of thousands of findings make a page that a browser can show.
TEST_F(OutputTest, ARunWithMuchToShowMakesAPageOfBoundedSize) {
  for (int i = 0; i < 200; i++) {
    FindingRecord record =
        TestRecord("crash", "fault", "crash in f" + std::to_string(i), Realism::kGenuine);
    for (int line = 0; line < 64; line++) {
      record.frames += std::string(500, 'f') + "\n";
      record.native += "libjvm.so " + std::string(500, 'n') + "\n";
      record.request += "edit stack+0x8 = " + std::string(500, 'e') + "\n";
    }
    ASSERT_TRUE(run_->AddFinding(record).ok());
  }
  Finish();
  const std::string page = Output("--html");
  EXPECT_EQ(Times(page, "<details class=\"f\"") + Times(page, "<div class=\"f\""), 200u);
  EXPECT_GT(Times(page, "<div class=\"f\""), 50u);
  EXPECT_THAT(page, HasSubstr("There are too many findings to show all in full here"));
  EXPECT_GT(page.size(), 900'000u);
  EXPECT_LT(page.size(), 1'200'000u);
  EXPECT_LT(Output("--markdown").size(), 1u << 20);
}

// The page of `count` crashes, in functions whose names begin with `function`.
class ManyFindings : public OutputTest {
 protected:
  std::string Page(int count, const std::string& function) {
    for (int i = 0; i < count; i++) {
      const std::string title = "crash in " + function + std::to_string(i);
      EXPECT_TRUE(run_->AddFinding(TestRecord("crash", "fault", title, Realism::kGenuine)).ok());
    }
    Finish();
    return Output("--html");
  }
};

TEST_F(ManyFindings, OfTenThousandNoneIsMissing) {
  const int count = kSanitized ? 1'000 : 10'000;
  const std::string page = Page(count, "frame::sender_for_compiled_frame");
  EXPECT_EQ(Times(page, "<details class=\"f\"") + Times(page, "<div class=\"f\""), count);
  EXPECT_GT(Times(page, "<details class=\"f\""), 50u);
  EXPECT_THAT(page, Not(HasSubstr("There is no room")));
  EXPECT_LT(page.size(), 3'000'000u);
}

TEST_F(ManyFindings, OfWhichNotEvenLinesFitAreCounted) {
  const std::string page = Page(2'000, std::string(1500, 'f'));
  const size_t shown = Times(page, "<details class=\"f\"") + Times(page, "<div class=\"f\"");
  EXPECT_GT(shown, 1'000u);
  EXPECT_LT(shown, 2'000u);
  EXPECT_GT(Times(page, "<details class=\"f\""), 50u);
  EXPECT_THAT(page, HasSubstr("There is no room here for " + Grouped(2'000 - shown) +
                              " more findings: <code>walkhammer report</code> lists all."));
  EXPECT_GT(page.size(), 2'500'000u);
  EXPECT_LT(page.size(), 3'000'000u);
}

}  // namespace
}  // namespace walkhammer
