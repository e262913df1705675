// SPDX-License-Identifier: Apache-2.0
// PtraceStepper: steps a thread of a sampled JVM from outside, on any architecture. The agent names
// the thread (StressState::step_tid). After each instruction the stepper injects the sampling
// signal. Its handler walks and sends the same signal to its own thread once more. The thread stops
// for this second signal after the handler's return and before the next instruction, and the
// stepper discards it. So one step is two stops.
// The stepper runs on a thread of its own: a traced thread obeys only the thread that traces it.
// SIGURG, sent to that thread alone, ends its waits. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_PTRACE_STEPPER_H_
#define WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_PTRACE_STEPPER_H_

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>

#include "harness/ipc/stress_state.h"

namespace walkhammer {

class PtraceStepper {
 public:
  // Begins to step the threads of process `pid` that the agent names.
  PtraceStepper(StressState& state, pid_t pid);
  ~PtraceStepper();
  // Detaches from the thread and ends the stepping, within some seconds whatever the thread does.
  void End();
  // Why nothing is stepped: no thread can be started, or the kernel refuses to trace. Empty:
  // nothing is wrong.
  std::string Trouble() const;

 private:
  enum class Stop { kSignal, kSystemCall, kOther, kGone };

  void Run();
  void Window(pid_t tid);
  bool StepOnce(pid_t tid, bool& missed);
  bool RunHandler(pid_t tid, int signal, bool& missed);
  Stop Go(int request, pid_t tid, int signal);
  Stop Wait(pid_t tid);
  pid_t WaitForTracee(pid_t tid, int& status, int options) const;
  int StopWithin(pid_t tid, std::chrono::milliseconds limit);
  int Interrupt(pid_t tid);
  void Wake(pid_t tid) const;

  StressState& state_;
  const pid_t pid_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> ended_{false};  // the stepper's thread is about to
  int stop_signal_ = 0;             // of the last kSignal
  int undelivered_ = 0;             // the program's signal that stopped it; 0: none
  mutable std::mutex mutex_;
  std::string trouble_;
  std::optional<pthread_t> thread_;  // none: could not be started, or was joined
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_PTRACE_STEPPER_H_
