// SPDX-License-Identifier: Apache-2.0
// StepText: where stepping found the walker blind, as lines of a cell's block in the text report.
// Called by the writer of the block. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_STEP_TEXT_H_
#define WALKHAMMER_REPORTS_STEP_TEXT_H_

#include <span>
#include <string>

#include "harness/store/stress_rows.h"

namespace walkhammer {

// The share of executed instructions that can be walked, by kind of code and by compile level; then
// the ten worst regions and the five worst ranges. Empty without regions and ranges.
std::string StepText(std::span<const StepRegionRow> regions, std::span<const StepRangeRow> ranges);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_STEP_TEXT_H_
