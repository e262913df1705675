// SPDX-License-Identifier: Apache-2.0
// What tests of the guard have in common. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_GUARD_GUARD_TESTING_H_
#define WALKHAMMER_HARNESS_GUARD_GUARD_TESTING_H_

#include <cstdint>

namespace walkhammer {

// An address at which no memory can be.
inline constexpr uint64_t kNonCanonical = 0x8000000000000000;

// Writes to any address.
inline void Write(uint64_t address) {
  const volatile uint64_t unforeseen = address;
  *reinterpret_cast<volatile int*>(unforeseen) = 1;
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_GUARD_GUARD_TESTING_H_
