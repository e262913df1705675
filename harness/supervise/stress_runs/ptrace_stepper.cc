// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/stress_runs/ptrace_stepper.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "harness/base/clock.h"
#include "harness/process/service_thread.h"

namespace walkhammer {
namespace {

constexpr auto kPause = std::chrono::milliseconds(2);
constexpr auto kHandlerWithin = std::chrono::milliseconds(500);     // a walk, until its signal
constexpr auto kInterruptWithin = std::chrono::milliseconds(2000);  // after PTRACE_INTERRUPT
constexpr int kWakeSignal = SIGURG;
constexpr int kSystemCallBit = 0x80;       // PTRACE_O_TRACESYSGOOD
constexpr int kMostHandlerCalls = 100000;  // stops of a handler that runs freely

long Ask(int request, pid_t tid, uint64_t address, void* data) {
  return ptrace(static_cast<__ptrace_request>(request), tid, reinterpret_cast<void*>(address),
                data);
}

void* AsData(int signal) { return reinterpret_cast<void*>(static_cast<intptr_t>(signal)); }

// True if the kernel ignores the signal by default. If the program has a handler for it after all,
// that is stepped like any code.
bool IgnoredByDefault(int signal) {
  return signal == SIGCHLD || signal == SIGCONT || signal == SIGURG || signal == SIGWINCH;
}

}  // namespace

PtraceStepper::PtraceStepper(StressState& state, pid_t pid) : state_(state), pid_(pid) {
  struct sigaction nothing {};
  nothing.sa_handler = [](int) {};  // no SA_RESTART: waitpid returns
  sigaction(kWakeSignal, &nothing, nullptr);
  const auto body = [](void* self) -> void* {
    static_cast<PtraceStepper*>(self)->Run();
    return nullptr;
  };
  const Result<pthread_t> thread = StartThread("wh-stepper", body, this, kWakeSignal);
  if (thread.ok()) {
    thread_ = thread.value();
  } else {
    trouble_ = thread.failure().message;
  }
}

PtraceStepper::~PtraceStepper() { End(); }

void PtraceStepper::End() {
  stop_.store(true);
  // Again and again: the stepper's thread may be about to begin a wait.
  for (; thread_ && !ended_.load(); std::this_thread::sleep_for(kPause))
    pthread_kill(*thread_, kWakeSignal);
  if (thread_) pthread_join(*thread_, nullptr);
  thread_.reset();
}

std::string PtraceStepper::Trouble() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return trouble_;
}

void PtraceStepper::Wake(pid_t tid) const {
  if (tid != 0) syscall(SYS_tgkill, pid_, tid, kSampleSignal);
}

void PtraceStepper::Run() {
  while (!stop_.load()) {
    const pid_t tid = state_.step_tid.load();
    if (tid != 0) Window(tid);
    std::this_thread::sleep_for(kPause);
  }
  ended_.store(true);
}

// waitpid for a tracee of this thread alone, since another thread waits for the process itself
// (__WNOTHREAD). The end of the process, which the kernel tells whoever asks first, is left to that
// thread.
pid_t PtraceStepper::WaitForTracee(pid_t tid, int& status, int options) const {
  options |= __WALL | __WNOTHREAD;
  if (tid != pid_) return waitpid(tid, &status, options);
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(tid), &info, options | WSTOPPED | WEXITED | WNOWAIT) != 0)
    return -1;
  if (info.si_pid == 0) return 0;
  const bool ended =
      info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED;
  return ended ? -1 : waitpid(tid, &status, options);
}

// Polls for the thread's next stop. Its status, or -1: none within `limit`.
int PtraceStepper::StopWithin(pid_t tid, std::chrono::milliseconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (std::chrono::steady_clock::now() < until) {
    int status = 0;
    if (WaitForTracee(tid, status, WNOHANG) != 0) return status;
    std::this_thread::sleep_for(kPause);
  }
  return -1;
}

// Stops the thread for good. The sampling signal comes first: it stops the thread outside of the
// agent's handler. A thread that has it blocked is interrupted wherever it is. One that cannot be
// stopped in the kernel is left: it is detached as the stepper's thread ends. The status, or -1.
int PtraceStepper::Interrupt(pid_t tid) {
  Wake(tid);
  const int status = StopWithin(tid, kHandlerWithin);
  if (status != -1 || Ask(PTRACE_INTERRUPT, tid, 0, nullptr) != 0) return status;
  return StopWithin(tid, kInterruptWithin);
}

// Waits for the thread's next stop.
PtraceStepper::Stop PtraceStepper::Wait(pid_t tid) {
  int status = 0;
  pid_t got;
  do {
    errno = 0;
    got = WaitForTracee(tid, status, 0);
  } while (got < 0 && errno == EINTR && !stop_.load());
  if (got < 0 && errno == EINTR) {
    status = Interrupt(tid);
    if (status != -1) got = tid;
  }
  if (got != tid || !WIFSTOPPED(status)) return Stop::kGone;
  stop_signal_ = WSTOPSIG(status);
  if ((status >> 16) != 0) return Stop::kOther;
  if (stop_signal_ == (SIGTRAP | kSystemCallBit)) return Stop::kSystemCall;
  if (stop_signal_ != kSampleSignal && stop_signal_ != SIGTRAP) undelivered_ = stop_signal_;
  return Stop::kSignal;
}

