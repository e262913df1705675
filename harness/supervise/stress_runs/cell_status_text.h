// SPDX-License-Identifier: Apache-2.0
// Texts about a cell and about the output of its program. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_CELL_STATUS_TEXT_H_
#define WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_CELL_STATUS_TEXT_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/ipc/stress_state.h"
#include "harness/store/stress_rows.h"

namespace walkhammer {

// How a step run went: its windows, and its steps a second of CPU time (by ptrace: of elapsed
// time).
std::string StepText(const StressState& state);
// What a passed cell has compared, and what it could not keep or do; empty if nothing.
std::string Remarks(const StressState& state);

// What limits the verdict on a cell: which of the agent's own means were not in force, and what
// found no room; also what was in force. `dropped_stacks`: stacks that were cut for want of room.
std::vector<NoteRow> CellNotes(const StressState& state, int64_t cell, uint64_t dropped_stacks);
// Whether enough answers were compared with a truth: a shadow stack, JVMTI or a witness.
NoteRow TruthNote(const StressState& state, int64_t cell);
// That the supervising thread was busy for too long `times` times, at most for `longest`.
NoteRow StallNote(uint64_t times, std::chrono::nanoseconds longest);

// The line of a JVM's output that says why the JVM did not start; empty if there is none.
std::string JvmComplaint(const std::string& output);
// True if the output says that the JVM or its launcher gave up before the program ran.
bool NeverRan(const std::string& output);
// The last 300 bytes of an output as one line. If they are of a Java stack trace, the trace's own
// message stands before them.
std::string LastLines(const std::string& output);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_CELL_STATUS_TEXT_H_
