// SPDX-License-Identifier: Apache-2.0
// MethodKeeper: keeps room in a child's MethodRegistry, which would be full after half an hour of
// churn, and tells the parent of methods that found none. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CHILD_METHOD_KEEPER_H_
#define WALKHAMMER_HARNESS_CHILD_METHOD_KEEPER_H_

#include <jvmti.h>

#include <chrono>

#include "harness/ipc/shared_state.h"
#include "harness/jvm/live/methods.h"

namespace walkhammer {

class MethodKeeper {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::duration kSweepEvery = std::chrono::seconds(10);

  // `jvmti`: as MethodRegistry::SweepUnloaded takes it.
  MethodKeeper(MethodRegistry& methods, jvmtiEnv* jvmti, SharedState& shared, Clock::time_point now)
      : methods_(methods), jvmti_(jvmti), shared_(shared), swept_(now) {}

  // Between two windows: no walker may be at work. Sweeps if kSweepEvery has passed since the last
  // sweep.
  void Step(Clock::time_point now) {
    const uint64_t unknown = methods_.unknown();
    shared_.unknown_methods.fetch_add(unknown - told_);
    told_ = unknown;
    if (now - swept_ < kSweepEvery) return;
    swept_ = now;
    methods_.SweepUnloaded(jvmti_);
  }

 private:
  MethodRegistry& methods_;
  jvmtiEnv* const jvmti_;
  SharedState& shared_;
  Clock::time_point swept_;
  uint64_t told_ = 0;  // of methods_.unknown()
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CHILD_METHOD_KEEPER_H_
