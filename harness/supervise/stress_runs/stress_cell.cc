// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/stress_runs/stress_cell.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>

#include "harness/base/clock.h"
#include "harness/base/files.h"
#include "harness/base/shell.h"
#include "harness/findings/crash_folder.h"
#include "harness/hs_err/redact.h"
#include "harness/process/signal_name.h"
#include "harness/supervise/stress_runs/backend_samples.h"
#include "harness/supervise/stress_runs/cell_results.h"
#include "harness/supervise/stress_runs/cell_status_text.h"
#include "harness/supervise/stress_runs/frame_map.h"
#include "harness/supervise/stress_runs/program_end.h"
#include "harness/supervise/stress_runs/step_map.h"

namespace walkhammer {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kBootWithin = seconds(120);  // from the program's start until sampling begins
constexpr auto kStopWithin = seconds(10);   // from the request to stop until the agent has stopped
constexpr auto kEndWithin = seconds(30);    // from SIGTERM until the program is killed
constexpr auto kDyingWithin = seconds(30);  // for a dying JVM to write its hs_err log
constexpr auto kWriteWithin =
    seconds(20);  // kEndWithin of backends that judge what is written then
constexpr auto kReadCpuEvery = milliseconds(200);  // a program's; its file in /proc is slow

constexpr size_t kIteration = 0, kFailure = 1;  // see StartProgram

constexpr char kMoreWalks[] = ": a longer --time or a shorter interval helps";
constexpr size_t kMostOutput = 1 << 20;  // bytes of the hs_err log that are read

std::string UsersPreload() {
  const char* preload = std::getenv("LD_PRELOAD");
  return preload == nullptr || preload[0] == 0 ? "" : std::string(":") + preload;
}

// Where a running JVM will write its hs_err log, if no argument says otherwise; empty if not
// known, or if there is one already, of an older process with this pid.
std::string HsErrPathOf(pid_t pid) {
  std::error_code error;
  const auto folder = std::filesystem::read_symlink(fmt::format("/proc/{}/cwd", pid), error);
  if (error) return "";
  std::string path = folder / fmt::format("hs_err_pid{}.log", pid);
  return std::filesystem::exists(path, error) ? "" : path;
}

}  // namespace

std::string OutputFileOf(int64_t position) { return fmt::format("output/cell-{}.txt", position); }

Result<std::unique_ptr<StressCell>> StressCell::Create(CellPlan plan, uint64_t run_start_ns,
                                                       std::mutex& lock,
                                                       CellRecords::Record record) {
  std::unique_ptr<StressCell> cell(new StressCell(lock));
  cell->plan_ = std::move(plan);
  cell->hs_err_path_ = cell->plan_.scratch + "/hs_err.log";
  ASSIGN_OR_RETURN(auto state, MakeStressState(cell->plan_.job, run_start_ns));
  cell->state_fd_ = state.fd;
  cell->state_ = state.state;
  const CellPlan& planned = cell->plan_;
  cell->records_ = std::make_shared<CellRecords>(
      CellSource{cell->state_, planned.job, planned.backend->own_agent, planned.platform.arch,
                 planned.row.position},
      std::move(record));
  cell->Publish();
  return cell;
}

StressCell::~StressCell() {
  if (beside_.valid()) beside_.wait();
  if (state_ != nullptr) state_->stop.store(1);  // an attached JVM outlives the cell
  ptrace_stepper_.reset();                       // first: its thread uses the state and the program
  timer_signals_.reset();
  program_.reset();
  if (state_ != nullptr) munmap(state_, sizeof(StressState));
  if (state_fd_ >= 0) close(state_fd_);
}

BackendPlan StressCell::ForBackend() const {
  return {plan_.backend_argument,  plan_.scratch,      plan_.row.jdk_path, plan_.row.starts,
          plan_.platform,          collected_,         samples_,           state_->walks.load(),
          WalksOfCode(*state_, 0), timer_signals_sent_};
}

double StressCell::Seconds() const {
  if (!sampled_) return 0;
  return InSeconds((ending_ ? terminated_ : Clock::now()) - sampled_from_);
}

bool StressCell::IsOver() const {
  const uint64_t most = plan_.job.step_limit;
  if (most != 0 && state_->steps.load() >= most) return true;
  return sampled_ && plan_.time.count() != 0 && Clock::now() - sampled_from_ >= plan_.time;
}

