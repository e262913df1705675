// SPDX-License-Identifier: Apache-2.0
// StressCell: runs one workload on one JDK with one profile, and starts it again if the workload
// says so. Whatever the programs do, the cell ends with a status. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_STRESS_CELL_H_
#define WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_STRESS_CELL_H_

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/ipc/shared_state.h"
#include "harness/ipc/stress_state.h"
#include "harness/jvm/images/platform.h"
#include "harness/process/program.h"
#include "harness/store/stress_rows.h"
#include "harness/supervise/finding_sink.h"
#include "harness/supervise/stress_runs/cell_records.h"
#include "harness/supervise/stress_runs/ptrace_stepper.h"
#include "harness/supervise/stress_runs/sampling_backend.h"
#include "harness/supervise/stress_runs/timer_signals.h"

namespace walkhammer {

// The command that starts a program, without java itself and the flags of the backend.
struct LoadCommand {
  std::vector<std::string> jvm_flags;
  std::vector<std::string> arguments;  // for java: class path, main class and its arguments
  std::string directory;               // to run in; empty: the cell's scratch folder
  bool repeat = false;                 // start it again while there is time
  // What the program prints when an iteration ends or goes wrong: see Workload; empty: nothing.
  std::string iteration = {}, failure = {};
};

struct CellPlan {
  CellRow row;        // identifies the cell; the cell fills in counts and status
  std::string java;   // path of the java command
  Platform platform;  // on which java runs
  ReplayWords words;
  std::vector<std::string> jvm_flags;  // the user's and the profile's
  // Prepares the program; a failure becomes the cell's status. `scratch`: an empty folder.
  std::function<Result<LoadCommand>(const std::string& scratch)> prepare;
  bool for_jdk = true;  // false: the catalogue says that the program does not run on this JDK
  StressJob job{};
  const SamplingBackend* backend = nullptr;
  std::string backend_argument;
  int attach_pid = 0;               // sample this running JVM and start no program; 0: start one
  std::string jcmd;                 // path of the jcmd that attaches to it
  std::chrono::nanoseconds time{};  // of sampling; 0: until the program ends
  std::chrono::nanoseconds hung_after{};  // hung if it used at most 2 % of a CPU for longer
  uint64_t output_limit = 0;              // bytes that a program may print
  std::string scratch;                    // existing folder that only this cell uses
  std::string output_file;  // receives a failed program's output; empty: it is not kept
};

// If more time than this passes between two Steps of a cell, the supervising thread has stalled.
// The stall is noted, and the cell's deadlines are extended by it.
inline constexpr std::chrono::milliseconds kStall{250};

// Returns the file for the output of a cell's failed program, relative to the run's folder.
std::string OutputFileOf(int64_t position);

class StressCell {
 public:
  using Clock = std::chrono::steady_clock;

  // `run_start_ns`: the run's start on the monotonic clock. `lock`: must be held while the records
  // are used. `lock` and all that `record` uses must outlive the cell.
  static Result<std::unique_ptr<StressCell>> Create(CellPlan plan, uint64_t run_start_ns,
                                                    std::mutex& lock, CellRecords::Record record);
  ~StressCell();

  // Does what is due. Never waits for the program or the store; waits for the lock only if no
  // thread can be started. `interrupted`: the run is to end soon. Returns false once the cell has
  // ended; fails if the whole run must end.
  Result<bool> Step(bool interrupted);

  // The records of the cell's programs. They must not be used after the cell is destroyed.
  const std::shared_ptr<CellRecords>& records() const { return records_; }

  const CellRow& row() const { return plan_.row; }
  const CellPlan& plan() const { return plan_; }
  const StressState& state() const { return *state_; }
  double Seconds() const;  // of sampling so far; 0 before sampling begins

 private:
  explicit StressCell(std::mutex& lock) : lock_(lock) {}

  Status RunInBackground(std::function<void()> work, std::function<Status()> then);
  Status RunWithRecords(std::function<Status(CellRecords&)> work, std::function<Status()> then);
  Result<bool> Waits();
  void ForgiveStall();
  Status Begin();
  Status StartPrepared(Result<LoadCommand> load);
  Status StartProgram();
  Status StartNext();
  Status StartAgain();
  Status StartAttached();
  Status AfterProgram();
  Status AfterSampling();
  Status EndProgram();
  void NoteSampling(AgentPhase phase);
  Status KillAndEnd(CellStatus status, const std::string& reason);
  Status DrainAnd(std::function<Status()> then);
  Status DrainAndEnd(CellStatus status, const std::string& reason);
  std::string KeepOutput(const std::string& reason) const;
  uint64_t Iterations() const;
  std::string RemarksOnPassed() const;
  Status Judge();
  Status JudgeByBackend();
  std::string WhatLacks(const Delivery& delivery, bool java) const;
  void TakeVerdict(const BackendVerdict& verdict);
  void End(CellStatus status, const std::string& reason);
  void Publish();
  void ForgetProgram();
  void EndTimerSignals();
  bool IsOver() const;  // its time is over, or its job's step_limit is reached
  CellStatus WatchOver(std::string& reason);
  // A link with the agent's own file name, by which the agent removes itself from LD_PRELOAD.
  std::string AgentLink() const { return plan_.scratch + "/" + kAgentName; }
  BackendPlan ForBackend() const;
  bool Alive();
  pid_t ProgramPid() const;

  CellPlan plan_;
  LoadCommand load_;
  Clock::time_point started_, sampled_from_, last_ran_, cpu_read_, asked_to_stop_, terminated_{},
      asked_to_end_{}, stepped_{};
  std::future<void> beside_;              // work that the cell waits for; see RunInBackground
  std::function<Status()> after_beside_;  // how the cell goes on then
  bool interrupted_ = false;              // as of the last Step
  std::mutex& lock_;
  std::string hs_err_path_;  // empty: unknown, or of an older process
  int state_fd_ = -1;
  StressState* state_ = nullptr;
  std::shared_ptr<CellRecords> records_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<PtraceStepper> ptrace_stepper_;
  std::unique_ptr<TimerSignals> timer_signals_;
  uint64_t timer_signals_sent_ = 0;  // to programs whose signals have ended
  Clock::time_point handlers_since_{};
  bool sampled_ = false;     // sampling has begun
  bool stopping_ = false;    // the agent was asked to stop
  bool ending_ = false;      // sampling is over, and the program is to end
  uint64_t iterations_ = 0;  // that ended, in programs before program_
  uint64_t last_cpu_ms_ = 0;
  uint64_t output_bytes_ = 0;  // that programs before program_ printed
  std::shared_ptr<BackendSamples> samples_;
  uint64_t collected_ = 0;  // programs whose output is in samples_
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_STRESS_CELL_H_
