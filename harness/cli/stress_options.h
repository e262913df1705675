// SPDX-License-Identifier: Apache-2.0
// The options that stress and step share, and the plan that they make. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_STRESS_OPTIONS_H_
#define WALKHAMMER_HARNESS_CLI_STRESS_OPTIONS_H_

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/cli/archives.h"
#include "harness/cli/options.h"
#include "harness/supervise/matrix/stress_run.h"

namespace walkhammer {

struct StressOptions {
  bool step = false;  // true: the verb is step
  std::vector<std::string> workloads, scenes, jdks, walkers, profiles;
  Archives archives;
  std::string program;  // --java: what to run instead of a workload
  std::string interval = "100us", sampler = "auto", clock = "cpu", mode = "handler";
  std::string time = "60s", hang_limit = "1s", park_limit = "100ms", hung_after = "30s";
  std::string out, thread, method, by = "trap-flag", cache, provider, shard;
  uint64_t seed = 1, depth = 512, jobs = 0, threads = 2, scale = 1, steps = 0, window = 20000,
           output_limit_mib = 256, pid = 0;
  bool native = false, no_walk = false, json = false, no_truth = false, no_confirm = false,
       uncontained = false;
};

void AddStressOptions(Verb& verb, StressOptions& options);

// Reads "100us", "10us..100us" or "back-to-back" into nanoseconds; both are 0 for the last.
Status ParseInterval(const std::string& text, uint64_t& least, uint64_t& most);

// The plan of a run: a cell for each combination of workload, JDK and profile. `scratch`: existing
// folder.
Result<StressPlan> MakeStressPlan(const StressOptions& options,
                                  const std::vector<std::string>& jvm_flags,
                                  const std::string& scratch);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_STRESS_OPTIONS_H_
