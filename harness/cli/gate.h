// SPDX-License-Identifier: Apache-2.0
// What `gate` takes, and its judgement on a night. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_GATE_H_
#define WALKHAMMER_HARNESS_CLI_GATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/cli/judging.h"
#include "reports/gate_policy.h"

namespace walkhammer {

struct GateOptions {
  std::vector<std::string> baseline, candidate;
  std::string policy, build, keep, markdown, corpora;
  std::vector<std::string> jdks, walkers;  // without runs: two JDKs, and what is walked in them
  JudgingOptions judging;
  uint64_t replays = 0;  // 0: not given
  bool json = false;
  std::string night;  // folder of a night; empty: the candidate's runs are judged
  // With `night` alone:
  std::string nights;  // folder of earlier nights; empty: the one that has the night
  uint64_t jobs = 2, failed = 0;
};

// The default policy if the options name none. kBadInput: the policy cannot be used.
Result<GatePolicy> PolicyOf(const GateOptions& options);

// gate --night: judges a night, as ci/nightly.sh makes them. Returns the exit code.
Result<ExitCode> RunGateNight(const GateOptions& options);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_GATE_H_
