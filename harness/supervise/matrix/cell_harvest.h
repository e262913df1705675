// SPDX-License-Identifier: Apache-2.0
// What a StressState has recorded, as rows of a run. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_MATRIX_CELL_HARVEST_H_
#define WALKHAMMER_HARNESS_SUPERVISE_MATRIX_CELL_HARVEST_H_

#include <map>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/shared/stress_state.h"
#include "harness/store/run_db.h"
#include "harness/store/stress_rows.h"

namespace walkhammer {

inline constexpr char kAgentName[] = "libwalkhammer_agent.so";

struct StressMemory {
  int fd;
  StressState* state;
};
// A new mapping for `job`, in a run that began at `run_start_ns`; whoever asked for it unmaps and
// closes.
Result<StressMemory> MakeStressState(const StressJob& job, uint64_t run_start_ns);
// Makes ready for another process: all but the counts is forgotten.
void ForgetStressed(StressState& state);

// Adds the stacks seen, by their frames, outermost first.
void HarvestStacks(const StressState& state, std::map<std::string, uint64_t>& stacks);
// Adds one row for each thread.
void HarvestThreads(const StressState& state, int64_t cell, std::vector<CellThreadRow>& threads);
// What was asked for and delivered over all of `threads`.
Delivery DeliveryOf(const StressJob& job, const StressState& state,
                    const std::vector<CellThreadRow>& threads);
std::vector<CountRow> CountRowsOf(const StressState& state, const std::string& label);
std::vector<AgreementRow> AgreementRowsOf(const StressState& state);
std::vector<EvidenceRow> EvidenceRowsOf(const StressState& state);

const char* SamplerName(SamplerKind kind);  // "perf", "timer", "thread"
const char* ModeName(WalkMode mode);        // "handler", "parked", "running", "nested"

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_MATRIX_CELL_HARVEST_H_
