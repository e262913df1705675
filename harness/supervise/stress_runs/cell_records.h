// SPDX-License-Identifier: Apache-2.0
// CellRecords: what the agent leaves in shared memory, on its way to the run's store: findings,
// counts, threads, stacks. All but Publish() is slow; it is called under Recorder::lock(), never by
// the supervising thread. Signal-safe: no.
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
#include "harness/supervise/stress_runs/sampling_backend.h"

namespace walkhammer {

// Where the records of a cell come from.
struct CellSource {
  StressState* state;  // must outlive the records
  StressJob job;       // as it was given to the agent, which could overwrite that of `state`
  bool own_agent;      // see SamplingBackend
  std::string arch;    // of the programs
  int64_t position;    // of the cell
};

// Which walk a JVM's death is blamed on.
struct Blame {
  const SampleJournal* journal = nullptr;  // of the walk; null: no walk was under way
  std::string why;                         // why that walk, for the end of a sentence; may be empty
};

// The walk of the thread that the hs_err log (empty: there is none) says failed; where that thread
// was in no walk, or is not known, the newest walk that was under way.
Blame WalkToBlame(const StressState& state, std::string_view hs_err);

class CellRecords {
 public:
  // Stores an occurrence, whose symbols are `symbols`, and returns the bucket's id.
  using Record = std::function<Result<int64_t>(std::unique_ptr<Occurrence>,
                                               const std::shared_ptr<SymbolTable>& symbols)>;
  static constexpr std::chrono::milliseconds kDrainAll = std::chrono::hours(1);

  CellRecords(CellSource source, Record record);

  // The row as the supervising thread knows it; what the state says is added when it is saved.
  // By any thread, without the lock.
  void Publish(const CellRow& row);

  // Takes findings out of the ring, for about `limit` at most; the rest keeps its place there. Then
  // records how walkers' answers differ too often from those of the job's witness.
  Status Drain(std::chrono::milliseconds limit);
  // The program has ended: takes all that it has left. `crashed`: by the death of its JVM, with
  // this wait status and hs_err log.
  Status DrainEnded(bool crashed, int wait_status, const std::string& hs_err);
  // Takes the stacks and threads of a program that has ended, or that is sampled no more.
  void Harvest();
  // Harvests, and leaves nothing of the program in the state but its counts.
  void ForgetProgram();
  // What the backend's own output says, in addition to the state.
  Status SetVerdict(const BackendVerdict& verdict);
  void SetStepMap(std::vector<StepRegionRow> regions, std::vector<StepRangeRow> ranges);

  // The row that was published last, with what the state says.
  CellRow CurrentRow() const;
  bool HasJavaThread() const;  // in what was harvested
  // How often findings of each bucket were seen, those that were not handed over included.
  std::map<int64_t, uint64_t> SeenByBucket() const;
  // Ends a period, if it is due or the cell has ended.
  void EndPeriod();
  // Writes the rows as of now, without the stacks.
  Status Save(RunWriter& db);
  // Writes what is new of the stacks, or `most_rows` of it. True: that was all of it. `last`: the
  // cell has ended.
  Result<bool> SaveStacks(RunWriter& db, size_t most_rows, bool last);

 private:
  uint64_t RunMs() const;
  Result<int64_t> RecordOfCell(const FindingRecord& finding);
  Status JudgeByWitness();
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
  std::vector<CountRow> counts_;  // of the backend's own output
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_CELL_RECORDS_H_
