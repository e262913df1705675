// SPDX-License-Identifier: Apache-2.0
// What a standard stream leads to, and text that fits there. walkhammer prints no colours, so
// NO_COLOR changes nothing. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_TERMINAL_H_
#define WALKHAMMER_HARNESS_CLI_TERMINAL_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace walkhammer {

// Columns for running text where nothing else is known, and the most that it gets.
inline constexpr size_t kUsualColumns = 80;

// True if `fd` is a terminal whose lines can be drawn again: not with TERM=dumb.
bool CanRedraw(int fd);

// The columns of the terminal that `fd` is; `otherwise` if it is none, or does not say.
size_t TerminalColumns(int fd, size_t otherwise = kUsualColumns);

// The columns for text on stdout: $COLUMNS, or else the terminal's, from 20 to kUsualColumns; or
// else `otherwise`.
size_t TextColumns(size_t otherwise = kUsualColumns);

// Returns the words of `text` with a line end before each that would go beyond `columns`. The first
// line begins at column `indent`; that many blanks begin each other one. No word is cut.
std::string Wrapped(std::string_view text, size_t columns, size_t indent = 0);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_TERMINAL_H_
