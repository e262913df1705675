// SPDX-License-Identifier: Apache-2.0
// A run as JUnit XML. The format has no standard of its own; this keeps to what the schemas of
// Jenkins and of Ant have in common: suites have name, tests, failures, errors, skipped, time and
// timestamp, cases have name, classname and time, and at most one of failure, error and skipped.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/base/numbers.h"
#include "harness/base/text.h"
#include "reports/markup.h"
#include "reports/report_output.h"

namespace walkhammer {
namespace {

struct JunitCase {
  std::string suite;             // "run", "bugs", "scenes", "cells"
  std::string class_name, name;  // stable over runs: CI servers follow a case by them
  uint64_t time_ms = 0;
  std::string ending{};                   // "failure", "error", "skipped"; empty: passed
  std::string type{}, message{}, body{};  // of the ending
  std::string note{};                     // of a case that passed
};

// What CI servers show of a bucket in a failed case.
std::string BucketBody(const OutputSource& source, size_t index) {
  const BucketRow& bucket = source.summary.buckets[index];
  const BucketExample& example = source.examples[index];
  std::string text = fmt::format(
      "{}\n  {}/{}, {}, {}, seen {} times\n", OnOneLine(bucket.signature.title), bucket.oracle,
      bucket.outcome, RealismWord(bucket.realism), ReplaysText(bucket), Grouped(bucket.count));
  if (!example.finding.detail.empty()) text += "  " + OnOneLine(example.finding.detail) + "\n";
  text += example.replay.empty() ? "  no input was kept\n" : "  " + example.replay + "\n";
  return text;
}

// Makes `test` a failure if there are buckets, all of which are Forbidden.
void FailCase(JunitCase& test, const OutputSource& source, const std::vector<size_t>& buckets) {
  if (buckets.empty()) return;
  const BucketRow& first = source.summary.buckets[buckets.front()];
  test.ending = "failure";
  test.type = first.oracle + "/" + first.outcome;
  test.message = OnOneLine(first.signature.title);
  if (buckets.size() > 1)
    test.message += fmt::format(" and {}", Counted(buckets.size() - 1, "more bucket"));
  for (const size_t bucket : buckets) test.body += BucketBody(source, bucket);
}

// The verdict, where findings alone do not explain it.
JunitCase RunCase(const RunSummary& summary) {
  const Verdict& verdict = summary.verdict;
  JunitCase test{"run", "walkhammer.run", "verdict",
                 summary.cells.empty() ? summary.run.totals.time_ms : 0};
  test.type = verdict.word;
  test.message = verdict.word + ": " + OnOneLine(verdict.sentence);
  test.body = LimitsText(summary);
  if (verdict.exit == ExitCode::kToolFailed) test.ending = "error";
  if (verdict.exit == ExitCode::kUnable) test.ending = "skipped";
  // A new bug has a case of its own.
  bool has_news = false;
  for (size_t i = 0; i < summary.buckets.size(); i++)
    has_news = has_news || IsNews(summary.buckets[i], summary.names[i]);
  if (verdict.exit == ExitCode::kFindings && (verdict.word != "FINDINGS" || !has_news))
    test.ending = "failure";
  return test;
}

// One case for each bug, by what it is known as or else by its signature: new ones fail.
void AddBugs(std::vector<JunitCase>& cases, const OutputSource& source) {
  const RunSummary& summary = source.summary;
  std::map<std::string, std::vector<size_t>> bugs;
  for (size_t i = 0; i < summary.buckets.size(); i++) {
    const KnownAs& name = summary.names[i];
    const std::string title = source.examples[i].walker + ": " + summary.buckets[i].signature.title;
    bugs[!WantsSomebody(name.word.verdict) ? name.word.id
         : name.signature.empty()          ? title
                                           : name.signature]
        .push_back(i);
  }
  for (const auto& [id, buckets] : bugs) {
    JunitCase test{"bugs", "walkhammer.bug", id};
    std::vector<size_t> news;
    for (const size_t i : buckets)
      if (IsNews(summary.buckets[i], summary.names[i])) news.push_back(i);
    FailCase(test, source, news);
    test.note = NameText(summary.names[buckets.front()]) + "\n";
    for (const size_t i : buckets) test.note += BucketBody(source, i);
    cases.push_back(std::move(test));
  }
}

// A scene that could not be set up, or whose own stack was not walked correctly, proves nothing.
void AddScenes(std::vector<JunitCase>& cases, const RunSummary& summary) {
  for (const SceneRow& scene : summary.scenes) {
    if (!scene.IsAsked()) continue;
    JunitCase test{"scenes", "walkhammer." + summary.run.identity.walker + ".scene", scene.name};
    if (!scene.available || !scene.pristine_true) test.ending = "skipped";
    test.message = scene.reason.empty() ? "not walked correctly" : scene.reason;
    cases.push_back(std::move(test));
  }
}

// How the cells ended. What they found are the bugs' cases.
void AddCells(std::vector<JunitCase>& cases, const RunSummary& summary) {
  for (const CellSummary& cell : summary.cells) {
    const CellRow& row = cell.row;
    const std::string word = CellWord(row, summary.run);
    JunitCase test{
        "cells",
        "walkhammer." + (row.walker.empty() ? row.sampler : row.walker) + "." + row.workload,
        CellLabel(row), row.time_ms};
    test.type = word;
    test.message = OnOneLine(word + (row.reason.empty() ? "" : ": ") + row.reason);
    if (IsSkipped(row.status))
      test.ending = "skipped";
    else if (word != CellStatusWord(CellStatus::kPassed))
      test.ending = "error";
    cases.push_back(std::move(test));
  }
}

std::string JunitSeconds(uint64_t time_ms) {
  return fmt::format("{}.{:03}", time_ms / 1000, time_ms % 1000);
}

std::string CaseXml(const JunitCase& test) {
  std::string text = fmt::format(R"(    <testcase classname="{}" name="{}" time="{}")",
                                 MarkupText(OnOneLine(test.class_name)),
                                 MarkupText(OnOneLine(test.name)), JunitSeconds(test.time_ms));
  if (test.ending.empty() && test.note.empty()) return text + "/>\n";
  if (test.ending.empty())
    return text + fmt::format(">\n      <system-out>{}</system-out>\n    </testcase>\n",
                              MarkupText(test.note));
  text += fmt::format(">\n      <{} message=\"{}\"", test.ending, MarkupText(test.message));
  if (test.ending == "skipped") return text + "/>\n    </testcase>\n";
  return text + fmt::format(" type=\"{}\">{}</{}>\n    </testcase>\n", MarkupText(test.type),
                            MarkupText(test.body), test.ending);
}

std::string PropertiesXml(const RunIdentity& identity) {
  std::string text = "    <properties>\n";
  const std::pair<const char*, const std::string&> properties[] = {
      {"jdk", identity.jdk_path},
      {"vm", identity.vm_version},
      {"build-id", identity.libjvm_build_id},
      {"jvm-flags", identity.jvm_flags},
      {"walker", identity.walker},
      {"provider", identity.provider},
      {"walkhammer", identity.tool_version}};
  for (const auto& [name, value] : properties)
    text += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name,
                        MarkupText(OnOneLine(value)));
  return text + "    </properties>\n";
}

// " tests="3" failures="1" errors="0" skipped="0" time="1.500"", of the cases that `counts` counts.
template <typename Counts>
std::string JunitTotals(const std::vector<JunitCase>& cases, Counts counts, bool skipped) {
  const auto with = [&](std::string_view ending) {
    return std::count_if(cases.begin(), cases.end(), [&](const JunitCase& test) {
      return counts(test) && (ending == "tests" || test.ending == ending);
    });
  };
  std::string text = fmt::format(" tests=\"{}\" failures=\"{}\" errors=\"{}\"", with("tests"),
                                 with("failure"), with("error"));
  if (skipped) text += fmt::format(" skipped=\"{}\"", with("skipped"));
  uint64_t time_ms = 0;
  for (const JunitCase& test : cases)
    if (counts(test)) time_ms += test.time_ms;
  return text + fmt::format(" time=\"{}\"", JunitSeconds(time_ms));
}

}  // namespace

