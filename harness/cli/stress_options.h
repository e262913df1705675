// SPDX-License-Identifier: Apache-2.0
// The options of stress and step. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_STRESS_OPTIONS_H_
#define WALKHAMMER_HARNESS_CLI_STRESS_OPTIONS_H_

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/cli/options.h"
#include "harness/cli/run_end.h"
#include "harness/supervise/stress_runs/stress_plan.h"

namespace walkhammer {

struct StressOptions {
  StressSettings settings;
  std::vector<std::string> walkers, profiles, without;
  std::string provider, witness, shard, out;
  RunEndOptions end;
  bool no_confirm = false;
};

// The options of `stress`, and of `step`.
void AddSamplingOptions(Verb& verb, StressOptions& options);
void AddSteppingOptions(Verb& verb, StressOptions& options);

// Reads "100us", "10us..100us" or "back-to-back" into nanoseconds; both are 0 for the last.
Status ParseInterval(const std::string& text, uint64_t& least, uint64_t& most);

// The settings of these options, with the walkers that --walker and --provider name.
Result<StressSettings> SettingsOf(const StressOptions& options,
                                  const std::vector<std::string>& jvm_flags);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_STRESS_OPTIONS_H_
