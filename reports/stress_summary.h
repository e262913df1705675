// SPDX-License-Identifier: Apache-2.0
// What a report says about the cells of a stress or step run, and the verdict on such a run.
// Called by ReadRun; needs only the run folder. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_STRESS_SUMMARY_H_
#define WALKHAMMER_REPORTS_STRESS_SUMMARY_H_

#include <span>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/store/run_reader.h"
#include "reports/run_summary.h"

namespace walkhammer {

// Reads all cells, in their order. `counts`: all counts of the run.
Result<std::vector<CellSummary>> ReadCells(const RunReader& db,
                                           const std::vector<CountRow>& counts);

// The verdict on a run with cells: FINDINGS if `fails`; else VACUOUS for a vacuous cell, FAILED
// for a failed cell or run, SKIPPED for a skipped cell, VACUOUS if no cell passed, else KNOWN if
// `known`, else CLEAN, in this order. While the run goes on, running cells do not count. `found`:
// the findings in words.
Verdict JudgeCells(const RunRow& run, std::span<const CellSummary> cells, bool fails, bool known,
                   const std::string& found);

// The cells of the run, those that did not pass first.
std::vector<const CellSummary*> CellsByNeed(const RunSummary& summary);

// How the cell ended: "vacuous" if IsVacuous(cell), "unfinished" if the cell is running in a run
// that no longer goes on, else the word of the status.
std::string CellWord(const CellRow& cell, const RunRow& run);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_STRESS_SUMMARY_H_
