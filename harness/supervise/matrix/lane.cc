// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/matrix/lane.h"

#include "harness/supervise/matrix/cell_harvest.h"

namespace walkhammer {

const Lane kOwnLane = {
    .name = "own",
    .what = "walkhammer's own agent calls the walker",
    .own_agent = true,
    .check = nullptr,
    .flags = [](const LanePlan& plan) -> Result<std::vector<std::string>> {
      return std::vector<std::string>{"-agentpath:" + plan.platform.File(kAgentName)};
    },
    .began = nullptr,
    .collect = nullptr,
    .judge = nullptr,
};

const Lane* LaneOf(std::string_view walker) {
  if (walker == kJfrLane.name) return &kJfrLane;
  return walker.starts_with("agent:") ? &kForeignAgentLane : &kOwnLane;
}

}  // namespace walkhammer
