// SPDX-License-Identifier: Apache-2.0
// MinimizeInput: a replayable input made as small as it goes: steps are tried in one process that
// stays, and the result must then replay in fresh ones. Signal-safe: no.
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
  std::string expect;  // the signature to keep; empty: that of the input's gravest finding
  int times = 5;       // fresh processes in which the result must replay
  int most_tries = 500;
  int jobs = 1;                // of these, so many at a time
  std::function<bool()> stop;  // asked before each try, ends the search; may be empty
  // All of it ends then, with what proves the result; none: it may take as long as it takes.
  std::optional<std::chrono::steady_clock::time_point> until;
  std::function<bool()> give_up;  // asked all the time, ends all of it at once; may be empty
};

struct MinimizedInput {
  std::string text;  // .walk, with `expect`
  std::string expect;
  int edits_before = 0, edits = 0, tried = 0;
};

// Fails with kBadInput when the input shows no finding, or not the expected one, and with
// kToolFailed when it does not replay every time in fresh processes, and with kUnable when the time
// is over first.
Result<MinimizedInput> MinimizeInput(const ReplayInput& input, const ChildSetup& setup,
                                     const MinimizePlan& plan);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_MINIMIZE_INPUT_H_
