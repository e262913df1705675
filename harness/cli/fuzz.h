// SPDX-License-Identifier: Apache-2.0
// fuzz, for the verbs that run a campaign. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_FUZZ_H_
#define WALKHAMMER_HARNESS_CLI_FUZZ_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/cli/run_end.h"

namespace walkhammer {

struct FuzzOptions {
  std::string engine = "random", provider;
  std::vector<std::string> walkers, jdks;
  std::chrono::nanoseconds time{};  // 0: not given
  std::optional<std::string> confirm_time, minimize_time;
  std::string hang_limit = "100ms", out, shard;
  std::vector<std::string> scenes, corpus, without;
  uint64_t walks = 0, seed = 1, workers = 0;
  RunEndOptions end;
  bool answers = false;
  bool churn = false, no_confirm = false, keep_aslr = false, no_coverage = false,
       no_minimize = false;
};

// Runs the campaign into its run folder, prints the first screen and returns the verdict's exit
// code. `jvm_flags`: further flags of the JVM.
Result<ExitCode> RunFuzz(const FuzzOptions& options, const std::vector<std::string>& jvm_flags);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_FUZZ_H_
