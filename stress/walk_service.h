// SPDX-License-Identifier: Apache-2.0
// WalkService: the thread that walks in the sampled threads' stead (modes parked and running). It
// takes over the thread pointer of the thread that it walks for as long as the walk lasts, because
// HotSpot's walkers take the thread that they walk from there.
// Signal-safe: ParkUntilWalked and Post yes; the rest no.
#ifndef WALKHAMMER_STRESS_WALK_SERVICE_H_
#define WALKHAMMER_STRESS_WALK_SERVICE_H_

#include <pthread.h>

#include <atomic>

#include "harness/base/result.h"
#include "stress/sample_line.h"

namespace walkhammer::stress {

class WalkService {
 public:
  WalkService(StressState& state, ThreadTable& threads, SampleLine& line)
      : state_(state), threads_(threads), line_(line) {}

  // `on_start` and `on_end` run first and last of all on the walking thread. `ask_jvm`: what JVMTI
  // says about a parked thread; empty where it may not be asked. Each may be null.
  Status Start(void (*on_start)(), void (*on_end)(),
               std::span<const Frame> (*ask_jvm)(SampledThread&));
  void Stop();

  // In the sampled thread's handler: waits until it was walked, at most job.park_limit_ms.
  void ParkUntilWalked(SampledThread& thread, ucontext_t& context);
  // In the sampled thread's handler: leaves a copy of its context and goes on.
  void Post(SampledThread& thread, const ucontext_t& context);

 private:
  static void* Run(void* self);
  void Loop();
  void WalkFor(SampledThread& thread);
  void Wake();

  StressState& state_;
  ThreadTable& threads_;
  SampleLine& line_;
  void (*on_start_)() = nullptr;
  void (*on_end_)() = nullptr;
  std::span<const Frame> (*ask_jvm_)(SampledThread&) = nullptr;
  pthread_t thread_{};
  bool running_ = false;
  std::atomic<bool> stop_{false};
  std::atomic<uint32_t> posted_{0};  // what the service sleeps on
};

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_WALK_SERVICE_H_
