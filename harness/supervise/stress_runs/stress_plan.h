// SPDX-License-Identifier: Apache-2.0
// MakeStressPlan: the cells of a stress or step run, made of typed settings. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_STRESS_PLAN_H_
#define WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_STRESS_PLAN_H_

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/supervise/stress_runs/profiles.h"
#include "harness/supervise/stress_runs/sampling_backend.h"
#include "harness/supervise/stress_runs/stress_loads.h"
#include "harness/supervise/stress_runs/stress_run.h"

namespace walkhammer {

inline constexpr int kNoWitness = -1;

struct StressSettings {
  StressSettings();  // the defaults of `stress`; only the loads are missing

  StressJob job{};                                // what every agent does
  const SamplingBackend* backend = &kOwnBackend;  // see BackendOf
  std::string backend_argument;                   // what followed "agent:"
  std::string walker = "agct";                    // names of the walkers, for people
  // Index of the walker that answers are compared with; kNoWitness; or nullopt: see WitnessFor.
  std::optional<int> witness;
  LoadSettings loads;             // each in a cell of its own
  std::vector<std::string> jdks;  // paths; none: that of loads.pid, or the default JDK
  std::vector<const Profile*> profiles = {AllProfiles().data()};
  std::vector<std::string> jvm_flags;
  std::chrono::nanoseconds time = std::chrono::seconds(60);        // of each cell
  std::chrono::nanoseconds hung_after = std::chrono::seconds(30);  // see CellPlan
  uint64_t output_limit_mib = 256;
  int jobs = 0;  // cells at the same time; 0: as cores permit
  int confirm_times = 5;
};

// The plan of a run: a cell for each combination of load, JDK and profile. `scratch`: existing
// folder. kBadInput: settings that exclude each other; kUnable: none of this can run here.
Result<StressPlan> MakeStressPlan(StressSettings settings, const std::string& scratch);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_STRESS_PLAN_H_
