// SPDX-License-Identifier: Apache-2.0
// Where stepping found the walker blind, as lines of a cell's block in the text report.
// Called by its writer. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_STEP_TEXT_H_
#define WALKHAMMER_REPORTS_STEP_TEXT_H_

#include <span>
#include <string>

#include "harness/store/stress_rows.h"

namespace walkhammer {

// What share of the instructions executed can be walked, by kind of code and by compile level; the
// ten regions and the five ranges where most cannot. Empty without regions and ranges.
std::string StepText(std::span<const StepRegionRow> regions, std::span<const StepRangeRow> ranges);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_STEP_TEXT_H_
