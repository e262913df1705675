// SPDX-License-Identifier: Apache-2.0
// SamplingBackend: what walks the stacks of a program under load: walkhammer's own agent, JFR, or
// any other profiler's agent. To add a backend, add one file and one row. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_SAMPLING_BACKEND_H_
#define WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_SAMPLING_BACKEND_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/findings/finding_record.h"
#include "harness/jvm/images/platform.h"
#include "harness/store/periods.h"
#include "harness/store/stack_tree.h"
#include "harness/store/stress_rows.h"

namespace walkhammer {

struct BackendSamples;

struct BackendPlan {
  std::string argument;  // what followed "agent:"
  std::string scratch;   // the cell's own folder
  std::string jdk_home;
  uint64_t starts = 0;                // programs that the cell has started so far
  Platform platform = OwnPlatform();  // the cell's programs run on it
  uint64_t collected = 0;             // of these starts, those whose output was collected
  std::shared_ptr<BackendSamples> samples = {};  // what was collected; null: nothing
  // Of walkhammer's own agent: walks so far, and those of them that returned code 0.
  uint64_t walks = 0, code_0 = 0;
  uint64_t timer_signals = 0;  // of SamplingBackend::timer_signal, sent so far
};

// What the backend's own output says after the program has ended.
struct BackendVerdict {
  CellStatus status = CellStatus::kPassed;
  std::string reason;
  Delivery delivery;
  StackTree stacks;
  std::vector<CountRow> counts;              // answers by kind of sample; the cell fills `scene`
  std::string sampler, sampler_reason;       // as in CellRow
  std::vector<FindingRecord> findings = {};  // of the whole program, without a walk request
};

struct SamplingBackend {
  const char* name;  // "own", "jfr", "request", "agent"
  const char* what;
  bool own_agent;  // walkhammer's agent, which fills the StressState
  // Checks the text after "agent:" before the run begins. Null: nothing to check.
  Status (*check)(const std::string& argument);
  // Returns the JVM flags that make the backend walk.
  Result<std::vector<std::string>> (*flags)(const BackendPlan& plan);
  // True once the backend walks. Null: it walks from the program's start, or the StressState says
  // when.
  bool (*began)(const BackendPlan& plan);
  // Reads what the programs that have ended wrote into `plan.samples`, and deletes it. Fails with
  // kUnable if that is missing or cannot be read. Null: it is little, and `judge` reads it.
  Status (*collect)(const BackendPlan& plan);
  // Judges what the backend wrote for all programs of the cell. `output`: what the last program
  // printed. It may take minutes. Of walkhammer's own agent, what the StressState says stays, and
  // the verdict adds to it. Null: the StressState is judged.
  BackendVerdict (*judge)(const BackendPlan& plan, const std::string& output);
  // The signal of the profiler's CPU timers, which the cell sends at the job's intervals while the
  // backend walks: the timers cannot come so often. 0: none.
  int timer_signal = 0;
};

extern const SamplingBackend kOwnBackend, kJfrBackend, kRequestBackend, kForeignAgentBackend;

// The backend that --walker names: "jfr", "agent:PATH=OPTIONS", or for any other name kOwnBackend,
// or kRequestBackend if the first walker answers later.
const SamplingBackend* BackendOf(std::string_view walker);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_SAMPLING_BACKEND_H_
