// SPDX-License-Identifier: Apache-2.0
// StatusLine: progress on stderr: one line redrawn in place on a terminal (CanRedraw), a new line
// every 10 s elsewhere. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_STATUS_LINE_H_
#define WALKHAMMER_HARNESS_CLI_STATUS_LINE_H_

#include <string>

#include "harness/store/run_reader.h"

namespace walkhammer {

class StatusLine {
 public:
  StatusLine();
  // True if a line is due at `seconds` since the run's start. `urgent`: it is due even if there is
  // no terminal and the last line is recent.
  bool Wants(double seconds, bool urgent = false) const;
  void Show(double seconds, std::string line);
  // Prints a line that stays.
  void Say(const std::string& line);
  void Announce(const BucketRow& bucket);
  void Clear();

 private:
  bool terminal_;
  double last_shown_ = 0;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_STATUS_LINE_H_
