// SPDX-License-Identifier: Apache-2.0
// kSanitized: true in a build with AddressSanitizer, where code takes about twenty times as long.
// Tests then do less, and measure no times. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_BASE_TESTING_SANITIZED_H_
#define WALKHAMMER_HARNESS_BASE_TESTING_SANITIZED_H_

namespace walkhammer {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_TESTING_SANITIZED_H_
