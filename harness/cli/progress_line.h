// SPDX-License-Identifier: Apache-2.0
// ProgressLine: the progress of a campaign, on stderr. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_PROGRESS_LINE_H_
#define WALKHAMMER_HARNESS_CLI_PROGRESS_LINE_H_

#include "harness/cli/status_line.h"
#include "harness/supervise/campaign/fuzz_run.h"

namespace walkhammer {

class ProgressLine : public StatusLine {
 public:
  void Show(const FuzzProgress& progress);

 private:
  FuzzStage stage_ = FuzzStage::kWalking;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_PROGRESS_LINE_H_
