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

// Two hex digits for each byte, in memory order: "0a1f".
std::string HexBytes(const void* bytes, size_t size);

// Returns `text` without white space at either end, as a view into `text`.
std::string_view Trim(std::string_view text);

// Returns `text` with "?" for each byte that a terminal may obey or that is not UTF-8: control
// characters (C0 but line ends and tabs, DEL, C1, those of the direction of text) and invalid
// sequences.
std::string Printable(std::string_view text);

// Returns the words that white space separates.
std::vector<std::string> Words(std::string_view text);

// Returns the parts that `separator` separates, also empty parts; none if `text` is empty.
std::vector<std::string> Split(std::string_view text, char separator);

// Returns the first `most` lines of `text`, without white space at either end. Each is cut to 300
// bytes and ends in a newline. Marks say what was cut: " ... (cut)", "... and 12 more".
std::string FirstLines(std::string_view text, size_t most);

// Returns the value of `Enum`, from 0 to `last`, that `word_of` turns into `word`; `otherwise` if
// there is none. `word_of` takes an `Enum` and returns what a std::string_view compares with.
template <typename Enum, typename WordOf>
Enum FromWord(std::string_view word, WordOf word_of, Enum last, Enum otherwise) {
  for (int value = 0; value <= static_cast<int>(last); value++)
    if (word == word_of(static_cast<Enum>(value))) return static_cast<Enum>(value);
  return otherwise;
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_TEXT_H_
