// SPDX-License-Identifier: Apache-2.0
// The report at the end of the verbs that make runs. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_RUN_END_H_
#define WALKHAMMER_HARNESS_CLI_RUN_END_H_

#include <optional>
#include <string>

#include "harness/base/result.h"
#include "harness/cli/judging.h"

namespace walkhammer {

struct RunEndOptions {
  JudgingOptions judging;  // for ReadJudging, before the run: a bad store costs no time
  bool json = false;       // print the JSON report, not the first screen
  std::optional<double> coverage_goal;  // percent of the blocks that the run must reach
  // Options of replay: the commands that show and replay the first finding follow the screen.
  std::optional<std::string> replay_options = {};
};

// Ends a verb that made the run in `dir`: writes report.html there, prints the first screen on
// stdout and returns the exit code. The run must have ended; `status`: how it ended.
Result<ExitCode> ReportRun(const std::string& dir, const Status& status, const Judging& judging,
                           const RunEndOptions& options);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_RUN_END_H_
