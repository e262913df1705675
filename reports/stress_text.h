// SPDX-License-Identifier: Apache-2.0
// The cells of a stress or step run in words and tables: a section of the text report.
// Called by its writer. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_STRESS_TEXT_H_
#define WALKHAMMER_REPORTS_STRESS_TEXT_H_

#include <string>

#include "reports/run_summary.h"

namespace walkhammer {

// The lines of the section below its heading: a block for each cell, those first that did not pass.
std::string CellsSection(const RunSummary& summary);

// "torture:recursion jdk17 zgc and 2 more cells": which cells saw a bucket, by its index. Empty
// where none is known.
std::string SeenByText(const RunSummary& summary, size_t bucket);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_STRESS_TEXT_H_
