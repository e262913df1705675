// SPDX-License-Identifier: Apache-2.0
#include "harness/child/method_keeper.h"

namespace walkhammer {

void MethodKeeper::Step(Clock::time_point now) {
  const uint64_t unknown = methods_.unknown();
  shared_.unknown_methods.fetch_add(unknown - told_);
  told_ = unknown;
  if (now - swept_ < kSweepEvery) return;
  swept_ = now;
  methods_.SweepUnloaded(jvmti_);
}

}  // namespace walkhammer
