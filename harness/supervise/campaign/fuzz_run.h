// SPDX-License-Identifier: Apache-2.0
// FuzzRun: one campaign, from the parent's side. Keeps the workers going, records, confirms and
// minimises what they find, and ends in order whatever happens. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_CAMPAIGN_FUZZ_RUN_H_
#define WALKHAMMER_HARNESS_SUPERVISE_CAMPAIGN_FUZZ_RUN_H_

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/ipc/answers.h"
#include "harness/store/run_writer.h"
#include "harness/store/stress_rows.h"
#include "harness/supervise/campaign/engine.h"
#include "harness/supervise/confirmer.h"
#include "harness/supervise/finding_sink.h"
#include "harness/supervise/worker.h"

namespace walkhammer {

struct FuzzPlan {
  // Indexes into AllWalkers(). All are shown the same requests, and each is compared with the one
  // before it in this list. Coverage is that of the first.
  std::vector<int> walkers = {0};
  int engine = 0;   // index into AllEngines()
  int workers = 1;  // processes that walk
  // Index and number of shards. Shards walk the windows of one sequence in turn, as workers do. For
  // guided engines, which keep to no sequence, the caller gives each shard its own seed.
  uint32_t shard = 0, shards = 1;
  std::vector<std::string> corpus;
  bool coverage = true;
  bool keeps_aslr = false;  // as the user asks; child.aslr says what this machine lets us have
  bool answers = false;     // keep a digest of each answer: see harness/ipc/answers.h
  bool churn = false;       // see harness/child/churn.h
  uint32_t scene_mask = UINT32_MAX;
  uint64_t seed = 1;
  std::chrono::nanoseconds time{};  // of walking; starting JVMs and setting up scenes come on top
  // How long that may take before the first walk.
  std::chrono::nanoseconds set_up_time = std::chrono::minutes(3);
  uint64_t max_walks = 0;  // 0: no limit but time
  uint32_t without = 0;    // see Job
  uint32_t hang_limit_ms = 100;
  int confirm_times = 5;  // 0: do not confirm
  bool minimize = true;
  bool merge = true;  // what guided engines keep into the first folder of `corpus`
  // Limit for confirming and minimising after the walks, and the most of it for minimising.
  std::chrono::nanoseconds settle_time{}, minimize_time{};
  ChildSetup child;
  ReplayWords words;  // for the explanations in crash folders
};

enum class FuzzStage : uint8_t { kWalking, kConfirming, kMinimizing, kMerging };

// What a progress line shows.
struct FuzzProgress {
  const SharedState* shared;  // sum of the states of all workers
  double seconds, walks_per_second;
  uint64_t buckets, confirmed, blocks;
  std::string newest;  // title of the last new bucket
  FuzzStage stage;
};

class FuzzRun {
 public:
  FuzzRun(FuzzPlan plan, RunWriter& db) : plan_(std::move(plan)), db_(db), sink_(db) {}

  FindingSink& sink() { return sink_; }
  // Called several times a second.
  std::function<void(const FuzzProgress&)> on_progress;

  // Runs until the time or the walks are used up, or `interrupted` turns true. If the run ends
  // early, returns the reason; all findings are recorded even then.
  Status Run(const std::atomic<bool>& interrupted);

 private:
  using Clock = std::chrono::steady_clock;

  // What the run knows of a bucket beyond the store.
  struct BucketState {
    std::vector<std::unique_ptr<Occurrence>> examples;  // indexed by Candidate::example
    int confirmed = 0, tries = 0;                       // of the example that the folder shows
  };

  Status StartWorkers();
  // Absolute: a child may run in another folder.
  std::string AnswersPath() const { return std::filesystem::absolute(db_.dir()) / kAnswersName; }
  Status SetCoverage();
  Job JobOf(int worker) const;
  Result<int64_t> Record(std::unique_ptr<Occurrence> seen);
  Status Supervise(const std::atomic<bool>& interrupted);
  // When the walks end; while none was made, when the run gives up.
  Clock::time_point Deadline() const;
  // After a failure: ends the workers, and takes what they have found.
  void EndWorkers();
  Status ConfirmRest(Clock::time_point until, const std::atomic<bool>& interrupted);
  Status StepConfirmer(size_t most);
  Status MinimizeAll(Clock::time_point until, const std::atomic<bool>& interrupted);
  Status MinimizeOne(int64_t id, Clock::time_point until, const std::function<bool()>& stop);
  // Confirms and minimises, for at most FuzzPlan::settle_time.
  Status Settle(const std::atomic<bool>& interrupted, RunTotals& totals);
  Status Merge(const std::atomic<bool>& interrupted);
  Status Save(bool everything);
  // What the run says of itself beside its findings.
  std::vector<NoteRow> Notes() const;
  Status SaveNotes();
  // Ends a period if one is due, and saves all of them if that is due. `last`: both are.
  Status SavePeriods(uint64_t now_ms, const std::map<int64_t, uint64_t>& seen, bool last);
  std::map<int64_t, uint64_t> Seen() const;  // occurrences by bucket
  // Brings sum_ up to date.
  void SumUp();
  RunTotals Totals();
  void Progress(FuzzStage stage);
  EnginePlan Engines() const;

  FuzzPlan plan_;
  RunWriter& db_;
  FindingSink sink_;
  std::vector<std::unique_ptr<Worker>> workers_;
  Answers answers_;
  std::unique_ptr<SharedState> sum_;
  std::unique_ptr<Confirmer> confirmer_;
  Clock::time_point start_, last_saved_, periods_saved_, last_progress_;
  Periods periods_;
  std::optional<Clock::time_point> first_walked_;  // none: nothing was walked yet
  std::optional<Clock::time_point> walked_until_;  // end of the walks; none: they go on
  uint64_t unminimized_ = 0;                       // buckets that no time was left to minimise
  std::map<int64_t, BucketState> known_;           // by bucket
  uint64_t oom_kills_ = 0;                         // before the run
  std::string not_merged_;                         // why; empty: the corpus was merged, or is none
  std::vector<NoteRow> saved_notes_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_CAMPAIGN_FUZZ_RUN_H_
