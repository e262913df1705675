// SPDX-License-Identifier: Apache-2.0
// Samples by a high-resolution timer for each thread (CLOCK_MONOTONIC, SIGEV_THREAD_ID). With the
// CPU clock, an expiry before which the thread did not run is not walked. CPU-time timers would
// follow the scheduler's tick, whatever interval is asked for.
#include <csignal>
#include <ctime>

#include "stress/sampler.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace walkhammer::stress {
namespace {

class TimerSampler : public Sampler {
 public:
  using Sampler::Sampler;

  bool Arm(SampledThread& thread) override {
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = kSampleSignal;
    event.sigev_notify_thread_id = thread.tid.load();
    if (timer_create(CLOCK_MONOTONIC, &event, &thread.timer) != 0) return false;
    thread.has_timer = true;
    Set(thread);
    return true;
  }

  void Disarm(SampledThread& thread) override {
    if (!thread.has_timer) return;
    thread.has_timer = false;
    timer_delete(thread.timer);
  }

  void Rearm(SampledThread& thread, uint64_t spent_ns) override {
    if (thread.has_timer && (!Periodic() || TooLong(thread, spent_ns))) Set(thread);
  }

 private:
  void Set(SampledThread& thread) const {
    const uint64_t interval = NextInterval(thread);
    itimerspec when{};
    when.it_value.tv_sec = static_cast<time_t>(interval / 1000000000);
    when.it_value.tv_nsec = static_cast<long>(interval % 1000000000);
    if (Periodic()) when.it_interval = when.it_value;
    timer_settime(thread.timer, 0, &when, nullptr);
  }
};

}  // namespace

const SamplerInfo kTimerSampler = {
    .kind = SamplerKind::kTimer,
    .name = "timer",
    .what = "a high-resolution timer for each thread",
    .cpu_clock = true,
    .wall_clock = true,
    .usable = [] { return Ok(); },
    .make = [](const StressJob& job) -> std::unique_ptr<Sampler> {
      return std::make_unique<TimerSampler>(job);
    },
};

}  // namespace walkhammer::stress
