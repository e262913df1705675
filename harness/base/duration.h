// SPDX-License-Identifier: Apache-2.0
// Durations and rates, as the user types and reads them.
// Called by the verbs. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_BASE_DURATION_H_
#define WALKHAMMER_HARNESS_BASE_DURATION_H_

#include <chrono>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace walkhammer {

// Parses a decimal number followed at once by ns, us, ms, s, m or h: "60s", "0.5s", "10us". Takes
// at least 1 ns and at most ten years, so that the sum with any clock's time cannot overflow. A
// failure (kBadInput) names `option` ("--time") and quotes `text`.
Result<std::chrono::nanoseconds> ParseDuration(std::string_view text, std::string_view option);

// Returns a rate with at most three digits (below 1000T/s): "85/s", "9.5k/s", "612k/s", "1.2M/s".
// Negative and non-finite rates become "0/s".
std::string FormatRate(double per_second);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_DURATION_H_
