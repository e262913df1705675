// SPDX-License-Identifier: Apache-2.0
// Whether this is a build with sanitizers, where code takes some twenty times as long: tests do
// less there, and time is not measured. Signal-safe: yes.
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
