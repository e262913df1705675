// SPDX-License-Identifier: Apache-2.0
// Text for the user, on stdout or stderr. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_BASE_PRINT_H_
#define WALKHAMMER_HARNESS_BASE_PRINT_H_

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

#include "harness/base/result.h"
#include "harness/base/text.h"

namespace walkhammer {

// Writes `text` to `file` as it is. Drops what cannot be written, as no run may end because its
// reader has gone or a disk is full; for stdout, FlushStdout then returns the error. Never throws.
void PrintText(std::FILE* file, const std::string& text) noexcept;

// Writes text whose parts may be untrusted (names, files, run folders, programs): it is made
// Printable first, so that it gives no commands to a terminal.
template <typename... Args>
void Print(std::FILE* file, fmt::format_string<Args...> format, Args&&... args) {
  PrintText(file, Printable(fmt::format(format, std::forward<Args>(args)...)));
}

// Prints "walkhammer: MESSAGE" as one line on stderr. Returns the failure's exit code.
int PrintFailure(const Failure& failure);

// Flushes everything that was printed on stdout, also by std::cout. Returns 0, or the errno of the
// first failure; EPIPE: the reader has gone.
int FlushStdout() noexcept;

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_PRINT_H_