void StressCell::End(CellStatus status, const std::string& reason) {
  if (plan_.row.status != CellStatus::kRunning) return;
  EndTimerSignals();
  Publish();  // the last of its counts
  plan_.row.status = status;
  plan_.row.reason = status == CellStatus::kWorkloadFailed ? KeepOutput(reason) : reason;
  records_->Publish(plan_.row);
}

// Writes the output of the program, which has failed, to the file for it. Returns `reason` with the
// file's name; without, if there is nothing to write, or it cannot be written.
std::string StressCell::KeepOutput(const std::string& reason) const {
  if (program_ == nullptr || program_->output().empty() || plan_.output_file.empty()) return reason;
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(plan_.output_file).parent_path(),
                                      error);
  if (!WriteFileAtomically(plan_.output_file, program_->output()).ok()) return reason;
  return fmt::format("{}; {} has more of it", reason, OutputFileOf(plan_.row.position));
}

// Tells the records what they cannot know.
void StressCell::Publish() {
  CellRow& row = plan_.row;
  row.output_bytes = output_bytes_ + (program_ != nullptr ? program_->output_bytes() : 0);
  row.time_ms = static_cast<uint64_t>(Seconds() * 1000);
  records_->Publish(row);
}

// Runs `work` on a thread of its own, and `then` in a later Step, once `work` is done. Until then
// only what the program prints changes the cell. `work` must not touch the cell. If there can be no
// further thread, the cell ends with that.
Status StressCell::RunInBackground(std::function<void()> work, std::function<Status()> then) {
  try {
    beside_ = std::async(std::launch::async, std::move(work));
  } catch (const std::system_error& error) {
    End(CellStatus::kToolFailed, std::string("cannot start a thread: ") + error.what());
    return Ok();
  }
  after_beside_ = std::move(then);
  return Ok();
}

// RunInBackground, with the records, under their lock. A failure of `work` is one of the run. If
// there can be no further thread, `work` is done here: what a program has left must not be lost.
Status StressCell::RunWithRecords(std::function<Status(CellRecords&)> work,
                                  std::function<Status()> then) {
  auto outcome = std::make_shared<Status>(Ok());
  const auto locked = [outcome, work = std::move(work), records = records_, &lock = lock_] {
    const std::lock_guard<std::mutex> guard(lock);
    *outcome = work(*records);
  };
  try {
    beside_ = std::async(std::launch::async, locked);
  } catch (const std::system_error&) {
    beside_ = std::async(std::launch::deferred, locked);
    beside_.wait();
  }
  after_beside_ = [outcome, then = std::move(then)]() -> Status {
    RETURN_IF_ERROR(*outcome);
    return then();
  };
  return Ok();
}

Status StressCell::Begin() {
  started_ = last_ran_ = Clock::now();
  if (plan_.attach_pid != 0) return StartAttached();
  auto load = std::make_shared<std::optional<Result<LoadCommand>>>();
  return RunInBackground(
      [load, prepare = plan_.prepare, scratch = plan_.scratch] { load->emplace(prepare(scratch)); },
      [this, load] { return StartPrepared(std::move(**load)); });
}

Status StressCell::StartPrepared(Result<LoadCommand> load) {
  if (interrupted_) {
    End(CellStatus::kInterrupted, "");
    return Ok();
  }
  if (!load.ok()) {
    const bool unable = load.failure().code == ExitCode::kUnable;
    const CellStatus lacks = plan_.for_jdk ? CellStatus::kUnavailable : CellStatus::kNotForJdk;
    End(unable ? lacks : CellStatus::kToolFailed, load.failure().message);
    return Ok();
  }
  load_ = std::move(load.value());
  return StartProgram();
}

// Leaves nothing of an earlier program but what the records hold.
void StressCell::ForgetProgram() {
  std::error_code ignored;
  std::filesystem::remove(hs_err_path_, ignored);
  ptrace_stepper_.reset();  // first: its thread uses the program
  EndTimerSignals();
  if (program_ != nullptr) output_bytes_ += program_->output_bytes();
  iterations_ = Iterations();
  program_.reset();
  stopping_ = ending_ = false;
  last_ran_ = started_ = Clock::now();
  last_cpu_ms_ = 0;
  handlers_since_ = {};
}

void StressCell::EndTimerSignals() {
  if (timer_signals_ != nullptr) timer_signals_sent_ += timer_signals_->sent();
  timer_signals_.reset();
}

pid_t StressCell::ProgramPid() const {
  return plan_.attach_pid != 0 ? plan_.attach_pid : program_->pid();
}

