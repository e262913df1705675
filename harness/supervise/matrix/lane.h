// SPDX-License-Identifier: Apache-2.0
// Lane: who walks the stacks of a program under load: walkhammer's own agent, JFR, or any other
// profiler's agent. Adding one is one file and one row. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_MATRIX_LANE_H_
#define WALKHAMMER_HARNESS_SUPERVISE_MATRIX_LANE_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/jvm/images/platform.h"
#include "harness/store/run_db.h"
#include "harness/store/stress_rows.h"

namespace walkhammer {

struct LanePlan {
  std::string argument;  // what followed "agent:"
  std::string scratch;   // the cell's own folder
  std::string jdk_home;
  uint64_t starts = 0;                // programs of this cell that were started before
  Platform platform = OwnPlatform();  // that its programs run on
};

// What a lane's own output said after the program ended.
struct LaneVerdict {
  CellStatus status = CellStatus::kPassed;
  std::string reason;
  Delivery delivery;
  std::vector<StackRow> stacks;
  std::vector<CountRow> counts;         // answers by kind of sample; `scene` is the cell's to fill
  std::string sampler, sampler_reason;  // as in CellRow
};

struct Lane {
  const char* name;  // "own", "jfr", "agent"
  const char* what;
  bool own_agent;  // it fills the StressState
  // Whether it can do what follows "agent:"; asked before a run begins. Null: it can.
  Status (*check)(const std::string& argument);
  // JVM flags that make it walk.
  Result<std::vector<std::string>> (*flags)(const LanePlan& plan);
  // Whether it walks by now. Null: from the program's start, or as the StressState tells.
  bool (*began)(const LanePlan& plan);
  // Reads what it wrote for all programs of the cell. Null: the StressState tells.
  LaneVerdict (*judge)(const LanePlan& plan, const std::string& output);
};

extern const Lane kOwnLane, kJfrLane, kForeignAgentLane;

// The lane that --walker names: "jfr", "agent:PATH=OPTIONS", or a walker of our own table.
const Lane* LaneOf(std::string_view walker);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_MATRIX_LANE_H_
