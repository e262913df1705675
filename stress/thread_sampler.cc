// SPDX-License-Identifier: Apache-2.0
// Samples by a thread that signals the others with tgkill, one after the other.
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <ctime>

#include "harness/base/clock.h"
#include "harness/process/service_thread.h"
#include "stress/sampler.h"

namespace walkhammer::stress {
namespace {

class ThreadSampler : public Sampler {
 public:
  using Sampler::Sampler;

  bool Arm(SampledThread&) override { return true; }
  void Disarm(SampledThread&) override {}
  void Rearm(SampledThread&, uint64_t) override {}

  Status Start(ThreadTable& table) override {
    table_ = &table;
    ASSIGN_OR_RETURN(thread_, StartThread("wh-sampler", Run, this));
    running_ = true;
    return Ok();
  }

  void Stop() override {
    if (!running_) return;
    stop_.store(true);
    pthread_join(thread_, nullptr);
    running_ = false;
  }

 private:
  static void* Run(void* self) {
    static_cast<ThreadSampler*>(self)->Loop();
    return nullptr;
  }

  void Loop() {
    SampledThread clock;  // its `random` gives the sequence of intervals
    clock.random = job_.seed | 1;
    uint64_t next = MonotonicNs();
    while (!stop_.load(std::memory_order_relaxed)) {
      bool any = false;
      table_->ForEach([&](SampledThread& thread) {
        const int tid = thread.tid.load();
        if (tid == 0 || stop_.load(std::memory_order_relaxed)) return;
        if (thread.env == nullptr && job_.native_threads == 0) return;
        if (job_.clock == SampleClock::kCpu && !HasRun(thread, tid)) return;
        any = true;
        syscall(SYS_tgkill, getpid(), tid, kSampleSignal);
      });
      next += NextInterval(clock);
      const uint64_t now = MonotonicNs();
      if (next <= now && any) {
        next = now;  // back to back
        continue;
      }
      const uint64_t until = any ? next : now + 1000000;
      if (!any) next = until;
      timespec at{static_cast<time_t>(until / 1000000000), static_cast<long>(until % 1000000000)};
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
    }
  }

  // True if the thread has run since the last call.
  static bool HasRun(SampledThread& thread, int tid) {
    const uint64_t cpu = ThreadCpuNs(tid);
    const bool has_run = cpu > thread.cpu_at_last_ns;
    thread.cpu_at_last_ns = cpu;
    return has_run;
  }

  ThreadTable* table_ = nullptr;
  pthread_t thread_{};
  bool running_ = false;
  std::atomic<bool> stop_{false};
};

}  // namespace

const SamplerInfo kThreadSampler = {
    .kind = SamplerKind::kThread,
    .name = "thread",
    .what = "a thread signals the others one after the other (tgkill)",
    .cpu_clock = true,
    .wall_clock = true,
    .usable = [] { return Ok(); },
    .make = [](const StressJob& job) -> std::unique_ptr<Sampler> {
      return std::make_unique<ThreadSampler>(job);
    },
};

}  // namespace walkhammer::stress
