// SPDX-License-Identifier: Apache-2.0
// The coverage report: every function of a walker's code, and instruction by instruction what a run
// did not reach. Called by the verbs report and fuzz. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_COVERAGE_REPORT_H_
#define WALKHAMMER_REPORTS_COVERAGE_REPORT_H_

#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "harness/store/run_db.h"

namespace walkhammer {

inline constexpr char kCoverageFileName[] = "coverage.txt";

// In both, `part` limits the report to functions whose names contain it; kBadInput where there is
// none such. Without coverage they fail with kUnable and say why there is none.

// How much of each function was reached, in a table.
Result<std::string> FunctionReport(const RunDb& db, std::string_view part);

// The blocks that were not reached, disassembled: see CodeListing. Fails with kUnable where the
// file that holds the code is gone or another one.
Result<std::string> UnreachedReport(const RunDb& db, std::string_view part);

// Both, of all functions, as coverage.txt in the run's folder. Writes nothing where there is no
// coverage; the run says why.
Status WriteCoverageFile(const RunDb& db);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_COVERAGE_REPORT_H_
