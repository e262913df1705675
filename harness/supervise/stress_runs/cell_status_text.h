// SPDX-License-Identifier: Apache-2.0
// Texts and notes about a cell, and excerpts of its program's output. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_CELL_STATUS_TEXT_H_
#define WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_CELL_STATUS_TEXT_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/ipc/stress_state.h"
#include "harness/store/stress_rows.h"

namespace walkhammer {

// Describes a step run: how many windows it had, and how many steps a second. A second is one of
// CPU time or, with ptrace, of elapsed time.
std::string StepText(const StressState& state);
// Counts the answers of a passed cell that were compared, and the samples, findings and threads
// that were lost; empty if there are none.
std::string Remarks(const StressState& state);

// Returns the notes that qualify the verdict on a cell: which checks of the agent were in force,
// which were not, and what was dropped. `dropped_stacks`: stacks cut because the table was full.
std::vector<NoteRow> CellNotes(const StressState& state, int64_t cell, uint64_t dropped_stacks);
// Notes whether at least kLeastWalks answers were compared with a truth: a shadow stack, JVMTI or a
// witness.
NoteRow TruthNote(const StressState& state, int64_t cell);
// Notes that the supervising thread stalled `times` times, for at most `longest` each.
NoteRow StallNote(uint64_t times, std::chrono::nanoseconds longest);

// Returns at most 300 bytes of the line of `output` in which the JVM says why it did not start;
// empty if there is none.
std::string JvmComplaint(const std::string& output);
// True if the output says that the JVM or its launcher gave up before the program ran.
bool NeverRan(const std::string& output);
// Returns the last 300 bytes of an output as one line, with '|' for line ends. If a Java stack
// trace in the output has its message before them, at most 300 bytes of the last such message
// precede.
std::string LastLines(const std::string& output);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_CELL_STATUS_TEXT_H_
