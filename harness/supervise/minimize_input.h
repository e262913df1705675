// SPDX-License-Identifier: Apache-2.0
// MinimizeInput: shrinks a replayable input. Tries its steps in one process that stays; the result
// must then replay in fresh processes. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_MINIMIZE_INPUT_H_
#define WALKHAMMER_HARNESS_SUPERVISE_MINIMIZE_INPUT_H_

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "harness/base/result.h"
#include "harness/supervise/child_process.h"
#include "harness/supervise/replay_run.h"

namespace walkhammer {

struct MinimizePlan {
  std::string expect;  // the signature to keep; empty: the signature of the gravest finding
  int times = 5;       // fresh processes in which the result must replay
  int most_tries = 500;
  int jobs = 1;                // fresh processes at a time
  std::function<bool()> stop;  // called before each try; true ends the search; may be empty
  // Deadline of the search and of the proof after it; none: no limit.
  std::optional<std::chrono::steady_clock::time_point> until;
  std::function<bool()> give_up;  // polled; true ends search and proof at once; may be empty
};

struct MinimizedInput {
  std::string text;  // in .walk form, with `expect`
  std::string expect;
  int edits_before = 0, edits = 0, tried = 0;
};

// Returns the smallest input found. kBadInput: the input shows no finding, or not the expected one.
// kToolFailed: the input does not replay every time in fresh processes. kUnable: the time is over
// first.
Result<MinimizedInput> MinimizeInput(const ReplayInput& input, const ChildSetup& setup,
                                     const MinimizePlan& plan);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_MINIMIZE_INPUT_H_
