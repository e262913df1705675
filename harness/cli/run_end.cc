// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/run_end.h"

#include "harness/base/files.h"
#include "harness/base/print.h"
#include "reports/coverage_report.h"
#include "reports/first_screen.h"
#include "reports/json_report.h"
#include "reports/report_output.h"
#include "reports/run_summary.h"

namespace walkhammer {
namespace {

// Returns the path of the page; empty, after a sentence on stderr, if it could not be written.
std::string WritePage(const RunReader& db, const RunSummary& summary) {
  const std::string path = summary.dir + "/report.html";
  const auto source = ReadOutputSource(db, summary, path, "");
  Status status = source.ok() ? WriteFileAtomically(path, HtmlReport(source.value()))
                              : Status(source.failure());
  if (!status.ok()) PrintFailure(status.failure());
  return status.ok() ? path : "";
}

}  // namespace

int ReportRun(const std::string& dir, const Status& status, const RunEndOptions& options) {
  auto db = RunReader::Open(dir);
  if (!db.ok()) return PrintFailure(status.ok() ? db.failure() : status.failure());
  // Writes the coverage of the walker's code. A run without coverage, or whose library is gone,
  // gets no such file.
  if (status.ok()) {
    Status written = WriteCoverageFile(db.value());
    if (!written.ok()) PrintFailure(written.failure());
  }
  auto judging = ReadJudging(options.judging);
  if (!judging.ok()) return PrintFailure(judging.failure());
  auto summary = ReadRun(db.value(), judging.value());
  if (!summary.ok()) return PrintFailure(status.ok() ? summary.failure() : status.failure());
  if (options.coverage_goal) HoldToGoal(summary.value(), *options.coverage_goal);
  const std::string page = WritePage(db.value(), summary.value());
  if (options.json) {
    auto text = JsonReport(db.value(), summary.value());
    if (!text.ok()) return PrintFailure(text.failure());
    Print(stdout, "{}", text.value());
  } else {
    Print(stdout, "{}", FirstScreen(summary.value(), page));
  }
  if (!status.ok()) return PrintFailure(status.failure());
  return static_cast<int>(summary.value().verdict.exit);
}

}  // namespace walkhammer
