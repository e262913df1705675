// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/run_end.h"

#include "harness/base/files.h"
#include "harness/base/names.h"
#include "harness/base/print.h"
#include "harness/base/shell.h"
#include "harness/cli/terminal.h"
#include "harness/findings/crash_folder.h"
#include "reports/coverage_report.h"
#include "reports/first_screen.h"
#include "reports/report_output.h"
#include "reports/run_summary.h"

namespace walkhammer {
namespace {

// Returns the path of the page; empty, after a sentence on stderr, if it could not be written.
std::string WritePage(const RunReader& db, const RunSummary& summary) {
  const std::string path = summary.dir + "/report.html";
  const auto write = [&]() -> Status {
    ASSIGN_OR_RETURN(const auto source, ReadOutputSource(db, summary, path, ""));
    return WriteFileAtomically(path, HtmlReport(source));
  };
  const Status written = write();
  if (!written.ok()) PrintFailure(written.failure());
  return written.ok() ? path : "";
}

// Prints commands, to be pasted, for the first finding that has a request; none if there is none.
void PrintNext(const RunSummary& summary, const std::string& replay_options) {
  for (const BucketFiles& files : summary.files) {
    const std::string& input = files.minimized.empty() ? files.input : files.minimized;
    if (input.empty()) continue;
    const std::string command = OwnCommand();
    const std::string path = ShellWord(summary.dir + "/" + input);
    Print(stdout, "Next  {} show {}\n", command, path);
    Print(stdout, "      {} replay {} --times 5{}\n", command, path, replay_options);
    return;
  }
}

// Prints the report and returns the exit code of its verdict.
Result<ExitCode> PrintReport(const std::string& dir, bool has_ended, const Judging& judging,
                             const RunEndOptions& options) {
  ASSIGN_OR_RETURN(const RunReader db, RunReader::Open(dir));
  // Writes the coverage of the walker's code. A run without coverage, or whose library is gone,
  // gets no such file.
  if (has_ended)
    if (const Status written = WriteCoverageFile(db); !written.ok())
      PrintFailure(written.failure());
  ASSIGN_OR_RETURN(RunSummary summary, ReadRun(db, judging));
  if (options.coverage_goal) HoldToGoal(summary, *options.coverage_goal);
  const std::string page = WritePage(db, summary);
  ASSIGN_OR_RETURN(const auto text, options.json
                                        ? JsonReport(db, summary)
                                        : FirstScreen(summary, page, TextColumns(), OwnCommand()));
  Print(stdout, "{}", text);
  if (!options.json && options.replay_options) PrintNext(summary, *options.replay_options);
  return summary.verdict.exit;
}

}  // namespace

Result<ExitCode> ReportRun(const std::string& dir, const Status& status, const Judging& judging,
                           const RunEndOptions& options) {
  const Result<ExitCode> code = PrintReport(dir, status.ok(), judging, options);
  return status.ok() ? code : status.failure();
}

}  // namespace walkhammer