PtraceStepper::Stop PtraceStepper::Go(int request, pid_t tid, int signal) {
  if (stop_.load() || Ask(request, tid, 0, AsData(signal)) != 0) return Stop::kGone;
  undelivered_ = 0;
  return Wait(tid);
}

bool PtraceStepper::RunHandler(pid_t tid, int signal, bool& missed) {
  int depth = 1;  // other signals may interrupt a handler
  Stop stop = Go(PTRACE_SYSCALL, tid, signal);
  for (int calls = 0; calls < kMostHandlerCalls && !stop_.load(); calls++) {
    if (stop == Stop::kGone) return false;
    int passed_on = 0;
    bool returns = false;
    if (stop == Stop::kSystemCall) {
      __ptrace_syscall_info info{};
      const long got = Ask(PTRACE_GET_SYSCALL_INFO, tid, sizeof info, &info);
      returns = got > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY &&
                info.entry.nr == static_cast<uint64_t>(SYS_rt_sigreturn);
    } else if (stop == Stop::kSignal && stop_signal_ != kSampleSignal) {
      passed_on = stop_signal_;
      if (!IgnoredByDefault(passed_on)) depth++;
    }
    stop = Go(PTRACE_SYSCALL, tid, passed_on);
    if (returns && --depth == 0) return stop != Stop::kGone;
  }
  missed = true;
  return stop != Stop::kGone;
}

// Steps one instruction and has it walked. False: the window is over. `missed`: the thread has run
// instructions without a walk, so the agent's handler must begin anew.
bool PtraceStepper::StepOnce(pid_t tid, bool& missed) {
  Stop stop = Go(PTRACE_SINGLESTEP, tid, 0);
  while (stop != Stop::kSignal || stop_signal_ != SIGTRAP) {
    if (stop == Stop::kGone || stop_.load()) return false;
    if (stop == Stop::kSignal) {
      // No walk runs now, so the stepper's own signal is not under way: the agent sent this one to
      // end the window of a thread that has fallen asleep.
      if (stop_signal_ == kSampleSignal) return false;
      if (IgnoredByDefault(stop_signal_)) {
        stop = Go(PTRACE_SINGLESTEP, tid, stop_signal_);
        continue;
      }
      if (!RunHandler(tid, stop_signal_, missed)) return false;
    }
    stop = Go(PTRACE_SINGLESTEP, tid, 0);
  }
  if (missed) state_.step_on.store(1);
  missed = false;
  const uint64_t before = state_.steps.load(std::memory_order_relaxed);
  const bool resumes = state_.step_on.load() == 1;
  stop = Go(PTRACE_CONT, tid, kSampleSignal);
  // Runs until the signal that the handler sends. Other signals, such as a walker's faults, are
  // passed on.
  while (stop != Stop::kGone && !stop_.load()) {
    if (stop == Stop::kSignal && stop_signal_ == kSampleSignal) {
      const bool walked = resumes ? state_.step_on.load() == 2
                                  : state_.steps.load(std::memory_order_relaxed) != before;
      if (walked) return state_.step_tid.load() == tid;
      missed = true;  // the injected signal was blocked, and the thread ran on
      return true;
    }
    stop = Go(PTRACE_CONT, tid, stop == Stop::kSignal ? stop_signal_ : 0);
  }
  return false;
}

void PtraceStepper::Window(pid_t tid) {
  if (Ask(PTRACE_SEIZE, tid, 0, AsData(PTRACE_O_TRACESYSGOOD)) != 0) {
    if (errno != ESRCH) {
      std::lock_guard<std::mutex> lock(mutex_);
      trouble_ = std::string("the kernel refuses to trace the thread: ") + strerror(errno) +
                 "; sysctl kernel.yama.ptrace_scope=0 allows it";
    }
    state_.step_tid.store(0);
    return;
  }
  state_.step_on.store(1);
  const uint64_t began = MonotonicNs();
  // The thread stops for the signal before it executes its next instruction; if it sleeps, that may
  // take a while.
  Wake(tid);
  Stop stop = Wait(tid);
  while (stop == Stop::kOther || (stop == Stop::kSignal && stop_signal_ != kSampleSignal))
    stop = Go(PTRACE_CONT, tid, stop == Stop::kSignal ? stop_signal_ : 0);
  bool missed = true;
  const uint64_t limit = state_.job.step_limit;
  for (uint64_t left = state_.job.step_window; left > 0 && stop != Stop::kGone; left--) {
    if (stop_.load() || (limit != 0 && state_.steps.load() >= limit)) break;
    if (!StepOnce(tid, missed)) break;
  }
  state_.step_on.store(0);
  state_.step_tid.store(0);
  state_.step_ns.fetch_add(MonotonicNs() - began);
  state_.step_windows.fetch_add(1);
  // The thread is stopped, as PTRACE_DETACH needs it, or gone. step_on is 0 by now: from here on
  // the agent's handler sends no signal that the stepper would have to discard.
  Ask(PTRACE_DETACH, tid, 0, AsData(undelivered_));
  undelivered_ = 0;
}

}  // namespace walkhammer
