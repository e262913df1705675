// SPDX-License-Identifier: Apache-2.0
// StressReport: a stress run of a test's own, and what is reported of it. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_STRESS_REPORT_TESTING_H_
#define WALKHAMMER_REPORTS_STRESS_REPORT_TESTING_H_

#include <gtest/gtest.h>

#include <optional>

#include "reports/report_testing.h"

namespace walkhammer {

class StressReport : public ReportedRun {
 protected:
  // Saves a cell with `status`, and with walks if such a cell may have walks.
  void Cell(int64_t position, CellStatus status, const char* reason = "") {
    CellRow cell = TestCell(position);
    cell.status = status;
    cell.reason = reason;
    if (status == CellStatus::kVacuous || status == CellStatus::kUnavailable ||
        status == CellStatus::kNotHotspot)
      cell.delivery = {};
    ASSERT_TRUE(run_->SaveCell(cell).ok());
  }
  void Add(const char* oracle, const char* outcome, std::optional<int64_t> cell) {
    FindingRecord record = TestRecord(oracle, outcome, "the title", Realism::kGenuine);
    record.cell = cell;
    ASSERT_TRUE(run_->AddFinding(record).ok());
  }
  RunStatus Finish(RunStatus status = RunStatus::kCleanEnd, const char* reason = "") {
    RunTotals totals = TestTotals();
    totals.pristine_walks = totals.pristine_true = 0;  // such runs have no scenes
    return run_->Finish(status, totals, reason).value();
  }
};

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_STRESS_REPORT_TESTING_H_
