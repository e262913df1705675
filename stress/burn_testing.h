// SPDX-License-Identifier: Apache-2.0
// Burn: CPU time of tests. Signal-safe: yes.
#ifndef WALKHAMMER_STRESS_BURN_TESTING_H_
#define WALKHAMMER_STRESS_BURN_TESTING_H_

#include <unistd.h>

#include <cstdint>

#include "stress/sampled_threads.h"

namespace walkhammer::stress {

// Keeps the calling thread busy for that CPU time, however long that takes.
inline void Burn(uint64_t ns) {
  const uint64_t until = ThreadCpuNs(gettid()) + ns;
  while (ThreadCpuNs(gettid()) < until) {
  }
}

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_BURN_TESTING_H_
