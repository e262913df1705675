// SPDX-License-Identifier: Apache-2.0
// report: what a run folder holds, without a JVM.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "harness/base/print.h"
#include "harness/cli/options.h"
#include "harness/findings/crash_folder.h"
#include "reports/coverage_report.h"
#include "reports/flame_graph.h"
#include "reports/json_report.h"
#include "reports/run_summary.h"
#include "reports/text_report.h"

namespace walkhammer {
namespace {

struct Options {
  std::vector<std::string> runs;
  std::string function;
  std::string flame, collapsed, cell;  // files; the cell they show, empty: all
  std::optional<double> coverage_goal;
  bool json = false, coverage = false, unreached = false;
};

// The graver of two exit codes, for several runs. kUnable, a run that could not be judged, hides
// neither findings nor a vacuous run.
ExitCode Graver(ExitCode a, ExitCode b) {
  for (const ExitCode code : {ExitCode::kToolFailed, ExitCode::kFindings, ExitCode::kUnable})
    if (a == code || b == code) return code;
  return ExitCode::kClean;
}

Result<std::string> ReportText(const Options& options, const RunDb& db, const RunSummary& summary) {
  if (options.json) return JsonReport(db, summary);
  if (!options.coverage && !options.unreached) return TextReport(summary);
  std::string text;
  if (options.runs.size() > 1) text = fmt::format("{}:\n", db.dir());
  if (options.coverage) {
    auto table = FunctionReport(db, options.function);
    if (!table.ok()) return table;
    text += table.value();
  }
  if (options.unreached) {
    auto listing = UnreachedReport(db, options.function);
    if (!listing.ok()) return listing;
    text += (options.coverage ? "\n" : "") + listing.value();
  }
  return text;
}

// Writes the flame graph and the collapsed stacks that the options ask for, and prints a line for
// each.
Status WriteStacks(const Options& options, const RunDb& db) {
  ASSIGN_OR_RETURN(const auto groups, FlameGroups(db, options.cell));
  const auto write = [](const char* option, const std::string& path,
                        const std::string& text) -> Status {
    const Status status = WriteFileAtomically(path, text);
    if (!status.ok()) return BadInput(fmt::format("{} {}", option, status.failure().message));
    Print(stdout, "{}: written\n", path);
    return Ok();
  };
  if (!options.flame.empty()) {
    std::error_code ignored;
    const auto dir = std::filesystem::canonical(db.dir(), ignored);
    std::string title = "walkhammer: " + dir.filename().string();
    if (groups.size() == 1) title += ", " + groups[0].name;
    if (Status status = write("--flame", options.flame, FlameGraphHtml(groups, title));
        !status.ok())
      return status;
  }
  if (options.collapsed.empty()) return Ok();
  return write("--collapsed", options.collapsed, CollapsedText(groups));
}

int RunReport(const Options& options) {
  if (!options.function.empty() && !options.coverage && !options.unreached)
    return PrintFailure(BadInput("--function goes with --coverage or --unreached"));
  const bool stacks = !options.flame.empty() || !options.collapsed.empty();
  if (!options.cell.empty() && !stacks)
    return PrintFailure(BadInput("--cell goes with --flame or --collapsed"));
  if (stacks && options.runs.size() > 1)
    return PrintFailure(BadInput("--flame and --collapsed go with one run"));
  ExitCode worst = ExitCode::kClean;
  for (const std::string& dir : options.runs) {
    auto db = RunDb::Open(dir);
    if (!db.ok()) return PrintFailure(db.failure());
    auto summary = ReadRun(db.value());
    if (!summary.ok()) return PrintFailure(summary.failure());
    if (options.coverage_goal) HoldToGoal(summary.value(), *options.coverage_goal);
    if (stacks) {
      if (Status status = WriteStacks(options, db.value()); !status.ok())
        return PrintFailure(status.failure());
      return static_cast<int>(summary.value().verdict.exit);
    }
    auto text = ReportText(options, db.value(), summary.value());
    if (!text.ok()) return PrintFailure(text.failure());
    Print(stdout, "{}", text.value());
    worst = Graver(worst, summary.value().verdict.exit);
  }
  return static_cast<int>(worst);
}

}  // namespace

void AddReport(CLI::App& app, Invocation& chosen) {
  Verb verb(app, "report", "What a run found, from its folder alone");
  auto o = std::make_shared<Options>();
  verb.Argument("runs", o->runs, "Run folders");
  verb.Flag("--coverage", o->coverage,
            "Only: how much of each function of the walker's code was reached");
  verb.Flag("--unreached", o->unreached,
            "Only: the blocks not reached, disassembled; needs the libjvm of the run");
  verb.Text("--function", o->function,
            "Of functions whose names contain this; with --coverage or --unreached", "NAME");
  verb.Text("--flame", o->flame,
            "Only: a flame graph of the stacks that a stress or step run saw, as a page",
            "FILE.html");
  verb.Text("--collapsed", o->collapsed,
            "Only: these stacks as text, in the collapsed format of flamegraph.pl", "FILE");
  verb.Text("--cell", o->cell, "Of this cell, by label or position; with --flame or --collapsed",
            "CELL");
  verb.CoverageGoal(o->coverage_goal);
  verb.Json(o->json);
  for (const char* other : {"--coverage", "--unreached"}) verb.Excludes("--json", other);
  for (const char* only : {"--flame", "--collapsed"})
    for (const char* other : {"--json", "--coverage", "--unreached"}) verb.Excludes(only, other);
  verb.Runs(chosen, [o] { return RunReport(*o); });
}

}  // namespace walkhammer
