// SPDX-License-Identifier: Apache-2.0
// Lines that were cut at their end, and what of the next line belongs to them. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_HS_ERR_CUT_LINES_H_
#define WALKHAMMER_HARNESS_HS_ERR_CUT_LINES_H_

#include <string_view>

namespace walkhammer {

// True if a terminal has broken a word between the two: "linux-" and "amd64", "0x00007feb" and
// "ed3fd000", a symbol and its offset.
bool IsWithinWord(std::string_view text, std::string_view next);

// True for "JRE version:", "Java VM:", "vm_info:".
bool IsVersion(std::string_view text);

// True if the next line may be the rest of such a line.
bool IsCutVersion(std::string_view text);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_CUT_LINES_H_
