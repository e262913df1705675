// SPDX-License-Identifier: Apache-2.0
// StepMap: the map of where a walker is blind, out of what the stepper counted by instruction: by
// region of code (codelet, stub, prologue, body, epilogue, method and level), and the exact ranges
// of instructions that answer errors or wrong stacks, with disassembly. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_MATRIX_STEP_MAP_H_
#define WALKHAMMER_HARNESS_SUPERVISE_MATRIX_STEP_MAP_H_

#include <sys/types.h>

#include <vector>

#include "harness/request/walker_table.h"
#include "harness/shared/stress_state.h"
#include "harness/store/stress_rows.h"

namespace walkhammer {

// Adds the rows of `cell`. The code's bytes are read out of the living process `pid`; without it
// prologues, epilogues and disassembly are missing.
void StepMap(const StressState& state, pid_t pid, const WalkerInfo& walker, int64_t cell,
             std::vector<StepRegionRow>& regions, std::vector<StepRangeRow>& ranges);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_MATRIX_STEP_MAP_H_
