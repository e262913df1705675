// The progress of a matrix of cells on stderr: one line redrawn on a terminal, a line now and then
// elsewhere. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_STRESS_PROGRESS_H_
#define WALKHAMMER_HARNESS_CLI_STRESS_PROGRESS_H_

#include "harness/supervise/matrix/stress_run.h"

namespace walkhammer {

class StressProgressLine {
 public:
  StressProgressLine();
  void Show(const StressProgress& progress);
  void Announce(const BucketRow& bucket);
  void CellEnded(const CellRow& cell);
  void Clear();

 private:
  bool terminal_;
  double last_shown_ = 0;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_STRESS_PROGRESS_H_
