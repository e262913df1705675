// The progress line of a campaign on stderr: redrawn in place on a terminal, a line now and then
// elsewhere. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_PROGRESS_LINE_H_
#define WALKHAMMER_HARNESS_CLI_PROGRESS_LINE_H_

#include "harness/store/run_db.h"
#include "harness/supervise/campaign/fuzz_run.h"

namespace walkhammer {

class ProgressLine {
 public:
  ProgressLine();
  void Show(const FuzzProgress& progress);
  void Announce(const BucketRow& bucket);
  void Clear();

 private:
  bool terminal_;
  double last_shown_ = 0;  // seconds since the run's start; for logs
  FuzzStage stage_ = FuzzStage::kWalking;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_PROGRESS_LINE_H_
