// SPDX-License-Identifier: Apache-2.0
// What a standard stream leads to. walkhammer prints no colours, so NO_COLOR changes nothing.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_TERMINAL_H_
#define WALKHAMMER_HARNESS_CLI_TERMINAL_H_

#include <cstddef>

namespace walkhammer {

// Columns for running text where nothing else is known, and the most that it gets.
inline constexpr size_t kUsualColumns = 80;

// True if `fd` is a terminal whose lines can be drawn again: not with TERM=dumb.
bool CanRedraw(int fd);

// The columns of the terminal that `fd` is; kUsualColumns if it is none, or does not say.
size_t TerminalColumns(int fd);

// The columns for text on stdout: $COLUMNS, or else the terminal's; from 20 to kUsualColumns.
size_t TextColumns();

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_TERMINAL_H_
