// SPDX-License-Identifier: Apache-2.0
// Reproduce: tries to show a reported crash on one JDK. Walks the candidates, fuzzes from them,
// stresses, has the profiler itself profile, until one of these stages shows the crash.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_REPRODUCE_REPRODUCTION_H_
#define WALKHAMMER_HARNESS_SUPERVISE_REPRODUCE_REPRODUCTION_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/crash/imported_crash.h"
#include "harness/jvm/images/jdk.h"
#include "harness/store/run_writer.h"
#include "harness/supervise/campaign/fuzz_run.h"
#include "harness/supervise/reproduce/candidate_replays.h"
#include "harness/supervise/stress_runs/stress_run.h"

namespace walkhammer {

struct StageOutcome {
  std::string name;    // "candidates", "fuzzing by libfuzzer", "stress"
  std::string folder;  // of its run; empty: it made none
  uint64_t walks = 0;
  double seconds = 0;
  Hit best;
  std::vector<std::string> others;  // signatures of other Forbidden findings
};

enum class ReproductionVerdict { kReproduced, kSameClass, kOther, kNot };
const char* ReproductionWord(ReproductionVerdict verdict);  // "reproduced", ... as in JSON

// What was tried on one JDK, and what came of it.
struct Reproduction {
  std::string jdk;  // path and version
  ReproductionVerdict verdict = ReproductionVerdict::kNot;
  Hit hit;  // the best; reproduced without a text: a program died of it under load
  Reliability reliability;
  std::string realism;    // of the request of `hit`, in a word: "genuine", "random-registers"
  std::string minimized;  // path of the minimised request; empty: none
  std::vector<std::string> flags;  // JVM flags with which all of it ran
  std::vector<StageOutcome> stages;
  double seconds = 0;
  uint64_t walks() const;  // of all stages
};

// Called by the thread that called Reproduce. The times of a stage begin at 0.
struct ReproductionProgress {
  std::function<void(const std::string& stage)> on_stage = [](const std::string&) {};  // it begins
  std::function<void(const FuzzProgress&)> on_fuzz = [](const FuzzProgress&) {};
  std::function<void(const StressProgress&)> on_stress = [](const StressProgress&) {};
};

struct ReproductionSettings {
  std::chrono::nanoseconds time{};         // of fuzzing
  std::chrono::nanoseconds stress_time{};  // 0: no stress
  bool minimize = true;
  std::vector<std::string> jvm_flags;  // of the user
  std::string library;                 // as of ImportedCrash::walker; empty: none
  RunIdentity identity;                // the tool's part, with the seed
  std::string folder;                  // for requests and runs; is made
  std::function<bool()> stop;          // true: end soon, with what was found so far
  ReproductionProgress progress;
};

// A failure means that this JDK can walk no candidate, or that the folder cannot be written.
Result<Reproduction> Reproduce(const ImportedCrash& crash, const Jdk& jdk,
                               const ReproductionSettings& settings);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_REPRODUCE_REPRODUCTION_H_
