// SPDX-License-Identifier: Apache-2.0
// WalkService: a thread that walks in place of the sampled threads (modes parked and running).
// During a walk, the service uses the thread pointer of the walked thread, because HotSpot's
// walkers find the thread that they walk by the thread pointer.
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

  // Starts the walking thread, which calls `on_start` first and `on_end` last. `ask_jvm` returns
  // what JVMTI says about a parked thread; empty where JVMTI may not be asked. Each may be null.
  Status Start(void (*on_start)(), void (*on_end)(),
               std::span<const Frame> (*ask_jvm)(SampledThread&));
  void Stop();

  // For the sampled thread's handler: waits until the thread was walked, or until job.park_limit_ms
  // are over and no walk of the thread is under way.
  void ParkUntilWalked(SampledThread& thread, ucontext_t& context);
  // For the sampled thread's handler: leaves a copy of the context to be walked, unless the
  // previous one is not done, and goes on.
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
  std::atomic<uint32_t> posted_{0};  // futex word that the service sleeps on
};

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_WALK_SERVICE_H_
