// SPDX-License-Identifier: Apache-2.0
// FuzzRun: one campaign from the parent's side: keeps its workers at work, records what they find,
// confirms and minimises it, and ends in order whatever happens. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_CAMPAIGN_FUZZ_RUN_H_
#define WALKHAMMER_HARNESS_SUPERVISE_CAMPAIGN_FUZZ_RUN_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/store/run_db.h"
#include "harness/supervise/campaign/engine.h"
#include "harness/supervise/confirmer.h"
#include "harness/supervise/finding_sink.h"
#include "harness/supervise/worker.h"

namespace walkhammer {

struct FuzzPlan {
  // Shown the same requests, one after the other, and compared. Coverage is the first's.
  std::vector<int> walkers = {0};
  int engine = 0;   // into AllEngines()
  int workers = 1;  // processes that walk
  std::vector<std::string> corpus;
  bool coverage = true;
  bool churn = false;  // see harness/child/churn.h
  uint32_t scene_mask = UINT32_MAX;
  uint64_t seed = 1;
  std::chrono::nanoseconds time{};
  uint64_t max_walks = 0;  // 0: no limit but time
  uint32_t hang_limit_ms = 100;
  int confirm_times = 5;  // 0: do not confirm
  bool minimize = true;
  // For confirming and minimising after the walks, and the most of it for minimising.
  std::chrono::nanoseconds settle_time{}, minimize_time{};
  ChildSetup child;
  ReplayWords words;  // for explanations
};

enum class FuzzStage : uint8_t { kWalking, kConfirming, kMinimizing, kMerging };

// What a progress line shows.
struct FuzzProgress {
  const SharedState* shared;  // what all workers' states come to
  double seconds, walks_per_second;
  uint64_t buckets, confirmed, blocks;
  std::string newest;  // title of the last new bucket
  FuzzStage stage;
};

class FuzzRun {
 public:
  FuzzRun(FuzzPlan plan, RunDb& db) : plan_(std::move(plan)), db_(db), sink_(db) {}

  FindingSink& sink() { return sink_; }
  // Called several times a second.
  std::function<void(const FuzzProgress&)> on_progress;

  // Runs until the time or the walks are used up, or `interrupted` turns true.
  // Fails with what ended the run early; all that was found is recorded then, too.
  Status Run(const std::atomic<bool>& interrupted);

 private:
  using Clock = std::chrono::steady_clock;

  // What is known of a bucket beyond the run store.
  struct BucketState {
    std::vector<std::unique_ptr<Occurrence>> examples;  // by Candidate::example
    int confirmed = 0, tries = 0;                       // of the one that the folder shows
  };

  Status StartWorkers();
  Status SetCoverage();
  Job JobOf(int worker) const;
  Result<int64_t> Record(std::unique_ptr<Occurrence> seen);
  Status Supervise(const std::atomic<bool>& interrupted);
  Status ConfirmRest(Clock::time_point until, const std::atomic<bool>& interrupted);
  Status StepConfirmer(size_t most);
  Status MinimizeAll(Clock::time_point until, const std::atomic<bool>& interrupted);
  Status MinimizeOne(int64_t id, Clock::time_point until, const std::function<bool()>& stop);
  // Confirms and minimises, for at most the time that there is for that.
  Status Settle(const std::atomic<bool>& interrupted, RunTotals& totals);
  Status Merge(const std::atomic<bool>& interrupted);
  Status Save(bool everything);
  std::map<int64_t, uint64_t> Seen() const;  // times, by bucket
  // Brings sum_ up to date.
  void SumUp();
  RunTotals Totals();
  void Progress(FuzzStage stage);
  EnginePlan Engines() const;

  FuzzPlan plan_;
  RunDb& db_;
  FindingSink sink_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<SharedState> sum_;
  std::unique_ptr<Confirmer> confirmer_;
  Clock::time_point start_, last_saved_, last_progress_;
  std::optional<Clock::time_point> walked_until_;  // the run's time ends here
  uint64_t unminimized_ = 0;                       // buckets for which there was no time left
  std::map<int64_t, BucketState> known_;           // by bucket
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_CAMPAIGN_FUZZ_RUN_H_
