// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/run_end.h"

#include "harness/base/print.h"
#include "reports/coverage_report.h"
#include "reports/report_output.h"
#include "reports/run_summary.h"

namespace walkhammer {

namespace {

// Prints the report and returns the exit code of its verdict.
Result<ExitCode> PrintReport(const std::string& dir, bool has_ended, bool json,
                             std::optional<double> coverage_goal) {
  ASSIGN_OR_RETURN(const RunReader db, RunReader::Open(dir));
  // Writes the coverage of the walker's code. A run without coverage, or whose library is gone,
  // gets no such file.
  if (has_ended)
    if (const Status written = WriteCoverageFile(db); !written.ok())
      PrintFailure(written.failure());
  ASSIGN_OR_RETURN(RunSummary summary, ReadRun(db));
  if (coverage_goal) HoldToGoal(summary, *coverage_goal);
  ASSIGN_OR_RETURN(const auto text, json ? JsonReport(db, summary) : TextReport(summary));
  Print(stdout, "{}", text);
  return summary.verdict.exit;
}

}  // namespace

Result<ExitCode> ReportRun(const std::string& dir, const Status& status, bool json,
                           std::optional<double> coverage_goal) {
  const Result<ExitCode> code = PrintReport(dir, status.ok(), json, coverage_goal);
  return status.ok() ? code : status.failure();
}

}  // namespace walkhammer
