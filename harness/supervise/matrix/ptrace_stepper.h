// SPDX-License-Identifier: Apache-2.0
// PtraceStepper: steps a thread of a sampled JVM from outside, on any architecture. It traces the
// thread that the agent names (StressState::step_tid). Behind each instruction it puts in the
// sampling signal, whose handler walks and sends the same signal to itself; that one comes after
// the handler's return and before the next instruction, and is kept here. So one step is two stops.
// Runs on a thread of its own: a traced thread obeys only the thread that traces it.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_MATRIX_PTRACE_STEPPER_H_
#define WALKHAMMER_HARNESS_SUPERVISE_MATRIX_PTRACE_STEPPER_H_

#include <sys/types.h>

#include <atomic>
#include <mutex>
#include <string>
#include <thread>

#include "harness/shared/stress_state.h"

namespace walkhammer {

class PtraceStepper {
 public:
  // Begins to wait for threads of process `pid` to step.
  PtraceStepper(StressState& state, pid_t pid);
  ~PtraceStepper();
  // Lets go of the thread; it steps no more.
  void End();
  // Why it cannot step; empty: nothing is wrong.
  std::string Trouble() const;

 private:
  enum class Stop { kSignal, kSystemCall, kOther, kGone };

  void Run();
  void Window(pid_t tid);
  bool StepOnce(pid_t tid, bool& missed);
  bool RunHandler(pid_t tid, int signal);
  Stop Go(int request, pid_t tid, int signal);
  Stop Wait(pid_t tid);
  void Wake(pid_t tid) const;

  StressState& state_;
  const pid_t pid_;
  std::atomic<bool> stop_{false};
  std::atomic<pid_t> tracing_{0};
  int stop_signal_ = 0;  // of the last kSignal
  mutable std::mutex mutex_;
  std::string trouble_;
  std::thread thread_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_MATRIX_PTRACE_STEPPER_H_
