// SPDX-License-Identifier: Apache-2.0
// StressProgressLine: the progress of a matrix of cells, on stderr. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_STRESS_PROGRESS_H_
#define WALKHAMMER_HARNESS_CLI_STRESS_PROGRESS_H_

#include "harness/cli/status_line.h"
#include "harness/supervise/matrix/stress_run.h"

namespace walkhammer {

class StressProgressLine : public StatusLine {
 public:
  void Show(const StressProgress& progress);
  void CellEnded(const CellRow& cell);
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_STRESS_PROGRESS_H_
