// SPDX-License-Identifier: Apache-2.0
// How reports write numbers and names. Used by the text writers. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_BASE_NUMBERS_H_
#define WALKHAMMER_HARNESS_BASE_NUMBERS_H_

#include <cstdint>
#include <string>

namespace walkhammer {

// 1234567 -> "1,234,567"
std::string Grouped(uint64_t number);

// A number of at least 0 with so many digits, or whole and grouped if it has more, never with a
// positive exponent: "0.0123", "1.31", "100", "12,300". At most 1e18; "endless"
// if it is not finite.
std::string Rounded(double number, int digits = 3);

// Returns `part` of `whole` as a percentage, "29.6 %" with one digit, or "-" if `whole` is 0. A
// share is shown as none or as all only if it is: "<0.1 %", ">99.9 %".
std::string Percent(uint64_t part, uint64_t whole, int digits);

// "1 bucket", "2,345 buckets"
std::string Counted(uint64_t number, const char* noun);

// Replaces line ends and other control characters, which names of programs may have, by "?".
std::string OnOneLine(std::string text);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_NUMBERS_H_
