// Lane: who walks the stacks of a program under load: walkhammer's own agent, JFR, or any other
// profiler's agent. Adding one is one file and one row. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_LANE_H_
#define WALKHAMMER_HARNESS_SUPERVISE_LANE_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/record/stress_rows.h"
#include "harness/record/stress_state.h"

namespace walkhammer {

struct LanePlan {
  std::string argument;  // what followed "agent:"
  std::string scratch;   // the cell's own folder
  std::string jdk_home;
  int jdk_feature = 0;
  uint64_t interval_ns = 0;
  int state_fd = -1;  // of the StressState
};

// What a lane's own output said after the program ended.
struct LaneVerdict {
  CellStatus status = CellStatus::kPassed;
  std::string reason;
  Delivery delivery;
  std::vector<StackRow> stacks;
};

struct Lane {
  const char* name;  // "agent", "jfr"; null-named: our own
  const char* what;
  bool own_agent;  // it fills the StressState
  // JVM flags and environment variables that make it walk.
  Result<std::vector<std::string>> (*flags)(const LanePlan& plan);
  // Reads what it wrote. Null: the StressState tells.
  LaneVerdict (*judge)(const LanePlan& plan, const std::string& output);
};

extern const Lane kOwnLane, kJfrLane, kForeignAgentLane;

// The lane that --walker names: "jfr", "agent:PATH=OPTIONS", or a walker of our own table.
const Lane* LaneOf(std::string_view walker);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_LANE_H_
