// SPDX-License-Identifier: Apache-2.0
// The clocks for the times of a run and for threads' CPU time. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_BASE_CLOCK_H_
#define WALKHAMMER_HARNESS_BASE_CLOCK_H_

#include <chrono>
#include <cstdint>
#include <ctime>

namespace walkhammer {

// Returns the time of CLOCK_MONOTONIC, in nanoseconds.
inline uint64_t MonotonicNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

inline double InSeconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

// Returns the id of the clock of a thread's CPU time, in the kernel's encoding of a per-thread
// scheduler clock. `tid`: the thread's gettid(); 0: the calling thread.
inline clockid_t ThreadCpuClock(int tid) { return static_cast<clockid_t>((~tid << 3) | 6); }

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_CLOCK_H_
