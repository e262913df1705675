// SPDX-License-Identifier: Apache-2.0
// CellRecords: copies what the agent leaves in shared memory to the run's store: findings, counts,
// threads, stacks. All functions except Publish() are slow and need Recorder::lock(); the
// supervising thread calls them only if no other thread can be started. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_CELL_RECORDS_H_
#define WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_CELL_RECORDS_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/elf/symbolizer.h"
#include "harness/findings/witness_findings.h"
#include "harness/ipc/stress_state.h"
#include "harness/store/periods.h"
#include "harness/store/run_writer.h"
#include "harness/store/stress_rows.h"
#include "harness/supervise/finding_sink.h"
#include "harness/supervise/stress_runs/cell_results.h"
#include "harness/supervise/stress_runs/frame_map.h"
#include "harness/supervise/stress_runs/sampling_backend.h"

namespace walkhammer {

// Where the records of a cell come from.
struct CellSource {
  StressState* state;  // must outlive the records
  StressJob job;       // the agent's job: a copy, because the agent could overwrite state->job
  bool own_agent;      // see SamplingBackend
  std::string arch;    // of the programs, as `uname -m` names it
  int64_t position;    // of the cell
};

// The walk that is blamed for the death of a JVM.
struct Blame {
  const SampleJournal* journal = nullptr;  // of the walk; null: no walk was in progress
  std::string why;                         // the reason, to end a sentence with; may be empty
};

// Returns the newest walk in progress on the thread that the hs_err log names as crashed. If that
// thread is unknown or was not walking, returns the newest walk in progress on any thread.
// `hs_err`: the log's text; may be empty. The journal points into `state`.
Blame WalkToBlame(const StressState& state, std::string_view hs_err);

class CellRecords {
 public:
  // Stores an occurrence and returns the id of its bucket. `symbols` owns occurrence->symbols.
  using Record = std::function<Result<int64_t>(std::unique_ptr<Occurrence>,
                                               const std::shared_ptr<SymbolTable>& symbols)>;
  static constexpr std::chrono::milliseconds kDrainAll = std::chrono::hours(1);  // no limit

  CellRecords(CellSource source, Record record);

  // Sets the row as the supervising thread knows it. CurrentRow() adds what is in the state. Any
  // thread may call this, without the lock.
  void Publish(const CellRow& row);

  // Takes findings out of the ring, for about `limit` at most; the next call goes on from there.
  // Then records each walker whose answers differ too often from those of the job's witness.
  Status Drain(std::chrono::milliseconds limit);
  // Takes all that a program has left, once it has ended. `crashed`: its JVM died; then records the
  // death with `wait_status` and the text of the hs_err log.
  Status DrainEnded(bool crashed, int wait_status, const std::string& hs_err);
  // Takes the stacks and threads of a program that has ended, or is no longer sampled.
  void Harvest();
  // Harvests, then removes from the state all of the program but its counts.
  void ForgetProgram();
  // Records what the backend found in its own output. Replaces the stacks taken so far.
  Status SetVerdict(const BackendVerdict& verdict);
  void SetStepMap(std::vector<StepRegionRow> regions, std::vector<StepRangeRow> ranges,
                  FrameMapRows frames);

  // Returns the row that was published last, with values from the state.
  CellRow CurrentRow() const;
  bool HasJavaThread() const;  // among the harvested threads
  // Returns how often each bucket was seen, including findings that the agent only counted.
  std::map<int64_t, uint64_t> SeenByBucket() const;
  // Ends the current period if it is due, or the cell has ended. Without walkhammer's own agent, a
  // cell has one period, which ends with the cell.
  void EndPeriod();
  // Ends a period if it is due, and writes all rows except the stacks.
  Status Save(RunWriter& db);
  // Writes stacks that are new or have changed, at most `most_rows` rows. Returns true if these
  // were all. `last`: the cell has ended.
  Result<bool> SaveStacks(RunWriter& db, size_t most_rows, bool last);

 private:
  uint64_t RunMs() const;
  Result<int64_t> RecordOfCell(const FindingRecord& finding);
  // Records what has been too frequent for `least`.
  Status JudgeByWitness(std::chrono::milliseconds least);
  Status RecordDeath(int wait_status, const std::string& hs_err);
  std::vector<CellThreadRow> Threads() const;  // those of the program that runs, too
  Status SaveNotes(RunWriter& db);
  // The state's and the backend's; `label` is the cell's.
  std::vector<CountRow> Counts(const std::string& label) const;

  const CellSource source_;
  StressState& state_;
  const Record record_;
  mutable std::mutex publishing_;  // guards row_
  CellRow row_;
  std::unique_ptr<Symbolizer> symbolizer_;
  std::shared_ptr<SymbolTable> symbols_;
  std::map<uint32_t, int64_t> bucket_of_site_;
  std::map<WitnessFinding::Count, int64_t> bucket_of_count_;
  // Since when the program has looked wrong; without what is in bucket_of_count_.
  std::map<WitnessFinding::Count, std::chrono::steady_clock::time_point> suspected_;
  int next_slot_ = 0;           // of the ring, where Drain goes on
  std::vector<NoteRow> notes_;  // as saved
  bool last_round_ = false;     // of SaveStacks, after the cell's end
  StackHarvest harvest_;        // of the program that runs
  bool harvested_ = false;      // that program; it has ended
  StackTree stacks_;
  Periods periods_;
  bool periods_changed_ = false;        // since they were saved
  std::vector<CellThreadRow> threads_;  // of programs that have ended
  std::vector<StepRegionRow> regions_;
  std::vector<StepRangeRow> ranges_;
  FrameMapRows frames_;
  std::vector<CountRow> counts_;  // of the backend's own output
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_CELL_RECORDS_H_
