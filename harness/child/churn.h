// SPDX-License-Identifier: Apache-2.0
// Churn: Java threads (wh.Churn) that put pressure on the collector and churn classes and code
// while a child fuzzes. Churn also gives these threads time: the windows, in which the JVM stands
// at a safepoint, follow each other at once and would starve the threads. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CHILD_CHURN_H_
#define WALKHAMMER_HARNESS_CHILD_CHURN_H_

#include <chrono>
#include <memory>

#include "harness/base/result.h"
#include "harness/ipc/shared_state.h"
#include "harness/jvm/live/boot.h"

namespace walkhammer {

class Churn {
 public:
  // Starts the Java threads, seeded by shared.job. Counts go to shared.churn. The calling thread
  // must be the JVM's main thread.
  static Result<std::unique_ptr<Churn>> Start(Jvm& jvm, SharedState& shared);

  // Sleeps, so that Java has its share of the time. To be called on the JVM's main thread, ahead of
  // each window. Adds to shared.churn.collections.
  void LetJavaRun();

 private:
  using Clock = std::chrono::steady_clock;

  Churn(SharedState& shared, const volatile uint32_t* collections)
      : shared_(shared),
        collections_(collections),
        seen_(*collections),
        window_start_(Clock::now()) {}

  SharedState& shared_;
  const volatile uint32_t* collections_;  // the JVM's own count
  uint32_t seen_;                         // value of *collections_ that is counted already
  Clock::time_point window_start_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CHILD_CHURN_H_
