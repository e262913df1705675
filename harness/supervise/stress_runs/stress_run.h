// SPDX-License-Identifier: Apache-2.0
// StressRun: runs a matrix of cells, `jobs` of them side by side, into one run folder. The thread
// that calls Run() supervises; a Recorder beside it writes. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_STRESS_RUN_H_
#define WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_STRESS_RUN_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/store/run_writer.h"
#include "harness/supervise/finding_sink.h"
#include "harness/supervise/stress_runs/recorder.h"
#include "harness/supervise/stress_runs/stress_cell.h"

namespace walkhammer {

struct StressPlan {
  std::vector<CellPlan> cells;
  int jobs = 1;           // cells at the same time
  int confirm_times = 5;  // replays of each input; 0: none
  std::string scratch;    // existing folder for the replays
};

// What a progress line shows.
struct StressProgress {
  double seconds;
  uint64_t walks, walks_per_second, buckets;
  size_t done, all;
  std::vector<const StressCell*> running;
  std::string newest;  // title of the last new bucket
  bool confirming;     // all cells have ended; findings are being replayed
};

class StressRun {
 public:
  StressRun(StressPlan plan, RunWriter& db)
      : plan_(std::move(plan)), db_(db), sink_(db), recorder_(db, sink_) {}

  // All are called by the thread that called Run().
  std::function<void(const BucketRow&)> on_bucket;         // for each new bucket that is stored
  std::function<void(const CellRow&)> on_cell;             // called when a cell has ended
  std::function<void(const StressProgress&)> on_progress;  // called several times a second

  // Runs until all cells have ended or `interrupted` turns true. If the run ends early, returns the
  // reason; all findings are recorded even then.
  Status Run(const std::atomic<bool>& interrupted);

 private:
  using Clock = std::chrono::steady_clock;

  Status Supervise(const std::atomic<bool>& interrupted);
  Result<int64_t> Record(std::unique_ptr<Occurrence> seen, const CellPlan& cell,
                         const std::shared_ptr<SymbolTable>& symbols);
  Status Fill();
  Result<bool> StepCell(StressCell& cell, bool interrupted);
  void NoteStall(std::chrono::nanoseconds took);
  std::vector<NoteRow> Notes() const;
  void TellNews();
  RunTotals Totals() const;
  void Progress();

  // A finding that may replay, and where it came from.
  struct Example {
    std::unique_ptr<Occurrence> seen;
    std::shared_ptr<SymbolTable> symbols;
    const CellPlan* cell;
  };
  struct BucketState {
    std::vector<Example> examples;  // indexed by Candidate::example
  };
  // Replays the findings, once all cells have ended.
  Status Confirm(const std::atomic<bool>& interrupted);

  StressPlan plan_;
  RunWriter& db_;
  FindingSink sink_;
  Recorder recorder_;
  std::vector<std::unique_ptr<StressCell>> running_;
  size_t next_ = 0, done_ = 0;
  uint64_t stalls_ = 0;
  std::chrono::nanoseconds longest_stall_{};
  uint64_t unwalked_ = 0;  // replays
  std::string why_unwalked_;
  Clock::time_point start_, last_progress_;
  uint64_t start_ns_ = 0;                 // start_ on CLOCK_MONOTONIC, as agents use it
  RunTotals ended_;                       // of cells that have ended
  std::map<int64_t, BucketState> known_;  // under the recorder's lock while cells run
  bool confirming_ = false;
  uint64_t buckets_ = 0;
  std::string newest_;  // title of the last new bucket
  std::mutex news_lock_;
  std::vector<BucketRow> news_;  // new buckets that are not printed yet
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_STRESS_RUN_H_
