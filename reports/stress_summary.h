// SPDX-License-Identifier: Apache-2.0
// What a report says about the cells of a stress or step run, and the verdict on such a run.
// Called by ReadRun; needs only the run folder. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_STRESS_SUMMARY_H_
#define WALKHAMMER_REPORTS_STRESS_SUMMARY_H_

#include <span>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/store/run_db.h"
#include "reports/run_summary.h"

namespace walkhammer {

// In the order of the cells. `counts` are the run's.
Result<std::vector<CellSummary>> ReadCells(const RunDb& db, const std::vector<CountRow>& counts);

// What a run with cells is worth: findings first, then vacuous cells, then those that failed, then
// those that were skipped. Only a run whose every cell passed is clean; while it goes on, the cells
// that run do not count. `found` says what was found, `forbidden` whether it is a finding.
Verdict JudgeCells(const RunRow& run, std::span<const CellSummary> cells, bool forbidden,
                   const std::string& found);

// How the cell ended, in a word: that of its status, or why a status does not count.
std::string CellWord(const CellRow& cell, const RunRow& run);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_STRESS_SUMMARY_H_