bool StressCell::Alive() {
  const bool ended = program_->HasEnded();  // also reads what the program printed
  return plan_.attach_pid != 0 ? IsAlive(plan_.attach_pid) : !ended;
}

// What is wrong with the running program, with the `reason`; kRunning: nothing.
CellStatus StressCell::WatchOver(std::string& reason) {
  const Clock::time_point now = Clock::now();
  if (program_->output_bytes() > plan_.output_limit) {
    reason = fmt::format("it printed more than {} MiB; --output-limit allows more",
                         plan_.output_limit >> 20);
    return CellStatus::kOutputFlood;
  }
  if (!load_.failure.empty() && program_->counted(kFailure) != 0) {
    reason = "an iteration went wrong; it printed: " + LastLines(program_->output());
    return CellStatus::kWorkloadFailed;
  }
  if (const uint32_t changed = state_->handlers_changed.load(); changed != 0) {
    if (handlers_since_ == Clock::time_point{}) handlers_since_ = now;
    // HotSpot replaces the fault handlers to report its own death: let it.
    if (changed == SIGSEGV && now - handlers_since_ < kDyingWithin) return CellStatus::kRunning;
    reason = fmt::format("somebody replaced the handler of {}: samples would be lost or misjudged",
                         SignalName(static_cast<int>(changed)));
    return CellStatus::kHandlersChanged;
  }
  if (plan_.attach_pid != 0 && program_->HasEnded() &&
      state_->phase.load() == AgentPhase::kAbsent) {
    reason =
        "the agent could not be loaded (a JVM loads it only once; otherwise its own stderr says "
        "why): " +
        LastLines(program_->output());
    return CellStatus::kUnavailable;
  }
  if (state_->phase.load() == AgentPhase::kUnable) {
    reason = FieldText(state_->message);
    if (reason.find("vmStructs") != std::string::npos) return CellStatus::kNotHotspot;
    return state_->lacking != 0 ? CellStatus::kUnavailable : CellStatus::kToolFailed;
  }
  if (ptrace_stepper_ != nullptr) reason = ptrace_stepper_->Trouble();
  if (!reason.empty()) return CellStatus::kUnavailable;
  if (!sampled_ && now - started_ > kBootWithin) {
    reason = "the JVM did not come up within 120 s";
    return CellStatus::kHung;
  }
  if (now - cpu_read_ < kReadCpuEvery) return CellStatus::kRunning;
  cpu_read_ = now;
  // The idle JVM and the agent use far less than one percent of a CPU.
  const uint64_t cpu = CpuMsOf(ProgramPid());
  const auto idle_ms = std::chrono::duration_cast<milliseconds>(now - last_ran_).count();
  if (cpu > last_cpu_ms_ + 20 && cpu - last_cpu_ms_ > static_cast<uint64_t>(idle_ms) / 50) {
    last_cpu_ms_ = cpu;
    last_ran_ = now;
  }
  if (!stopping_ && now - last_ran_ > plan_.hung_after) {
    reason = fmt::format("it used almost no CPU time for {:.0f} s", InSeconds(plan_.hung_after));
    return CellStatus::kHung;
  }
  return CellStatus::kRunning;
}

// The cell's time starts when the first sample is possible.
void StressCell::NoteSampling(AgentPhase phase) {
  const SamplingBackend& backend = *plan_.backend;
  const bool samples = backend.own_agent
                           ? phase >= AgentPhase::kSampling && phase != AgentPhase::kUnable
                           : backend.began == nullptr || backend.began(ForBackend());
  if (sampled_ || !samples) return;
  sampled_ = true;
  sampled_from_ = Clock::now();
}

// Kills before it drains, so that all that the program recorded until the kill is taken. Kill()
// does not wait: what a dying program still records may be lost.
Status StressCell::KillAndEnd(CellStatus status, const std::string& reason) {
  EndTimerSignals();
  program_->Kill();
  return DrainAndEnd(status, reason);
}

Status StressCell::DrainAndEnd(CellStatus status, const std::string& reason) {
  return DrainAnd([this, status, reason] {
    End(status, reason);
    return Ok();
  });
}

// Takes all that the program has left, then calls `then`.
Status StressCell::DrainAnd(std::function<Status()> then) {
  return RunWithRecords(
      [](CellRecords& records) -> Status {
        RETURN_IF_ERROR(records.Drain(CellRecords::kDrainAll));
        records.Harvest();
        return Ok();
      },
      std::move(then));
}

