// SPDX-License-Identifier: Apache-2.0
// Converts what a StressState has recorded to rows of a run. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_CELL_RESULTS_H_
#define WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_CELL_RESULTS_H_

#include <string>
#include <unordered_map>
#include <vector>

#include "harness/base/result.h"
#include "harness/ipc/stress_state.h"
#include "harness/store/periods.h"
#include "harness/store/stack_tree.h"
#include "harness/store/stress_rows.h"

namespace walkhammer {

inline constexpr char kAgentName[] = "libwalkhammer_agent.so";

struct StressMemory {
  int fd;
  StressState* state;
};
// Makes a mapping for `job`. `run_start_ns`: start of the run, CLOCK_MONOTONIC. The caller unmaps
// `state` and closes `fd`.
Result<StressMemory> MakeStressState(const StressJob& job, uint64_t run_start_ns);
// Clears what belongs to one process and keeps the counts: the state is ready for another process.
void ForgetStressed(StressState& state);

// Takes the stacks of one process over into a tree. Each call of Take adds what is new.
class StackHarvest {
 public:
  void Take(const StressState& state, StackTree& tree);

 private:
  static constexpr size_t kDeepest = 1024;  // frames; the agent writes no deeper stacks
  struct Known {
    uint32_t node = StackTree::kRoot;
    uint32_t counted = 0;
    bool found = false;
    bool cut = false;  // the tree had no room for the frame: `node` is further out
  };
  const Known& Find(const StressState& state, uint32_t place, StackTree& tree);
  uint32_t Child(const StressState& state, uint32_t parent, uint32_t frame, StackTree& tree);

  std::vector<Known> known_;                      // by place
  std::unordered_map<uint32_t, uint32_t> names_;  // of the tree, by frame
  std::vector<uint32_t> path_;                    // of Find, newest first
  uint32_t rootless_ = 0;
};
// Adds one row to `threads` for each sampled thread.
void HarvestThreads(const StressState& state, int64_t cell, std::vector<CellThreadRow>& threads);
// Sums requests and deliveries over `threads`; for a step job both are the number of steps.
Delivery DeliveryOf(const StressJob& job, const StressState& state,
                    const std::vector<CellThreadRow>& threads);
// Walks of the job's first walker that returned `code`, 0 to -28.
uint64_t WalksOfCode(const StressState& state, int code);
std::vector<CountRow> CountRowsOf(const StressState& state, const std::string& label);
std::vector<WalkTimeRow> WalkTimeRowsOf(const StressState& state, const std::string& label);
std::vector<AgreementRow> AgreementRowsOf(const StressState& state);
std::vector<EvidenceRow> EvidenceRowsOf(const StressState& state);
std::vector<WalkEndRow> WalkEndRowsOf(const StressState& state);

const char* SamplerName(SamplerKind kind);  // "perf", "timer", "thread"; else "auto"
const char* ModeName(WalkMode mode);        // "handler", "parked", "running", "nested"

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_CELL_RESULTS_H_
