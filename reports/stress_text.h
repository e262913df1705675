// SPDX-License-Identifier: Apache-2.0
// The cells of a stress or step run in words and tables: a section of the text report.
// Called by the writer of that report. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_STRESS_TEXT_H_
#define WALKHAMMER_REPORTS_STRESS_TEXT_H_

#include <string>

#include "reports/run_summary.h"

namespace walkhammer {

// The lines of the section, without the heading: a block for each cell, with the cells that did not
// pass first.
std::string CellsSection(const RunSummary& summary);

// The block of one cell of the run, each line indented.
std::string CellText(const CellSummary& cell, const RunRow& run);

// "93.10 % frames, 6.90 % -5 unknown_Java"
std::string CodesLine(const StateCodes& state);

// The cells that saw summary.buckets[bucket]: "torture:recursion jdk17 zgc and 2 more cells". Empty
// if no such cell is known.
std::string SeenByText(const RunSummary& summary, size_t bucket);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_STRESS_TEXT_H_
