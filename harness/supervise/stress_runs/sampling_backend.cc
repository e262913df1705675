// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/stress_runs/sampling_backend.h"

#include "harness/supervise/stress_runs/cell_results.h"

namespace walkhammer {

const SamplingBackend kOwnBackend = {
    .name = "own",
    .what = "walkhammer's own agent calls the walker",
    .own_agent = true,
    .check = nullptr,
    .flags = [](const BackendPlan& plan) -> Result<std::vector<std::string>> {
      return std::vector<std::string>{"-agentpath:" + plan.platform.File(kAgentName)};
    },
    .began = nullptr,
    .collect = nullptr,
    .judge = nullptr,
};

const SamplingBackend* BackendOf(std::string_view walker) {
  if (walker == kJfrBackend.name) return &kJfrBackend;
  return walker.starts_with("agent:") ? &kForeignAgentBackend : &kOwnBackend;
}

}  // namespace walkhammer
