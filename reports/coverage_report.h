// SPDX-License-Identifier: Apache-2.0
// The coverage report: a table of the functions of a walker's code, and a disassembly of what a run
// did not reach. Called by the verbs report and fuzz. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_COVERAGE_REPORT_H_
#define WALKHAMMER_REPORTS_COVERAGE_REPORT_H_

#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "harness/store/run_reader.h"

namespace walkhammer {

inline constexpr char kCoverageFileName[] = "coverage.txt";

// FunctionReport and UnreachedReport report only functions whose names contain `part`, and fail
// with kBadInput if there are none. Without coverage, both fail with kUnable and say why.

// A table of how much of each function was reached.
Result<std::string> FunctionReport(const RunReader& db, std::string_view part);

// A disassembly of the blocks that were not reached: see CodeListing. Fails with kUnable if the
// file that holds the code is gone or is another build than the run tested.
Result<std::string> UnreachedReport(const RunReader& db, std::string_view part);

// Writes both reports of all functions to coverage.txt in the run's folder. Without coverage,
// writes nothing and returns Ok: the run says why.
Status WriteCoverageFile(const RunReader& db);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_COVERAGE_REPORT_H_