// The agent has stopped, or its time to stop is over. The code's bytes are read from the living
// process before it is asked to end.
Status StressCell::AfterSampling() {
  ending_ = true;
  terminated_ = Clock::now();
  if (plan_.job.step == 0) return EndProgram();
  struct Map {
    std::vector<StepRegionRow> regions;
    std::vector<StepRangeRow> ranges;
    FrameMapRows frames;
  };
  auto map = std::make_shared<Map>();
  return RunInBackground(
      [map, state = state_, pid = ProgramPid(), walker = AllWalkers()[plan_.job.walkers[0]],
       feature = plan_.platform.feature, cell = plan_.row.position, records = records_,
       &lock = lock_] {
        CodeIndex index(*state);
        if (!state->job.no_walk) StepMap(index, pid, walker, cell, map->regions, map->ranges);
        map->frames = FrameMap(index, pid, state->job, feature, cell);
        const std::lock_guard<std::mutex> guard(lock);
        records->SetStepMap(std::move(map->regions), std::move(map->ranges),
                            std::move(map->frames));
      },
      [this] { return EndProgram(); });
}

Status StressCell::EndProgram() {
  asked_to_end_ = Clock::now();
  if (plan_.attach_pid == 0) program_->Terminate();
  if (interrupted_ && !IsOver()) return DrainAndEnd(CellStatus::kInterrupted, "");
  if (plan_.attach_pid == 0) return Ok();
  // An attached JVM goes on without the cell.
  return DrainAnd([this] { return Judge(); });
}

// The supervisor was busy with other cells: for that time the program may have waited for it.
void StressCell::ForgiveStall() {
  const Clock::time_point now = Clock::now();
  if (stepped_ != Clock::time_point{} && now - stepped_ > kStall)
    for (Clock::time_point* since :
         {&started_, &last_ran_, &handlers_since_, &asked_to_stop_, &asked_to_end_})
      if (*since != Clock::time_point{}) *since = std::min(now, *since + (now - stepped_));
  stepped_ = now;
}

// True while work beside the cell goes on; the program's output is taken at the same time.
Result<bool> StressCell::Waits() {
  if (!beside_.valid()) return false;
  if (program_ != nullptr) program_->HasEnded();
  if (beside_.wait_for(seconds(0)) != std::future_status::ready) return true;
  beside_.get();
  last_ran_ = Clock::now();
  RETURN_IF_ERROR(std::exchange(after_beside_, nullptr)());
  return true;
}

Result<bool> StressCell::Step(bool interrupted) {
  if (plan_.row.status != CellStatus::kRunning) return false;
  interrupted_ = interrupted;
  ForgiveStall();
  ASSIGN_OR_RETURN(const bool waits, Waits());
  if (waits) return plan_.row.status == CellStatus::kRunning;
  Publish();
  if (program_ == nullptr) {
    RETURN_IF_ERROR(Begin());
    return plan_.row.status == CellStatus::kRunning;
  }
  const AgentPhase phase = state_->phase.load();
  NoteSampling(phase);
  if (!Alive()) {
    RETURN_IF_ERROR(AfterProgram());
    return plan_.row.status == CellStatus::kRunning;
  }
  std::string reason;
  const CellStatus trouble = WatchOver(reason);
  if (trouble != CellStatus::kRunning) {
    state_->stop.store(1);
    RETURN_IF_ERROR(KillAndEnd(trouble, reason));
    return true;
  }
  // A program that is still setting up has found nothing yet.
  if (interrupted && !sampled_ && plan_.attach_pid == 0) {
    RETURN_IF_ERROR(KillAndEnd(CellStatus::kInterrupted, ""));
    return true;
  }
  const Clock::time_point now = Clock::now();
  if ((IsOver() || interrupted) && !stopping_) {
    stopping_ = true;
    asked_to_stop_ = now;
    state_->stop.store(1);
  }
  if (plan_.job.step == kStepByPtrace && phase == AgentPhase::kSampling && !stopping_ &&
      ptrace_stepper_ == nullptr)
    ptrace_stepper_ = std::make_unique<PtraceStepper>(*state_, ProgramPid());
  if (plan_.backend->timer_signal != 0 && sampled_ && !stopping_ && timer_signals_ == nullptr)
    timer_signals_ =
        std::make_unique<TimerSignals>(ProgramPid(), plan_.backend->timer_signal,
                                       plan_.job.interval_min_ns, plan_.job.interval_max_ns);
  if (stopping_) ptrace_stepper_.reset();
  if (stopping_) EndTimerSignals();
  const bool stopped = phase >= AgentPhase::kStopped || !plan_.backend->own_agent;
  if (stopping_ && !ending_ && (stopped || now - asked_to_stop_ > kStopWithin)) {
    RETURN_IF_ERROR(AfterSampling());
    return plan_.row.status == CellStatus::kRunning;
  }
  if (ending_ &&
      now - asked_to_end_ > (plan_.backend->judge == nullptr ? kEndWithin : kWriteWithin))
    RETURN_IF_ERROR(KillAndEnd(CellStatus::kHung,
                               "it did not end after SIGTERM: a walk may have stranded a lock"));
  return true;
}

