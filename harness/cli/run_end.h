// SPDX-License-Identifier: Apache-2.0
// What the verbs that make runs share once the work is planned, and once it has ended.
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

// How a finding under this JDK and with these JVM flags is replayed.
// `library`: as ProviderChoice has it.
ReplayWords WordsFor(const Jdk& jdk, const std::vector<std::string>& jvm_flags,
                     const std::string& library);

// The report of the run in `dir`, on stdout, and its exit code. The run has ended, however it did:
// `status` is what ended it. `coverage_goal`: percent that it is held to.
int ReportRun(const std::string& dir, const Status& status, bool json,
              std::optional<double> coverage_goal = std::nullopt);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_RUN_END_H_
