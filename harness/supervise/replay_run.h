// SPDX-License-Identifier: Apache-2.0
// ReplayRun: one request, walked once in a fresh process. Used by replay and to confirm what a
// campaign finds. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_REPLAY_RUN_H_
#define WALKHAMMER_HARNESS_SUPERVISE_REPLAY_RUN_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/findings/finding_record.h"
#include "harness/request/text_form.h"
#include "harness/supervise/child_process.h"

namespace walkhammer {

// A request as text, so that it can be handed to any child.
struct ReplayInput {
  std::string text;  // .walk form
  std::string name;  // for messages: the file's name
  uint32_t hang_limit_ms = 100;
};

struct ReplayOutcome {
  std::vector<FindingRecord> findings;  // of grade Forbidden and Interesting; empty: clean
  int32_t num_frames = 0;               // what the walker returned, where it did
  bool returned = false;
  std::string frames;      // text, newest first
  uint32_t stand_ins = 0;  // names of the request that this JVM lacks and that others stand in for
  std::string stand_in;    // one of them
};

class ReplayRun {
 public:
  // `keep`: the process stays for further requests, see Walk.
  static Result<std::unique_ptr<ReplayRun>> Start(const ReplayInput& input, const ChildSetup& setup,
                                                  bool keep = false);
  // Null while the walk goes on. A failure says why the request could not be walked here.
  std::unique_ptr<Result<ReplayOutcome>> Poll();
  // Waits for the outcome, and ends the process as soon as `give_up`, if there is one, says so.
  Result<ReplayOutcome> Wait(const std::function<bool()>& give_up = {});

  // With `keep`: walks another request, in the same process if that still lives; hundreds of times
  // faster than a fresh one, and less of a proof. Symbols must be those of the input.
  Result<ReplayOutcome> Walk(const WalkRequest& request, const std::function<bool()>& give_up = {});
  const WalkRequest& request() const { return shared_->state().job.request; }
  const SymbolTable& symbols() const { return shared_->state().symbols; }

 private:
  explicit ReplayRun(ChildSetup setup) : setup_(std::move(setup)) {}
  Status Launch();
  Result<ReplayOutcome> Collect();

  ChildSetup setup_;
  std::unique_ptr<SharedMapping> shared_;
  std::unique_ptr<ChildProcess> child_;
  std::unique_ptr<Symbolizer> symbolizer_;
  std::chrono::steady_clock::time_point deadline_;
  bool timed_out_ = false;
};

// Why it cannot be walked there.
Failure RefusedArch(const ReplayInput& input, const WalkFile& file, const Platform& platform);

// One request in a fresh process, to its end.
Result<ReplayOutcome> Replay(const ReplayInput& input, const ChildSetup& setup);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_REPLAY_RUN_H_
