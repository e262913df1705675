// SPDX-License-Identifier: Apache-2.0
// StressCell: one workload under one JDK with one profile, from its first start to its last end.
// Whatever the program does, the cell ends with a status that says so. Signal-safe: no.
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

// How to call a program, without the flags of the backend.
struct LoadCommand {
  std::vector<std::string> jvm_flags;
  std::vector<std::string> arguments;  // for java: class path, main class and its arguments
  std::string directory;               // to run in; empty: the cell's scratch folder
  bool repeat = false;                 // start it again while there is time
  // See Workload; empty: the program prints nothing such.
  std::string iteration = {}, failure = {};
};

struct CellPlan {
  CellRow row;        // what the cell is; the cell fills counts and status
  std::string java;   // path of the java command
  Platform platform;  // java runs on it
  ReplayWords words;
  std::vector<std::string> jvm_flags;  // the user's and the profile's
  // Prepares the program; a failure becomes the cell's status. `scratch`: an empty folder.
  std::function<Result<LoadCommand>(const std::string& scratch)> prepare;
  bool for_jdk = true;  // false: the catalogue says that the program does not run on this JDK
  StressJob job{};
  const SamplingBackend* backend = nullptr;
  std::string backend_argument;
  int attach_pid = 0;  // sample this running JVM and start no program; 0: start one
  std::string jcmd;    // path of the jcmd that attaches to it
  std::chrono::nanoseconds time{};
  std::chrono::nanoseconds hung_after{};  // time without any CPU time that counts as hung
  uint64_t output_limit = 0;              // bytes
  std::string scratch;                    // existing folder of the cell's own
  std::string output_file;                // gets a failed program's output; empty: nothing does
};

// The supervising thread stalls if it does not get to a cell for longer: this is noted, and does
// not count towards the cell's deadlines.
inline constexpr std::chrono::milliseconds kStall{250};

// Where a run's folder keeps the output of a cell's failed program, relative to the folder.
std::string OutputFileOf(int64_t position);

class StressCell {
 public:
  using Clock = std::chrono::steady_clock;

  // `lock`: under which the records may be used; must outlive the cell, as must what `record` uses.
  static Result<std::unique_ptr<StressCell>> Create(CellPlan plan, uint64_t run_start_ns,
                                                    std::mutex& lock, CellRecords::Record record);
  ~StressCell();

  // Does what is due, without waiting for the program, a disk or the lock. False once the cell has
  // ended.
  Result<bool> Step(bool interrupted);

  // Those of the cell's programs. They must be used no more when the cell is destroyed.
  const std::shared_ptr<CellRecords>& records() const { return records_; }

  const CellRow& row() const { return plan_.row; }
  const CellPlan& plan() const { return plan_; }
  const StressState& state() const { return *state_; }
  double Seconds() const;  // of sampling so far; 0 before it begins

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
  bool IsOver() const;  // its time, or all of its instructions are stepped
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
  std::string hs_err_path_;  // empty: where the JVM would write its hs_err log is not known
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
  bool ending_ = false;      // sampling is over, and a program of the cell was asked to end
  uint64_t iterations_ = 0;  // that ended, of programs before this one
  uint64_t last_cpu_ms_ = 0;
  uint64_t output_bytes_ = 0;  // of programs before the one that runs or has run last
  std::shared_ptr<BackendSamples> samples_;
  uint64_t collected_ = 0;  // programs whose output is in samples_
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_STRESS_CELL_H_
