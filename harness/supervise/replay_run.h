// ReplayRun: one request, walked once in a fresh process. Used by replay and to confirm what a
// campaign finds. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_REPLAY_RUN_H_
#define WALKHAMMER_HARNESS_SUPERVISE_REPLAY_RUN_H_

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/record/finding_record.h"
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
  std::string frames;  // text, newest first
};

class ReplayRun {
 public:
  static Result<std::unique_ptr<ReplayRun>> Start(const ReplayInput& input,
                                                  const ChildSetup& setup);
  // Null while it goes on. A failure says why the request could not be walked here.
  std::unique_ptr<Result<ReplayOutcome>> Poll();

 private:
  ReplayRun() = default;
  Result<ReplayOutcome> Collect();

  std::unique_ptr<SharedMapping> shared_;
  std::unique_ptr<ChildProcess> child_;
  std::chrono::steady_clock::time_point deadline_;
  bool timed_out_ = false;
};

// Start, and Poll until there is an outcome.
Result<ReplayOutcome> Replay(const ReplayInput& input, const ChildSetup& setup);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_REPLAY_RUN_H_
