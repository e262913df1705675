#include "harness/supervise/lane.h"

#include "harness/cli/common.h"
#include "harness/supervise/cell_harvest.h"

namespace walkhammer {

const Lane kOwnLane = {
    .name = "own",
    .what = "walkhammer's own agent calls the walker",
    .own_agent = true,
    .flags = [](const LanePlan&) -> Result<std::vector<std::string>> {
      return std::vector<std::string>{"-agentpath:" + BesideExecutable(kAgentName)};
    },
    .judge = nullptr,
};

const Lane* LaneOf(std::string_view) { return &kOwnLane; }

}  // namespace walkhammer
