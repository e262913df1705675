// SPDX-License-Identifier: Apache-2.0
// Between the block map of a walker's code and the rows of run.db, which knows no maps. Called by
// the parent of a run and by the coverage report. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_CAMPAIGN_COVERAGE_ROWS_H_
#define WALKHAMMER_HARNESS_SUPERVISE_CAMPAIGN_COVERAGE_ROWS_H_

#include "harness/coverage/walker_code.h"
#include "harness/store/run_db.h"

namespace walkhammer {

// "root", "direct" or "vtable"; as stored, never renamed.
const char* ReachWord(Reach reach);

// What RunDb::SetCoverage wants: no block entered yet. Reads the build id from the file.
CoverageRows RowsOf(const WalkerCode& code);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_CAMPAIGN_COVERAGE_ROWS_H_
