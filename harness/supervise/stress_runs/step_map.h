// SPDX-License-Identifier: Apache-2.0
// StepMap: shows where a walker is blind, from the stepper's counts by instruction: the counts by
// region of code (codelet, stub, prologue, body, epilogue, method and level), and the exact ranges
// of instructions with errors or wrong stacks, with their disassembly. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_STEP_MAP_H_
#define WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_STEP_MAP_H_

#include <sys/types.h>

#include <vector>

#include "harness/ipc/stress_state.h"
#include "harness/request/walker_table.h"
#include "harness/store/stress_rows.h"

namespace walkhammer {

// Adds the rows of `cell` to `regions` and `ranges`. Reads the code's bytes from process `pid`,
// which must still live: without the bytes, epilogues and disassembly are missing.
void StepMap(const StressState& state, pid_t pid, const WalkerInfo& walker, int64_t cell,
             std::vector<StepRegionRow>& regions, std::vector<StepRangeRow>& ranges);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_STEP_MAP_H_
