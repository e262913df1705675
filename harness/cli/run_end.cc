// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/run_end.h"

#include "harness/base/print.h"
#include "reports/coverage_report.h"
#include "reports/report_output.h"
#include "reports/run_summary.h"

namespace walkhammer {

int ReportRun(const std::string& dir, const Status& status, bool json,
              std::optional<double> coverage_goal) {
  auto db = RunReader::Open(dir);
  if (!db.ok()) return PrintFailure(status.ok() ? db.failure() : status.failure());
  // Writes the coverage of the walker's code. A run without coverage, or whose library is gone,
  // gets no such file.
  if (status.ok()) {
    Status written = WriteCoverageFile(db.value());
    if (!written.ok()) PrintFailure(written.failure());
  }
  auto summary = ReadRun(db.value());
  if (!summary.ok()) return PrintFailure(status.ok() ? summary.failure() : status.failure());
  if (coverage_goal) HoldToGoal(summary.value(), *coverage_goal);
  if (json) {
    auto text = JsonReport(db.value(), summary.value());
    if (!text.ok()) return PrintFailure(text.failure());
    Print(stdout, "{}", text.value());
  } else {
    Print(stdout, "{}", TextReport(summary.value()));
  }
  if (!status.ok()) return PrintFailure(status.failure());
  return static_cast<int>(summary.value().verdict.exit);
}

}  // namespace walkhammer
