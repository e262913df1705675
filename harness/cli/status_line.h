// SPDX-License-Identifier: Apache-2.0
// StatusLine: what goes on, on stderr: one line redrawn in place on a terminal, a line now and then
// elsewhere. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_STATUS_LINE_H_
#define WALKHAMMER_HARNESS_CLI_STATUS_LINE_H_

#include <string>

#include "harness/store/run_db.h"

namespace walkhammer {

class StatusLine {
 public:
  StatusLine();
  // True if a line of that time, in seconds since the run's start, would be shown now. `urgent`:
  // also where there is no terminal and one was shown not long ago.
  bool Wants(double seconds, bool urgent = false) const;
  void Show(double seconds, std::string line);
  // Lines that stay.
  void Say(const std::string& line);
  void Announce(const BucketRow& bucket);
  void Clear();

 private:
  bool terminal_;
  double last_shown_ = 0;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_STATUS_LINE_H_
