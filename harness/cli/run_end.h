// SPDX-License-Identifier: Apache-2.0
// The report at the end of the verbs that make runs. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_RUN_END_H_
#define WALKHAMMER_HARNESS_CLI_RUN_END_H_

#include <optional>
#include <string>

#include "harness/base/result.h"

namespace walkhammer {

// Prints the report of the run in `dir` on stdout and returns the exit code. The run must have
// ended; `status`: how it ended. `coverage_goal`: percent of the blocks that the run must reach.
Result<ExitCode> ReportRun(const std::string& dir, const Status& status, bool json,
                           std::optional<double> coverage_goal = std::nullopt);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_RUN_END_H_
