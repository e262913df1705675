// SPDX-License-Identifier: Apache-2.0
// Recorder: the thread that writes the records of a run's cells into its store, beside the thread
// that supervises them, which thus waits for no disk. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_RECORDER_H_
#define WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_RECORDER_H_

#include <pthread.h>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/store/periods.h"
#include "harness/store/run_writer.h"
#include "harness/supervise/finding_sink.h"
#include "harness/supervise/stress_runs/cell_records.h"

namespace walkhammer {

class Recorder {
 public:
  // `db` and `sink`, which writes into it, must outlive the recorder.
  Recorder(RunWriter& db, FindingSink& sink) : db_(db), sink_(sink) {}
  ~Recorder() { (void)Stop(); }
  Recorder(const Recorder&) = delete;

  // Held by whoever uses the store, the sink or the records of a cell. May be held for seconds.
  std::mutex& lock() { return lock_; }

  // These do not wait for the disk.
  Status Start();
  void Add(std::shared_ptr<CellRecords> records);
  // The cell has ended: saves its records for the last time, forgets them and removes `folder`. May
  // be called again.
  void Finish(const CellRecords& records, std::string folder);
  // False once Finish() is done.
  bool Has(const CellRecords& records) const;
  // What else is to be saved; see RunWriter::SaveProgress and RunWriter::Replace.
  void Publish(const RunTotals& totals, std::vector<NoteRow> notes);
  // Why the recorder writes no more.
  std::optional<Failure> failure() const;

  // Ends the thread, and saves all that it has; returns the first failure.
  Status Stop();

 private:
  using Clock = std::chrono::steady_clock;
  struct Cell {
    std::shared_ptr<CellRecords> records;
    bool ended = false;
    std::string folder;
  };

  void Run();
  Status Round();
  std::vector<Cell> Cells() const;
  Status SaveStacks(const std::vector<Cell>& cells);
  Status SaveRows(const std::vector<Cell>& cells);
  // How often each bucket was seen, in cells that have ended and in `cells`.
  std::map<int64_t, uint64_t> Seen(const std::vector<Cell>& cells) const;
  // Ends the periods that are due, or, at the end, the `last`. The run as a whole has periods for
  // its buckets alone; what else is counted, the cells have.
  void EndPeriods(const std::vector<Cell>& cells, bool last);
  Status FinishCell(const Cell& cell);
  Status SaveEverything();

  RunWriter& db_;
  FindingSink& sink_;
  std::mutex lock_;
  std::optional<pthread_t> thread_;

  mutable std::mutex told_;  // guards what other threads tell and ask
  bool stop_ = false;
  std::vector<Cell> cells_;
  RunTotals totals_;
  std::vector<NoteRow> notes_;
  std::optional<Failure> failure_;

  // For the thread alone.
  Clock::time_point start_, rows_saved_, stacks_saved_;
  Periods periods_;
  std::vector<CellRecords*> stacks_due_;
  std::map<int64_t, uint64_t> seen_;  // by bucket, in cells that have ended
  std::vector<NoteRow> saved_notes_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_RECORDER_H_
