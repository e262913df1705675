// SPDX-License-Identifier: Apache-2.0
// StressCell: one workload under one JDK with one profile, from its first start to its rows in the
// run. Whatever the program does, the cell ends with a status that says so. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_MATRIX_STRESS_CELL_H_
#define WALKHAMMER_HARNESS_SUPERVISE_MATRIX_STRESS_CELL_H_

#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/elf/symbolizer.h"
#include "harness/jvm/images/platform.h"
#include "harness/process/program.h"
#include "harness/shared/stress_state.h"
#include "harness/store/run_db.h"
#include "harness/store/stress_rows.h"
#include "harness/supervise/matrix/cell_harvest.h"
#include "harness/supervise/matrix/lane.h"
#include "harness/supervise/matrix/ptrace_stepper.h"
#include "harness/supervise/occurrence.h"

namespace walkhammer {

// How to call a program, without the flags of the lane.
struct LoadCommand {
  std::vector<std::string> jvm_flags;
  std::vector<std::string> arguments;  // for java: class path, main class and its arguments
  std::string directory;               // to run in; empty: the cell's scratch folder
  bool repeat = false;                 // start it again while there is time
};

struct CellPlan {
  CellRow row;        // what the cell is; the cell fills counts and status
  std::string java;   // path of the java command
  Platform platform;  // java runs on it
  ReplayWords words;
  std::vector<std::string> jvm_flags;  // the user's and the profile's
  // Prepares the program; a failure becomes the cell's status. `scratch`: an empty folder.
  std::function<Result<LoadCommand>(const std::string& scratch)> prepare;
  StressJob job{};
  const Lane* lane = nullptr;
  std::string lane_argument;
  int attach_pid = 0;  // sample this running JVM and start no program; 0: start one
  std::string jcmd;    // path of the jcmd that attaches to it
  std::chrono::nanoseconds time{};
  std::chrono::nanoseconds hung_after{};  // time without any CPU time that counts as hung
  uint64_t output_limit = 0;              // bytes
  std::string scratch;                    // existing folder of the cell's own
};

// The supervising thread stalls if it does not get to a cell for longer: this is noted, and does
// not count towards the cell's deadlines.
inline constexpr std::chrono::milliseconds kStall{250};

class StressCell {
 public:
  using Clock = std::chrono::steady_clock;
  // Stores an occurrence, whose symbols are `symbols`, and returns the bucket's id.
  using Record = std::function<Result<int64_t>(std::unique_ptr<Occurrence>,
                                               const std::shared_ptr<SymbolTable>& symbols)>;

  static Result<std::unique_ptr<StressCell>> Create(CellPlan plan, uint64_t run_start_ns,
                                                    Record record);
  ~StressCell();

  // Does what is due, without waiting for the program. False once the cell has ended.
  Result<bool> Step(bool interrupted);
  // Writes the cell's rows as of now to `db`, without the stacks.
  Status Save(RunDb& db);
  // Writes what is new of the stacks, or `most_rows` of it. True: that was all of it.
  Result<bool> SaveStacks(RunDb& db, size_t most_rows);

  const CellRow& row() const { return plan_.row; }
  const CellPlan& plan() const { return plan_; }
  const StressState& state() const { return *state_; }
  double Seconds() const;  // of sampling so far; 0 before it begins
  // How often findings of each bucket were seen, those that were not handed over included.
  std::map<int64_t, uint64_t> SeenByBucket() const;

 private:
  StressCell() = default;
  static constexpr std::chrono::milliseconds kDrainWithin{50}, kDrainAll = std::chrono::hours(1);

  Status Beside(std::function<void()> work, std::function<Status()> then);
  Result<bool> Waits();
  void ForgiveStall();
  Status Begin();
  Status StartPrepared(Result<LoadCommand> load);
  Status StartProgram();
  Status StartNext();
  Status StartAttached();
  Status Drain(std::chrono::milliseconds limit);
  Status AfterProgram();
  Status AfterSampling();
  Status EndProgram();
  void NoteSampling(AgentPhase phase);
  Status KillAndEnd(CellStatus status, const std::string& reason);
  Status DrainAndEnd(CellStatus status, const std::string& reason);
  Status Judge();
  void TakeVerdict(const LaneVerdict& verdict);
  void End(CellStatus status, const std::string& reason);
  void Harvest();
  void ForgetProgram();
  bool TimeIsUp() const;
  CellStatus WatchOver(std::string& reason);
  Status RecordDeath(const std::string& hs_err);
  // A link with the agent's own file name, by which the agent removes itself from LD_PRELOAD.
  std::string AgentLink() const { return plan_.scratch + "/" + kAgentName; }
  LanePlan ForLane() const;
  void FillRow();
  uint64_t RunMs() const { return (MonotonicNs() - state_->start_ns) / 1000000; }  // of the run
  bool Alive();
  pid_t ProgramPid() const;

  CellPlan plan_;
  LoadCommand load_;
  Clock::time_point started_, sampled_from_, last_ran_, asked_to_stop_, terminated_{},
      asked_to_end_{}, stepped_{};
  std::future<void> beside_;              // work that the cell waits for; see Beside
  std::function<Status()> after_beside_;  // how the cell goes on then
  bool interrupted_ = false;              // as of the last Step
  Record record_;
  std::string hs_err_path_;  // empty: where the JVM would write its hs_err log is not known
  int state_fd_ = -1;
  StressState* state_ = nullptr;
  std::unique_ptr<Program> program_;
  std::unique_ptr<PtraceStepper> ptrace_stepper_;
  std::unique_ptr<Symbolizer> symbolizer_;
  std::shared_ptr<SymbolTable> symbols_;
  Clock::time_point handlers_since_{};
  bool sampled_ = false;   // sampling has begun
  bool stopping_ = false;  // the agent was asked to stop
  bool ending_ = false;    // sampling is over, and a program of the cell was asked to end
  uint64_t last_cpu_ms_ = 0;
  uint64_t output_bytes_ = 0;  // of programs before the one that runs or has run last
  std::map<uint32_t, int64_t> bucket_of_site_;
  int next_slot_ = 0;  // of the ring, where Drain goes on
  std::shared_ptr<LaneSamples> samples_;
  uint64_t collected_ = 0;      // programs whose output is in samples_
  std::vector<NoteRow> notes_;  // as saved
  bool last_round_ = false;     // of SaveStacks, after the cell's end
  StackHarvest harvest_;        // of the program that runs
  StackTree stacks_;
  std::vector<CellThreadRow> threads_;  // of programs that have ended
  std::vector<StepRegionRow> regions_;
  std::vector<StepRangeRow> ranges_;
  std::vector<CountRow> counts_;  // of lanes without walkhammer's agent
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_MATRIX_STRESS_CELL_H_
