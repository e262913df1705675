// FuzzRun: one campaign from the parent's side: starts children one after the other, takes their
// findings, records them, confirms them, and ends in order whatever happens. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_FUZZ_RUN_H_
#define WALKHAMMER_HARNESS_SUPERVISE_FUZZ_RUN_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/record/explain.h"
#include "harness/record/run_db.h"
#include "harness/supervise/child_process.h"
#include "harness/supervise/confirmer.h"

namespace walkhammer {

struct FuzzPlan {
  int walker = 0;
  uint32_t scene_mask = UINT32_MAX;
  uint64_t seed = 1;
  std::chrono::nanoseconds time{};
  uint64_t max_walks = 0;  // 0: no limit but time
  uint32_t hang_limit_ms = 100;
  int confirm_times = 5;  // 0: do not confirm
  ChildSetup child;
  std::string jdk_words;       // "JDK-PATH (version)", for explanations
  std::string command;         // how to call walkhammer in a replay command
  std::string replay_options;  // what a replay command needs besides the file
};

// What a progress line shows.
struct FuzzProgress {
  const SharedState* shared;
  double seconds, walks_per_second;
  uint64_t buckets, confirmed;
  std::string newest;  // title of the last new bucket
  bool confirming;     // walking is over, replays go on
};

class FuzzRun {
 public:
  FuzzRun(FuzzPlan plan, RunDb& db) : plan_(std::move(plan)), db_(db) {}

  // Called for each new bucket, after it was committed.
  std::function<void(const BucketRow&)> on_bucket;
  // Called several times a second.
  std::function<void(const FuzzProgress&)> on_progress;

  // Runs until the time or the walks are used up, or `interrupted` turns true.
  // Fails with what ended the run early; all that was found is recorded then, too.
  Status Run(const std::atomic<bool>& interrupted);

 private:
  using Clock = std::chrono::steady_clock;

  Status StartChild();
  Status Drain();
  // One occurrence of a finding, with all that its folder would tell about it.
  struct Occurrence {
    FindingRecord record;
    RawFinding raw;  // of a death: only the request
    bool is_death = false;
    bool has_request = true;  // false: the child died between walks
    std::string hs_err;
  };
  // What is known of a bucket beyond the run store.
  struct BucketState {
    std::string folder;                                 // relative to the run's
    std::vector<std::unique_ptr<Occurrence>> examples;  // by Candidate::example
    int confirmed = 0, tries = 0;                       // of the one that the folder shows
  };
  Status Record(std::unique_ptr<Occurrence> seen);
  Status WriteFolder(const BucketState& bucket, const Occurrence& shown);
  // After a child ended: true if the run goes on with a successor.
  Result<bool> AfterChild();
  Status SaveSeen();
  Status RecordDeath();
  Status Supervise(const std::atomic<bool>& interrupted);
  Status ConfirmRest(const std::atomic<bool>& interrupted);
  Status StepConfirmer();
  Status Save(bool everything);
  void KillIfStuck();
  RunTotals Totals() const;
  void Progress(bool confirming);

  FuzzPlan plan_;
  RunDb& db_;
  std::unique_ptr<SharedMapping> shared_;
  std::unique_ptr<ChildProcess> child_;
  std::unique_ptr<Confirmer> confirmer_;
  std::unique_ptr<Symbolizer> symbolizer_;
  Clock::time_point start_, last_saved_, last_moved_, last_progress_;
  uint64_t last_walks_ = 0, walks_at_death_ = UINT64_MAX;
  ChildPhase last_phase_ = ChildPhase::kStarting;
  uint32_t started_ = 0, retired_ = 0, died_ = 0, died_early_ = 0;
  bool vm_known_ = false;
  std::string newest_;
  std::map<int64_t, BucketState> known_;        // by bucket
  std::map<uint32_t, int64_t> bucket_of_site_;  // crash_sites index to bucket
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_FUZZ_RUN_H_
