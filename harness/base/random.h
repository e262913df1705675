// SPDX-License-Identifier: Apache-2.0
// Random: the only random source of engines and mutators; the same seed gives the same stream.
// Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_BASE_RANDOM_H_
#define WALKHAMMER_HARNESS_BASE_RANDOM_H_

#include <cstdint>

#include "harness/base/hash.h"

namespace walkhammer {

// splitmix64: small, fast, and good enough to pick inputs.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    state_ += kGoldenRatio;
    return Scramble(state_);
  }
  // Random number from 0 to bound - 1; 0 for a bound of 0.
  uint32_t Below(uint32_t bound) { return static_cast<uint32_t>(((Next() >> 32) * bound) >> 32); }
  bool Chance(uint32_t percent) { return Below(100) < percent; }

 private:
  uint64_t state_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_RANDOM_H_
