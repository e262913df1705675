// SPDX-License-Identifier: Apache-2.0
// What a cell says of itself and of what its program printed. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_MATRIX_CELL_WORDS_H_
#define WALKHAMMER_HARNESS_SUPERVISE_MATRIX_CELL_WORDS_H_

#include <string>

#include "harness/shared/stress_state.h"

namespace walkhammer {

// How a step run went: windows, and steps a second of the thread's CPU time.
std::string StepText(const StressState& state);
// What a passed cell has compared, and what it could not keep or do; empty: nothing.
std::string Remarks(const StressState& state);

// The line of what a JVM printed that says why it did not start; empty: none.
std::string JvmComplaint(const std::string& output);
// Whether the JVM or its launcher has printed that it gives up.
bool NeverRan(const std::string& output);
// The end of an output, in one line.
std::string LastLines(const std::string& output);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_MATRIX_CELL_WORDS_H_
