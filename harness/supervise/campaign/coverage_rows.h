// SPDX-License-Identifier: Apache-2.0
// Converts the block map of a walker's code to rows of run.db, which does not know block maps.
// Called by the parent of a run and by the coverage report. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_CAMPAIGN_COVERAGE_ROWS_H_
#define WALKHAMMER_HARNESS_SUPERVISE_CAMPAIGN_COVERAGE_ROWS_H_

#include "harness/coverage/walker_code.h"
#include "harness/store/run_writer.h"

namespace walkhammer {

// The rows for RunWriter::SetCoverage, with no block entered yet. Reads the build id from the
// code's file.
CoverageRows RowsOf(const WalkerCode& code);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_CAMPAIGN_COVERAGE_ROWS_H_
