// SPDX-License-Identifier: Apache-2.0
// The clock that times of a run are told by. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_BASE_CLOCK_H_
#define WALKHAMMER_HARNESS_BASE_CLOCK_H_

#include <chrono>
#include <cstdint>
#include <ctime>

namespace walkhammer {

// CLOCK_MONOTONIC, in nanoseconds.
inline uint64_t MonotonicNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

inline double InSeconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

// The clock of a thread's CPU time, by the kernel's encoding of a per-thread scheduler clock.
// `tid`: what gettid gives; 0 would be the caller's own.
inline clockid_t ThreadCpuClock(int tid) { return static_cast<clockid_t>((~tid << 3) | 6); }

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_CLOCK_H_
