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
#include "harness/request/walk_request.h"
#include "harness/supervise/child_process.h"
#include "harness/supervise/replay_run.h"

namespace walkhammer {

struct MinimizePlan {
  std::string expect;  // the signature to keep; empty: the signature of the most severe finding
  int times = 5;       // fresh processes in which the result must replay
  int most_tries = 500;
  int jobs = 1;                // fresh processes at a time
  std::function<bool()> stop;  // polled; true ends search and proof at once; may be empty
  // Deadline of the search and of the proof after it; none: no limit.
  std::optional<std::chrono::steady_clock::time_point> until;
};

struct MinimizedInput {
  std::string text;  // in .walk form, with `expect`
  std::string expect;
  int edits_before = 0, edits = 0, tried = 0;
  bool proved = true;  // false: `stop` turned true before all fresh processes had shown it
};

// Returns the smallest input found. kBadInput: the input shows no finding, or not the expected one.
// kToolFailed: the input does not replay every time in fresh processes, or `stop` turned true
// before the first walk ended. kUnable: the time is over first, or kMostUnwalked processes in a row
// could not walk.
Result<MinimizedInput> MinimizeInput(const ReplayInput& input, const ChildSetup& setup,
                                     const MinimizePlan& plan);

// The predicate: true if the request still reproduces what the caller asks for.
using Reproduces = std::function<bool(const WalkRequest&)>;

struct Minimized {
  WalkRequest request;
  int tried = 0;  // calls of the predicate
};

// Drops edits, restores registers, anchor, state, depth and options to their defaults, and
// simplifies the values that must stay. Deterministic. Keeps only steps that reproduce. `request`
// itself must reproduce. Stops after `most_tries` calls of the predicate, with the best request so
// far.
Minimized Minimize(const WalkRequest& request, const Reproduces& reproduces, int most_tries);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_MINIMIZE_INPUT_H_
