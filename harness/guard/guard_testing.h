// SPDX-License-Identifier: Apache-2.0
// What tests of the guard have in common. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_GUARD_GUARD_TESTING_H_
#define WALKHAMMER_HARNESS_GUARD_GUARD_TESTING_H_

#include <cstdint>
#include <functional>

#include "harness/guard/guard.h"

namespace walkhammer {

// An address at which no memory can be.
inline constexpr uint64_t kNonCanonical = 0x8000000000000000;

// Writes to any address.
inline void Write(uint64_t address) {
  const volatile uint64_t unforeseen = address;
  *reinterpret_cast<volatile int*>(unforeseen) = 1;
}

// GuardedCall of any function.
inline Ending Call(GuardSlot& slot, const std::function<void()>& body) {
  return GuardedCall(
      slot, [](void* data) { (*static_cast<const std::function<void()>*>(data))(); },
      const_cast<void*>(static_cast<const void*>(&body)));
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_GUARD_GUARD_TESTING_H_