Status StressCell::StartProgram() {
  ForgetProgram();
  auto flags = plan_.backend->flags(ForBackend());
  if (!flags.ok()) {
    End(CellStatus::kUnavailable, flags.failure().message);
    return Ok();
  }
  ProgramSetup setup;
  setup.arguments = {plan_.java};
  for (const auto* list : {&flags.value(), &load_.jvm_flags, &plan_.jvm_flags, &load_.arguments})
    setup.arguments.insert(setup.arguments.end(), list->begin(), list->end());
  setup.arguments.insert(setup.arguments.begin() + 1, "-XX:ErrorFile=" + hs_err_path_);
  if (plan_.platform.feature != 8)  // JDK 8 knows no such flag
    setup.arguments.insert(setup.arguments.begin() + 1, "-XX:-CreateCoredumpOnCrash");
  setup.directory = load_.directory.empty() ? plan_.scratch : load_.directory;
  setup.inherited = {state_fd_};
  if (plan_.backend->own_agent) {
    ASSIGN_OR_RETURN(auto agent, PlainPath(plan_.platform.File(kAgentName), AgentLink()));
    setup.environment = {
        std::string(kStateVariable) + "=/proc/self/fd/" + std::to_string(state_fd_),
        "LD_PRELOAD=" + agent + UsersPreload()};
  }
  setup.environment.push_back("TMPDIR=" + plan_.scratch);
  if (plan_.row.jvm_flags.empty()) {
    std::string words;
    for (size_t i = 1; i < setup.arguments.size() - load_.arguments.size(); i++)
      words += (words.empty() ? "" : " ") + setup.arguments[i];
    plan_.row.jvm_flags = WithoutSecrets(words);
  }
  setup.arguments = plan_.platform.Command(setup.arguments, setup.environment);
  setup.counted = {load_.iteration, load_.failure};
  ASSIGN_OR_RETURN(program_, Program::Start(setup));
  plan_.row.starts++;
  return Ok();
}

// What a passed cell has compared and, if its programs tell, how far they came.
std::string StressCell::RemarksOnPassed() const {
  const std::string remarks = Remarks(*state_);
  if (load_.iteration.empty()) return remarks;
  const uint64_t ended = Iterations();
  return fmt::format("{} ended{}{}",
                     ended == 0   ? "no iteration"
                     : ended == 1 ? "1 iteration"
                                  : fmt::format("{} iterations", ended),
                     remarks.empty() ? "" : "; ", remarks);
}

// Iterations that the cell's programs say have ended.
uint64_t StressCell::Iterations() const {
  return iterations_ +
         (program_ == nullptr || load_.iteration.empty() ? 0 : program_->counted(kIteration));
}

// jcmd loads the agent into the running JVM. The agent opens this process's state_fd_ through
// /proc.
Status StressCell::StartAttached() {
  hs_err_path_ = HsErrPathOf(plan_.attach_pid);
  ASSIGN_OR_RETURN(auto agent, PlainPath(plan_.platform.File(kAgentName), AgentLink()));
  ProgramSetup setup;
  setup.arguments = {plan_.jcmd, std::to_string(plan_.attach_pid), "JVMTI.agent_load", agent,
                     fmt::format("/proc/{}/fd/{}", getpid(), state_fd_)};
  ASSIGN_OR_RETURN(program_, Program::Start(setup));
  plan_.row.starts++;
  return Ok();
}

Status StressCell::AfterProgram() {
  ptrace_stepper_.reset();  // its thread uses the state
  EndTimerSignals();
  const std::string hs_err = ReadFile(hs_err_path_, kMostOutput);
  const ProgramEnd end = HowProgramEnded({*program_, *state_, hs_err, plan_.attach_pid != 0,
                                          ending_, sampled_, plan_.backend->own_agent});
  return RunWithRecords(
      [died = end.status == CellStatus::kDied, wait_status = program_->wait_status(),
       hs_err](CellRecords& records) { return records.DrainEnded(died, wait_status, hs_err); },
      [this, end]() -> Status {
        if (end.status != CellStatus::kRunning) {
          End(end.status, end.reason);
          return Ok();
        }
        const bool again = !ending_ && plan_.attach_pid == 0 && load_.repeat && sampled_ &&
                           !IsOver() && plan_.time.count() != 0;
        return again ? StartNext() : Judge();
      });
}

