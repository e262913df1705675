// SPDX-License-Identifier: Apache-2.0
// Samples by perf events: the kernel's cpu-clock, a high-resolution timer that runs while its
// thread runs. The shortest period is 10 us (kernel/events/core.c, perf_swevent_start_hrtimer).
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "stress/sampler.h"

namespace walkhammer::stress {
namespace {

constexpr uint64_t kLeastPeriodNs = 10000;

int OpenClock(int tid, uint64_t period_ns, bool user_only) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.sample_period = period_ns;
  attr.wakeup_events = 1;
  attr.disabled = 1;
  attr.exclude_kernel = user_only ? 1 : 0;
  return static_cast<int>(syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

// Opens a clock that counts the kernel as well, where /proc/sys/kernel/perf_event_paranoid permits
// it.
int OpenClock(int tid, uint64_t period_ns) {
  const int fd = OpenClock(tid, period_ns, false);
  return fd >= 0 ? fd : OpenClock(tid, period_ns, true);
}

class PerfSampler : public Sampler {
 public:
  using Sampler::Sampler;

  bool Arm(SampledThread& thread) override {
    const uint64_t period = Period(thread);
    const int tid = thread.tid.load();
    const int fd = OpenClock(tid, period);
    if (fd < 0) return false;
    f_owner_ex owner{F_OWNER_TID, tid};
    if (fcntl(fd, F_SETFL, O_ASYNC) != 0 || fcntl(fd, F_SETSIG, kSampleSignal) != 0 ||
        fcntl(fd, F_SETOWN_EX, &owner) != 0) {
      close(fd);
      return false;
    }
    thread.perf_fd = fd;
    ioctl(fd, PERF_EVENT_IOC_RESET, 0);
    if (Periodic())
      ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    else
      ioctl(fd, PERF_EVENT_IOC_REFRESH, 1);
    return true;
  }

  void Disarm(SampledThread& thread) override {
    const int fd = thread.perf_fd;
    thread.perf_fd = -1;
    if (fd < 0) return;
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    close(fd);
  }

  void Rearm(SampledThread& thread, uint64_t spent_ns) override {
    if (thread.perf_fd < 0 || (Periodic() && !TooLong(thread, spent_ns))) return;
    if (Periodic() || job_.interval_min_ns != job_.interval_max_ns) {
      uint64_t period = Period(thread);
      ioctl(thread.perf_fd, PERF_EVENT_IOC_PERIOD, &period);  // starts the period anew
    }
    if (!Periodic()) ioctl(thread.perf_fd, PERF_EVENT_IOC_REFRESH, 1);
  }

 private:
  uint64_t Period(SampledThread& thread) const {
    const uint64_t interval = NextInterval(thread);
    return interval < kLeastPeriodNs ? kLeastPeriodNs : interval;
  }
};

Status Usable() {
  const int fd = OpenClock(0, 1000000);
  if (fd < 0)
    return Unable(std::string("perf events are not permitted here (") + strerror(errno) +
                  "; see /proc/sys/kernel/perf_event_paranoid)");
  close(fd);
  return Ok();
}

}  // namespace

const SamplerInfo kPerfSampler = {
    .kind = SamplerKind::kPerf,
    .name = "perf",
    .what = "perf events (cpu-clock) follow each thread's CPU time",
    .cpu_clock = true,
    .wall_clock = false,
    .usable = Usable,
    .make = [](const StressJob& job) -> std::unique_ptr<Sampler> {
      return std::make_unique<PerfSampler>(job);
    },
};

}  // namespace walkhammer::stress
