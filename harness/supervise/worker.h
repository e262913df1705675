// SPDX-License-Identifier: Apache-2.0
// Worker: does one share of a campaign with one child after the other: starts each, takes its
// findings, records how it ended, and kills it if it hangs. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_WORKER_H_
#define WALKHAMMER_HARNESS_SUPERVISE_WORKER_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "harness/base/result.h"
#include "harness/elf/symbolizer.h"
#include "harness/supervise/child_process.h"
#include "harness/supervise/finding_sink.h"

namespace walkhammer {

struct WorkerLimits {
  using Time = std::chrono::milliseconds;
  Time stuck_after = std::chrono::seconds(45);  // without a walk or a new phase, at the least
  Time stop_within = std::chrono::seconds(10);  // after the child was asked to end
  // From a failed start to the next one: doubled each time, and reset by a child that walks.
  Time retry_after = std::chrono::seconds(1);
  Time retry_at_most = std::chrono::seconds(60);
};

class Worker {
 public:
  using Clock = std::chrono::steady_clock;
  // Stores an occurrence and returns the bucket's id.
  using Record = std::function<Result<int64_t>(std::unique_ptr<Occurrence>)>;

  struct Counts {
    uint32_t started = 0, retired = 0, died = 0;
    // By a signal that another process sent: the OOM killer's, a user's. Nobody's finding, and none
    // of `died`.
    uint32_t killed = 0;
    uint32_t failed_starts = 0;  // after which the worker waits and tries again
    uint32_t unstopped = 0;      // did not end when they were asked to
  };

  // Makes a worker without a child. Set state().job before the first Start().
  static Result<std::unique_ptr<Worker>> Create(ChildSetup setup, uint32_t hang_limit_ms,
                                                Clock::time_point run_start, Record record,
                                                const WorkerLimits& limits = {});

  Status Start();
  // Does what is due without waiting for the child's work: takes findings, replaces a child that
  // has ended, kills a child that makes no progress. `stop`: asks the child to end, and kills it if
  // it does not. `proven`: another worker of this run has walked. False once the worker has ended
  // for good. Fails if the store does, or if no child can be started; but once this worker or
  // another has walked, a failed start is an accident, and the worker tries again later.
  Result<bool> Step(bool stop, bool proven = false);
  // Ends the worker at once: kills its child, and takes what it has found.
  Status End();

  SharedState& state() { return shared_->state(); }
  const Counts& counts() const { return counts_; }
  bool HasWalked() const;
  // What killed the last child that was killed; empty if none was.
  const std::string& killer() const { return killer_; }
  // Why the last child could not be started; empty if each could.
  const std::string& why_not_started() const { return why_not_started_; }
  // Whether the children had no address space randomisation, as the kernel tells. False if any had;
  // empty if none has got as far as walking, or the kernel does not tell.
  std::optional<bool> IsAslrOff() const { return aslr_off_; }
  // Bucket by index into crash_sites, for the sites of which a finding was handed over.
  const std::map<uint32_t, int64_t>& bucket_of_site() const { return bucket_of_site_; }

 private:
  Worker() = default;
  Status Drain();
  // Call it once the child has ended. True if a successor is to go on.
  Result<bool> AfterChild();
  Status TakeChildExit();
  // `by_us`: if the child ended by SIGKILL, that was ours or the engine's.
  Status NoteEnd(int wait_status, bool by_us);
  void MoveOn();
  void NoteCrashingInput();
  Status RecordDeath(const DeathInfo& death);
  // Call it if no child could be started. Fails with `why` if nothing has walked before; else a
  // Step after a pause starts the next child.
  Status TryAgain(const Failure& why);
  Result<bool> StartNext();
  void NoteRunning();                  // once for each child, when it has walked
  Clock::duration StuckAfter() const;  // without a walk or a new phase
  void KillIfStuck();
  uint64_t RunMs() const;

  ChildSetup setup_;
  uint32_t hang_limit_ms_ = 0;
  WorkerLimits limits_;
  Clock::time_point run_start_, last_moved_, asked_to_stop_{};
  Record record_;
  std::unique_ptr<SharedMapping> shared_;
  std::unique_ptr<ChildProcess> child_;  // null: waits until retry_at_
  std::unique_ptr<Symbolizer> symbolizer_;
  uint64_t last_walks_ = 0, walks_at_death_ = 0;
  ChildPhase last_phase_ = ChildPhase::kStarting;
  uint32_t died_early_ = 0;
  bool killed_ = false;  // by KillIfStuck
  bool ended_ = false;
  bool proven_ = false;
  Clock::time_point retry_at_{};
  Clock::duration pause_{};  // before the next retry
  std::string why_not_started_, killer_;
  std::optional<bool> aslr_off_;
  bool knows_aslr_ = false;  // of this child
  Counts counts_;
  std::map<uint32_t, int64_t> bucket_of_site_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_WORKER_H_