std::string JunitReport(const OutputSource& source) {
  const RunSummary& summary = source.summary;
  std::vector<JunitCase> cases = {RunCase(summary)};
  AddBugs(cases, source);
  summary.cells.empty() ? AddScenes(cases, summary) : AddCells(cases, summary);
  // Schemas allow no zone.
  std::string timestamp = OnOneLine(summary.run.identity.started_at);
  if (timestamp.ends_with('Z')) timestamp.pop_back();
  const std::string name = MarkupText("walkhammer " + OnOneLine(RunName(summary.dir)));
  std::string text =
      fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\"{}>\n", name,
                  JunitTotals(
                      cases, [](const JunitCase&) { return true; }, false));
  for (const char* suite : {"run", "bugs", "scenes", "cells"}) {
    const auto in_suite = [&](const JunitCase& test) { return test.suite == suite; };
    if (std::none_of(cases.begin(), cases.end(), in_suite)) continue;
    text += fmt::format("  <testsuite name=\"{}: {}\"{} timestamp=\"{}\">\n", name, suite,
                        JunitTotals(cases, in_suite, true), MarkupText(timestamp));
    text += PropertiesXml(summary.run.identity);
    for (const JunitCase& test : cases)
      if (in_suite(test)) text += CaseXml(test);
    text += "  </testsuite>\n";
  }
  return text + "</testsuites>\n";
}

}  // namespace walkhammer
