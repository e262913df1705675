// SPDX-License-Identifier: Apache-2.0
// Ticks: a clock for times as short as a walk, read in a few nanoseconds. It does not wait for the
// instructions before it, so a time may be wrong by what the processor does at once.
// Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_BASE_TICKS_H_
#define WALKHAMMER_HARNESS_BASE_TICKS_H_

#include <cstdint>

namespace walkhammer {

inline uint64_t ReadTicks() {
#ifdef __x86_64__
  return __builtin_ia32_rdtsc();
#else
  uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#endif
}

// The nanoseconds from one reading to a later one; 0 if the processors' clocks disagree about which
// is the later one.
uint64_t NsBetween(uint64_t begun, uint64_t ended);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_TICKS_H_
