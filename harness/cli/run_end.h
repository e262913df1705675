// SPDX-License-Identifier: Apache-2.0
// Helpers of the verbs that make runs: how to replay a finding, and the report at the end.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_RUN_END_H_
#define WALKHAMMER_HARNESS_CLI_RUN_END_H_

#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/jvm/images/jdk.h"
#include "harness/supervise/occurrence.h"

namespace walkhammer {

// How to replay a finding under this JDK and with these JVM flags.
// `library`: ProviderChoice::library.
ReplayWords WordsFor(const Jdk& jdk, const std::vector<std::string>& jvm_flags,
                     const std::string& library);

// Prints the report of the run in `dir` on stdout and returns the exit code. The run must have
// ended; `status`: how it ended. `coverage_goal`: percent of the blocks that the run must reach.
int ReportRun(const std::string& dir, const Status& status, bool json,
              std::optional<double> coverage_goal = std::nullopt);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_RUN_END_H_
