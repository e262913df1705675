// SPDX-License-Identifier: Apache-2.0
// Where return addresses are by the code alone, in words and tables: part of a cell's block in the
// text report. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_FRAME_MAP_TEXT_H_
#define WALKHAMMER_REPORTS_FRAME_MAP_TEXT_H_

#include <string>

#include "reports/run_summary.h"

namespace walkhammer {

// How far code and calls agree on the place of the return address, where the walkers are wrong, by
// that place, and the first differences. Empty if the cell has no such map.
std::string FrameMapText(const CellSummary& cell);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_FRAME_MAP_TEXT_H_
