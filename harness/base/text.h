// SPDX-License-Identifier: Apache-2.0
// Words and numbers as text. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_BASE_TEXT_H_
#define WALKHAMMER_HARNESS_BASE_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace walkhammer {

// 31 -> "0x1f"
std::string Hex(uint64_t number);

// Two digits a byte, in memory's order: "0a1f".
std::string HexBytes(const void* bytes, size_t size);

// Without white space at either end; a part of `text`.
std::string_view Trim(std::string_view text);

// What white space separates.
std::vector<std::string> Words(std::string_view text);

// What `separator` separates; parts may be empty. Of nothing: nothing.
std::vector<std::string> Split(std::string_view text, char separator);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_TEXT_H_