Status StressCell::StartAgain() {
  return RunWithRecords(
      [](CellRecords& records) {
        records.ForgetProgram();
        return Ok();
      },
      [this] { return StartProgram(); });
}

// Starts the program again, once the backend has collected what the last one wrote.
Status StressCell::StartNext() {
  if (plan_.backend->collect == nullptr) return StartAgain();
  if (samples_ == nullptr) samples_ = std::make_shared<BackendSamples>();
  auto collected = std::make_shared<Status>(Ok());
  return RunInBackground([collected, backend = plan_.backend,
                          plan = ForBackend()] { *collected = backend->collect(plan); },
                         [this, collected] {
                           collected_ = plan_.row.starts;
                           if (interrupted_)
                             End(CellStatus::kInterrupted, "");
                           else if (!collected->ok())
                             End(StatusOfFailure(collected->failure()),
                                 collected->failure().message);
                           else
                             return IsOver() ? Judge() : StartAgain();
                           return Ok();
                         });
}

// Judges what the walker did, once the program has done what it should.
Status StressCell::Judge() {
  Publish();
  if (!plan_.backend->own_agent) return JudgeByBackend();
  struct Facts {
    Delivery delivery;
    bool java = false;
  };
  auto facts = std::make_shared<Facts>();
  return RunWithRecords(
      [facts](CellRecords& records) {
        *facts = {records.CurrentRow().delivery, records.HasJavaThread()};
        return Ok();
      },
      [this, facts] {
        const std::string lacks = WhatLacks(facts->delivery, facts->java);
        if (lacks.empty() && plan_.backend->judge != nullptr) return JudgeByBackend();
        if (lacks.empty())
          End(CellStatus::kPassed, RemarksOnPassed());
        else
          End(CellStatus::kVacuous, lacks);
        return Ok();
      });
}

Status StressCell::JudgeByBackend() {
  auto verdict = std::make_shared<BackendVerdict>();
  auto set = std::make_shared<Status>(Ok());
  return RunInBackground(
      [verdict, set, backend = plan_.backend, plan = ForBackend(), output = program_->output(),
       records = records_, &lock = lock_] {
        *verdict = backend->judge(plan, output);
        const std::lock_guard<std::mutex> guard(lock);
        *set = records->SetVerdict(*verdict);
      },
      [this, verdict, set] {
        TakeVerdict(*verdict);
        return *set;
      });
}

// Why what the agent did proves nothing; empty: it does prove something.
std::string StressCell::WhatLacks(const Delivery& delivery, bool java) const {
  if (!sampled_) return "it ended before the agent could sample";
  if (!java) return "no Java thread was tracked";
  const bool stepped = state_->steps.load() != 0;
  if (!stepped && plan_.job.step_method[0] != 0)
    return fmt::format("no window began: was {} on no stack that the first walker found?",
                       plan_.job.step_method);
  if (!stepped && delivery.delivered == 0) return "no signal was delivered";
  if (plan_.job.no_walk == 0 && delivery.successful == 0) return "no walk was successful";
  if (plan_.job.no_walk == 0 && delivery.walks < kLeastWalks)
    return TooFewWalks(delivery.walks) + kMoreWalks;
  return "";
}

void StressCell::TakeVerdict(const BackendVerdict& verdict) {
  if (!plan_.backend->own_agent) {
    plan_.row.delivery = verdict.delivery;
    plan_.row.sampler = verdict.sampler;
    plan_.row.sampler_reason = verdict.sampler_reason;
  }
  const std::string remarks = plan_.backend->own_agent ? RemarksOnPassed() : "";
  if (interrupted_ && verdict.status == CellStatus::kToolFailed)
    End(CellStatus::kInterrupted, "");
  else if (verdict.status == CellStatus::kPassed && !plan_.backend->own_agent &&
           verdict.delivery.walks < kLeastWalks)
    End(CellStatus::kVacuous, TooFewWalks(verdict.delivery.walks) + kMoreWalks);
  else
    End(verdict.status, verdict.reason + (remarks.empty() ? "" : "; ") + remarks);
}

}  // namespace walkhammer
