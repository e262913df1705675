// SPDX-License-Identifier: Apache-2.0
// report: what a run folder holds, without a JVM.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "harness/base/numbers.h"
#include "harness/base/print.h"
#include "harness/cli/judging.h"
#include "harness/cli/options.h"
#include "harness/cli/output_file.h"
#include "harness/store/run_folders.h"
#include "reports/coverage_report.h"
#include "reports/flame_graph.h"
#include "reports/history.h"
#include "reports/report_output.h"
#include "reports/run_summary.h"

namespace walkhammer {
namespace {

struct ReportOptions {
  std::vector<std::string> runs;
  std::string function;
  std::string flame, collapsed, cell;  // files; the cell they show, empty: all
  std::string baseline;                // the run that the flame graph is compared with, if any
  // By ReportOutputs(): the file to write, "-" for stdout, empty for none.
  std::vector<std::string> outputs = std::vector<std::string>(ReportOutputs().size());
  std::optional<double> coverage_goal;
  JudgingOptions judging;
  bool json = false, coverage = false, unreached = false, history = false;
};

bool WritesFiles(const ReportOptions& options) {
  return !options.flame.empty() || !options.collapsed.empty() ||
         std::any_of(options.outputs.begin(), options.outputs.end(),
                     [](const std::string& path) { return !path.empty(); });
}

std::string& HtmlPath(ReportOptions& options) {
  size_t html = 0;
  while (ReportOutputs()[html].option != std::string_view("--html")) html++;
  return options.outputs[html];
}

// --history has text, JSON and HTML output only.
Status CheckHistory(const ReportOptions& options) {
  ReportOptions others = options;
  HtmlPath(others).clear();
  if (WritesFiles(others) || options.coverage_goal)
    return BadInput("--history goes with --json or --html alone");
  return Ok();
}

Status CheckOptions(const ReportOptions& options) {
  if (!options.function.empty() && !options.coverage && !options.unreached)
    return BadInput("--function goes with --coverage or --unreached");
  if (!options.cell.empty() && options.flame.empty() && options.collapsed.empty())
    return BadInput("--cell goes with --flame or --collapsed");
  if (!options.baseline.empty() && options.flame.empty())
    return BadInput("--baseline needs --flame FILE.html, which shows what differs");
  if (!options.baseline.empty() && !options.collapsed.empty())
    return BadInput("--baseline compares flame graphs, so leave out --collapsed");
  if (options.history) return CheckHistory(options);
  if (WritesFiles(options) && options.runs.size() > 1)
    return BadInput("an option that writes a file goes with one run");
  return Ok();
}

Result<std::string> ReportText(const ReportOptions& options, const RunReader& db,
                               const RunSummary& summary) {
  if (options.json) return JsonReport(db, summary);
  if (!options.coverage && !options.unreached) return TextReport(summary);
  std::string text;
  if (options.runs.size() > 1) text = fmt::format("{}:\n", db.dir());
  if (options.coverage) {
    ASSIGN_OR_RETURN(const auto table, FunctionReport(db, options.function));
    text += table;
  }
  if (options.unreached) {
    ASSIGN_OR_RETURN(const auto listing, UnreachedReport(db, options.function));
    text += (options.coverage ? "\n" : "") + listing;
  }
  return text;
}

// Writes the flame graph of a run compared with a baseline, and says which cells it leaves out.
Status WriteFlameDifference(const ReportOptions& options, const RunReader& db) {
  ASSIGN_OR_RETURN(const RunReader baseline, RunReader::Open(options.baseline));
  ASSIGN_OR_RETURN(const auto comparison, CompareFlames(baseline, db, options.cell));
  std::string title =
      fmt::format("walkhammer: {} against {}", RunName(db.dir()), RunName(baseline.dir()));
  if (comparison.now.size() == 1) title += ", " + comparison.now[0].name;
  for (const std::string& name : comparison.left_out)
    Print(stderr, "{}: not compared: one of the runs has no stacks of it\n", OnOneLine(name));
  return WriteOutput("--flame", options.flame, FlameDifferenceHtml(comparison, title));
}

// Writes the flame graph and the collapsed stacks that the options ask for, and prints a line for
// each.
Status WriteStacks(const ReportOptions& options, const RunReader& db) {
  if (!options.baseline.empty()) return WriteFlameDifference(options, db);
  ASSIGN_OR_RETURN(const auto groups, FlameGroups(db, options.cell));
  if (!options.flame.empty()) {
    std::string title = "walkhammer: " + RunName(db.dir());
    if (groups.size() == 1) title += ", " + groups[0].name;
    RETURN_IF_ERROR(WriteOutput("--flame", options.flame, FlameGraphHtml(groups, title)));
  }
  if (options.collapsed.empty()) return Ok();
  return WriteOutput("--collapsed", options.collapsed, CollapsedText(groups));
}

// Writes all that the options ask for.
Status WriteFiles(const ReportOptions& options, const RunReader& db, const RunSummary& summary) {
  if (!options.flame.empty() || !options.collapsed.empty())
    RETURN_IF_ERROR(WriteStacks(options, db));
  for (size_t i = 0; i < options.outputs.size(); i++) {
    const std::string& path = options.outputs[i];
    if (path.empty()) continue;
    ASSIGN_OR_RETURN(const auto source, ReadOutputSource(db, summary, path, options.flame));
    RETURN_IF_ERROR(WriteOutput(ReportOutputs()[i].option, path, ReportOutputs()[i].write(source)));
  }
  return Ok();
}

Status PrintReport(const ReportOptions& options, const RunReader& db, const RunSummary& summary) {
  ASSIGN_OR_RETURN(const auto text, ReportText(options, db, summary));
  Print(stdout, "{}", text);
  return Ok();
}

Result<ExitCode> PrintHistory(ReportOptions options, const Judging& judging) {
  ASSIGN_OR_RETURN(const History history, ReadHistory(options.runs, judging));
  if (const std::string path = HtmlPath(options); !path.empty())
    RETURN_IF_ERROR(WriteOutput("--html", path, HistoryHtml(history)));
  else
    Print(stdout, "{}", options.json ? HistoryJson(history) : HistoryText(history));
  return history.exit;
}

Result<ExitCode> RunReport(const ReportOptions& given) {
  ReportOptions options = given;
  if (!options.history) options.runs = RunFolders(given.runs);
  RETURN_IF_ERROR(CheckOptions(options));
  ASSIGN_OR_RETURN(const Judging judging, ReadJudging(options.judging));
  if (options.history) return PrintHistory(options, judging);
  ExitCode worst = ExitCode::kClean;
  for (const std::string& dir : options.runs) {
    ASSIGN_OR_RETURN(const RunReader db, RunReader::Open(dir));
    ASSIGN_OR_RETURN(RunSummary summary, ReadRun(db, judging));
    if (options.coverage_goal) HoldToGoal(summary, *options.coverage_goal);
    RETURN_IF_ERROR(WritesFiles(options) ? WriteFiles(options, db, summary)
                                         : PrintReport(options, db, summary));
    worst = Graver(worst, summary.verdict.exit);
  }
  return worst;
}

}  // namespace

void AddReport(CLI::App& app, Invocation& chosen) {
  Verb verb(app, "report", "Report what a run found, from its folder alone");
  auto o = std::make_shared<ReportOptions>();
  verb.Argument("runs", o->runs, "Folders of runs or nights; with --history, also folders of these",
                "DIR");
  verb.Flag("--coverage", o->coverage,
            "Print only how much of each function of the walker's code was reached");
  verb.Flag(
      "--unreached", o->unreached,
      "Print only the blocks that were not reached, disassembled; needs the libjvm of the run");
  verb.Text("--function", o->function,
            "With --coverage or --unreached: only functions whose names contain this", "NAME");
  verb.Text("--flame", o->flame,
            "A flame graph of the stacks that a stress or step run saw, as a page", "FILE.html");
  verb.Text("--baseline", o->baseline,
            "With --flame: colour frames by how their share differs from that in this run", "RUN");
  verb.Text("--collapsed", o->collapsed,
            "The stacks of a run as text, in the collapsed format of flamegraph.pl", "FILE");
  verb.Text("--cell", o->cell, "With --flame or --collapsed: only this cell, by label or position",
            "CELL");
  for (size_t i = 0; i < ReportOutputs().size(); i++) {
    const ReportOutput& output = ReportOutputs()[i];
    verb.Text(output.option, o->outputs[i], output.what, output.kind);
  }
  verb.Flag("--history", o->history,
            "When each bucket was seen in the runs in and below these folders, and how often");
  verb.CoverageGoal(o->coverage_goal);
  AddJudging(verb, o->judging);
  verb.Json(o->json);
  for (const char* other : {"--coverage", "--unreached"}) verb.Excludes("--json", other);
  std::vector<const char*> files = {"--flame", "--collapsed"};
  for (const ReportOutput& output : ReportOutputs()) files.push_back(output.option);
  for (const char* only : files)
    for (const char* other : {"--json", "--coverage", "--unreached"}) verb.Excludes(only, other);
  for (const char* other : {"--coverage", "--unreached"}) verb.Excludes("--history", other);
  verb.Runs(chosen, o, RunReport);
}

}  // namespace walkhammer
