// SPDX-License-Identifier: Apache-2.0
// Signals by a thread's own CPU time: a perf event that signals the thread that it counts.
#ifndef WALKHAMMER_HARNESS_ASGST_TESTING_CLIENTS_CPU_CLOCK_H_
#define WALKHAMMER_HARNESS_ASGST_TESTING_CLIENTS_CPU_CLOCK_H_

#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>

class CpuClock {
 public:
  // Sends SIGPROF to the current thread after `interval` of its CPU time, then once more for each
  // GoOn. Returns false if the kernel allows no such event. Signal-safe: no.
  bool Start(std::chrono::nanoseconds interval) {
    perf_event_attr wanted = {};
    wanted.size = sizeof wanted;
    wanted.type = PERF_TYPE_SOFTWARE;
    wanted.config = PERF_COUNT_SW_CPU_CLOCK;
    wanted.sample_period = static_cast<uint64_t>(interval.count());
    wanted.disabled = 1;
    wanted.wakeup_events = 1;
    wanted.exclude_kernel = 1;
    wanted.exclude_hv = 1;
    event_ = static_cast<int>(syscall(SYS_perf_event_open, &wanted, 0, -1, -1, 0));
    if (event_ < 0) return false;
    const f_owner_ex owner = {F_OWNER_TID, static_cast<pid_t>(syscall(SYS_gettid))};
    fcntl(event_, F_SETFL, O_ASYNC);
    fcntl(event_, F_SETSIG, SIGPROF);
    fcntl(event_, F_SETOWN_EX, &owner);
    GoOn();
    return true;
  }
  // Requests one more signal. Signal-safe: yes.
  void GoOn() const {
    if (event_ >= 0) ioctl(event_, PERF_EVENT_IOC_REFRESH, 1);
  }
  // Signal-safe: no.
  void Stop() {
    if (event_ >= 0) close(event_);
    event_ = -1;
  }

 private:
  int event_ = -1;
};

#endif  // WALKHAMMER_HARNESS_ASGST_TESTING_CLIENTS_CPU_CLOCK_H_
