// SPDX-License-Identifier: Apache-2.0
// ReplayRun: walks one request in a fresh process. Used to replay, to confirm findings and to
// minimise. Signal-safe: no.
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
  // Walk in a signal handler, without the guard: a crash ends the JVM, as under a profiler.
  bool uncontained = false;
  uint32_t scenes = 0;  // to set up beside those that it names, by bits: for further requests
};

struct ReplayOutcome {
  // Of grade Forbidden and Interesting; empty: clean. If the process dies, in the walk or after it,
  // that is the last of them.
  std::vector<FindingRecord> findings;
  int32_t num_frames = 0;  // what the walker returned; valid if `returned`
  bool returned = false;
  std::string frames;      // text, newest first
  uint32_t stand_ins = 0;  // names of the request that this JVM lacks; other code stands in
  std::string stand_in;    // one of these names
  std::string hs_err;      // the log of a JVM that died; empty: none
};

// A replay that could not be walked (no memory, no process, a kill from outside) proves nothing and
// is tried again. After so many in a row of one input, nothing more is to be expected.
inline constexpr int kMostUnwalked = 3;

class ReplayRun {
 public:
  // Starts a process that walks `input`. `keep`: the process stays for further requests, see
  // Walk(). kBadInput: not a .walk text; kUnable: the text is for another architecture.
  static Result<std::unique_ptr<ReplayRun>> Start(const ReplayInput& input, const ChildSetup& setup,
                                                  bool keep = false);
  // Null while the walk goes on, else its outcome. A failure says why this JVM could not walk the
  // request. Kills the process 60 s after the request.
  std::unique_ptr<Result<ReplayOutcome>> Poll();
  // Waits for the outcome. `give_up`: polled unless empty; once true, kills the process and fails
  // with kUnable.
  Result<ReplayOutcome> Wait(const std::function<bool()>& give_up = {});

  // With `keep`: walks another request, in the same process if that still lives, else in a new one.
  // Hundreds of times faster than Start(), but a weaker proof. `request` must use symbols().
  Result<ReplayOutcome> Walk(const WalkRequest& request, const std::function<bool()>& give_up = {});
  // The same for a request as text: its names must be among those of the first request, or of code
  // and methods that every process of this JVM has. kBadInput: not a .walk text.
  Result<ReplayOutcome> WalkText(const std::string& text, const std::string& name,
                                 const std::function<bool()>& give_up = {});
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

// The failure that says why a request for another architecture cannot be walked on `platform`.
Failure RefusedArch(const ReplayInput& input, const WalkFile& file, const Platform& platform);

// Walks one request in a fresh process and waits for the outcome. `give_up`: as of ReplayRun::Wait.
Result<ReplayOutcome> Replay(const ReplayInput& input, const ChildSetup& setup,
                             const std::function<bool()>& give_up = {});

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_REPLAY_RUN_H_
