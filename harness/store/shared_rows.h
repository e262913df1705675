// SPDX-License-Identifier: Apache-2.0
// What the shared memory of a run has counted so far, as rows of run.db. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_STORE_SHARED_ROWS_H_
#define WALKHAMMER_HARNESS_STORE_SHARED_ROWS_H_

#include <string>
#include <vector>

#include "harness/ipc/shared_state.h"
#include "harness/store/periods.h"
#include "harness/store/run_rows.h"
#include "harness/store/stress_rows.h"

namespace walkhammer {

// CountRow::code of a slot of counts: "frames", "crash", "-5".
std::string CodeText(int slot);

// The totals that `shared` has; times, children and `settle` stay unset.
RunTotals TotalsOf(const SharedState& shared);
// The counts that `shared` has, without how often buckets were seen.
CountsSoFar CountsOf(const SharedState& shared);
// One for each of the job's walkers. A walker that the job names twice has one row, with both
// counts.
std::vector<CountRow> CountRowsOf(const SharedState& shared);
std::vector<AgreementRow> AgreementRowsOf(const SharedState& shared);
std::vector<SceneRow> SceneRowsOf(const SharedState& shared);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_STORE_SHARED_ROWS_H_
