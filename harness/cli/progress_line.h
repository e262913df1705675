// SPDX-License-Identifier: Apache-2.0
// The progress of a campaign, and of a matrix of cells, on stderr. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_PROGRESS_LINE_H_
#define WALKHAMMER_HARNESS_CLI_PROGRESS_LINE_H_

#include "harness/cli/status_line.h"
#include "harness/supervise/campaign/fuzz_run.h"
#include "harness/supervise/stress_runs/stress_run.h"

namespace walkhammer {

class ProgressLine : public StatusLine {
 public:
  void Show(const FuzzProgress& progress);

 private:
  FuzzStage stage_ = FuzzStage::kWalking;
};

class StressProgressLine : public StatusLine {
 public:
  void Show(const StressProgress& progress);
  void CellEnded(const CellRow& cell);
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_PROGRESS_LINE_H_
