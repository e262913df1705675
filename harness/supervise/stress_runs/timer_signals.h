// SPDX-License-Identifier: Apache-2.0
// TimerSignals: stands in for the CPU timers of a profiler in another process. CPU timers expire
// at clock ticks only (CONFIG_HZ, 250 in a second on Debian), whatever their period; these signals
// come as often as asked for, and look to their handler like those of a timer (SI_TIMER, si_overrun
// 0). They are sent by a thread of its own. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_TIMER_SIGNALS_H_
#define WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_TIMER_SIGNALS_H_

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <optional>

#include "harness/base/random.h"

namespace walkhammer {

class TimerSignals {
 public:
  // Sends `signal` to the threads of process `pid` that a timer of the process sends it to and that
  // run, as of at most 10 ms ago, at intervals between the two, in ns, each at random; both 0: back
  // to back. Sends none while the process does not handle the signal, and none once it has ended.
  TimerSignals(pid_t pid, int signal, uint64_t interval_min_ns, uint64_t interval_max_ns);
  ~TimerSignals();
  TimerSignals(const TimerSignals&) = delete;
  TimerSignals& operator=(const TimerSignals&) = delete;

  // Signals so far. Those that found the last one not yet taken are among them.
  uint64_t sent() const { return sent_; }

 private:
  void Run();
  void WaitForNext();

  const pid_t pid_;
  const int signal_;
  const uint64_t interval_min_ns_, interval_max_ns_;
  Random random_{1};
  std::atomic<uint64_t> sent_{0};
  std::atomic<bool> stop_{false};
  std::optional<pthread_t> thread_;  // none: could not be started
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_TIMER_SIGNALS_H_
