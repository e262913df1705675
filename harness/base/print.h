// SPDX-License-Identifier: Apache-2.0
// Text for the user, on stdout or stderr. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_BASE_PRINT_H_
#define WALKHAMMER_HARNESS_BASE_PRINT_H_

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

#include "harness/base/result.h"

namespace walkhammer {

// What cannot be written is left out, for no run may end because its reader has gone or a disk is
// full. Never throws; FlushStdout tells.
void PrintText(std::FILE* file, const std::string& text) noexcept;

template <typename... Args>
void Print(std::FILE* file, fmt::format_string<Args...> format, Args&&... args) {
  PrintText(file, fmt::format(format, std::forward<Args>(args)...));
}

// "walkhammer: MESSAGE" as one line on stderr. Returns the exit code.
int PrintFailure(const Failure& failure);

// Everything that was printed on stdout, also by std::cout, is out there. 0, or the errno of the
// first failure; EPIPE: the reader has gone.
int FlushStdout() noexcept;

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_PRINT_H_
