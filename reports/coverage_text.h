// SPDX-License-Identifier: Apache-2.0
// Coverage in words and tables: the section of the text report, the table of functions.
// Used by the report writers. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_COVERAGE_TEXT_H_
#define WALKHAMMER_REPORTS_COVERAGE_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_COVERAGE_TEXT_H_
