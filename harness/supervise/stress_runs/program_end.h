// SPDX-License-Identifier: Apache-2.0
// HowProgramEnded: what the end of a cell's program means for the cell. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_PROGRAM_END_H_
#define WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_PROGRAM_END_H_

#include <string>

#include "harness/ipc/stress_state.h"
#include "harness/process/program.h"
#include "harness/store/stress_rows.h"

namespace walkhammer {

// A program that has ended, by itself or because it was asked to: the ring, the journals and the
// hs_err log are final.
struct EndedProgram {
  const Program& program;
  const StressState& state;
  const std::string& hs_err;  // the log's text; empty: there is none
  bool attached;              // it is a JVM that ran before
  bool asked_to;              // sampling was over, and it was asked to end
  bool sampled;               // sampling had begun
  bool own_agent;             // our agent samples, not another profiler
};

struct ProgramEnd {
  CellStatus status = CellStatus::kRunning;  // kRunning: it ended in order
  std::string reason;
};

ProgramEnd HowProgramEnded(const EndedProgram& of);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_PROGRAM_END_H_
