// SPDX-License-Identifier: Apache-2.0
// Coverage in words and tables: what all reports say of it; and the coverage report, a table of the
// functions of a walker's code, and a disassembly of what a run did not reach. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_COVERAGE_REPORT_H_
#define WALKHAMMER_REPORTS_COVERAGE_REPORT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/store/run_reader.h"

namespace walkhammer {

struct CoverageTotals {
  uint64_t blocks = 0, reached = 0;
  uint64_t functions = 0, functions_reached = 0;  // reached: at least one block was
};
CoverageTotals CountCoverage(const CoverageRows& code);

// Number of blocks of code.functions[function] that were reached.
uint32_t ReachedOf(const CoverageRows& code, size_t function);

// Indices of the functions whose name contains `part`, most unreached blocks first, then by
// address.
std::vector<size_t> ByUnreached(const CoverageRows& code, std::string_view part);

// "1,234 of 4,168 blocks (29.6 %) in 210 of 385 functions"
std::string CoverageSentence(const CoverageRows& code);

// The lines of the report's section, without the heading; without coverage, the reason.
std::string CoverageSection(const CoverageRows& code, const std::vector<ProgressRow>& progress);

// Table of the functions whose names contain `part`; if `part` is empty, with the functions that
// coverage leaves out.
std::string FunctionTable(const CoverageRows& code, std::string_view part);

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
