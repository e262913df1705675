// SPDX-License-Identifier: Apache-2.0
// The stages of a reproduction beyond the candidates: guided fuzzing, and stress with antagonists.
// Each stops as soon as it has shown the crash. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_REPRODUCE_STAGES_H_
#define WALKHAMMER_HARNESS_SUPERVISE_REPRODUCE_STAGES_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/crash/imported_crash.h"
#include "harness/jvm/images/jdk.h"
#include "harness/store/run_writer.h"
#include "harness/supervise/reproduce/candidate_replays.h"

namespace walkhammer {

struct StagePlan {
  const ImportedCrash* crash;
  const Jdk* jdk;
  ChildSetup setup;        // for replays on that JDK
  int walker = 0;          // index into AllWalkers()
  std::string folder;      // existing; each stage makes its own in it
  std::string candidates;  // folder with the candidates
  std::chrono::nanoseconds time{};
  RunIdentity identity;  // of the runs, with the seed; each stage adds its engine
};

struct StageOutcome {
  std::string name;  // "candidates", "fuzzing by libfuzzer", "stress"
  uint64_t walks = 0;
  double seconds = 0;
  Hit best;
  std::vector<std::string> others;  // signatures of other Forbidden findings
};

// Fuzzes with `engine` ("libfuzzer", "random"), which starts from the candidates.
Result<StageOutcome> FuzzForCrash(const StagePlan& plan, const std::string& engine);

// Samples torture programs, whose threads get in each other's way.
Result<StageOutcome> StressForCrash(const StagePlan& plan);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_REPRODUCE_STAGES_H_
