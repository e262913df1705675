// SPDX-License-Identifier: Apache-2.0
// Worker: does one share of a campaign with one child after the other: starts each, takes its
// findings, records how it ended, and kills it if it hangs. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_WORKER_H_
#define WALKHAMMER_HARNESS_SUPERVISE_WORKER_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>

#include "harness/base/result.h"
#include "harness/elf/symbolizer.h"
#include "harness/supervise/child_process.h"
#include "harness/supervise/occurrence.h"

namespace walkhammer {

class Worker {
 public:
  using Clock = std::chrono::steady_clock;
  // Stores an occurrence and returns the bucket's id.
  using Record = std::function<Result<int64_t>(std::unique_ptr<Occurrence>)>;

  struct Counts {
    uint32_t started = 0, retired = 0, died = 0;
  };

  // Makes a worker without a child. Set state().job before the first Start().
  static Result<std::unique_ptr<Worker>> Create(ChildSetup setup, uint32_t hang_limit_ms,
                                                Clock::time_point run_start, Record record);

  Status Start();
  // Does what is due without waiting for the child's work: takes findings, replaces a child that
  // has ended, kills a child that makes no progress. `stop`: asks the child to end, and kills it if
  // it does not. False once the worker has ended for good.
  Result<bool> Step(bool stop);

  SharedState& state() { return shared_->state(); }
  const Counts& counts() const { return counts_; }
  // Bucket by index into crash_sites, for the sites of which a finding was handed over.
  const std::map<uint32_t, int64_t>& bucket_of_site() const { return bucket_of_site_; }

 private:
  Worker() = default;
  Status Drain();
  // Call it once the child has ended. True if a successor is to go on.
  Result<bool> AfterChild();
  Status TakeChildExit();
  Status NoteEnd(int wait_status);
  void NoteCrashingInput();
  Status RecordDeath(const DeathInfo& death);
  void KillIfStuck();
  uint64_t RunMs() const;

  ChildSetup setup_;
  uint32_t hang_limit_ms_ = 0;
  Clock::time_point run_start_, last_moved_, asked_to_stop_{};
  Record record_;
  std::unique_ptr<SharedMapping> shared_;
  std::unique_ptr<ChildProcess> child_;
  std::unique_ptr<Symbolizer> symbolizer_;
  uint64_t last_walks_ = 0, walks_at_death_ = UINT64_MAX;
  ChildPhase last_phase_ = ChildPhase::kStarting;
  uint32_t died_early_ = 0;
  bool killed_ = false;  // by KillIfStuck
  bool ended_ = false;
  Counts counts_;
  std::map<uint32_t, int64_t> bucket_of_site_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_WORKER_H_
