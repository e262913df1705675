// SPDX-License-Identifier: Apache-2.0
// Durations, counts and rates as the user types and reads them.
// Called by the verbs. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_BASE_DURATION_H_
#define WALKHAMMER_HARNESS_BASE_DURATION_H_

#include <chrono>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace walkhammer {

// A decimal number followed at once by ns, us, ms, s, m or h: "60s", "0.5s", "10us".
// At least 1 ns and at most ten years, so that adding it to any clock cannot overflow.
// The failure names `option` ("--time") and what it was given.
Result<std::chrono::nanoseconds> ParseDuration(std::string_view text, std::string_view option);

// Two or three significant digits: "85/s", "9.5k/s", "612k/s", "1.2M/s".
// Negative and non-finite rates read "0/s".
std::string FormatRate(double per_second);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_DURATION_H_
