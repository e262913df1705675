// SPDX-License-Identifier: Apache-2.0
#include "harness/base/print.h"

#include <algorithm>
#include <cerrno>
#include <iostream>

namespace walkhammer {
namespace {

int stdout_error = 0;

void Note(bool written) {
  if (!written && stdout_error == 0) stdout_error = errno;
}

}  // namespace

void PrintText(std::FILE* file, const std::string& text) noexcept {
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file == stdout) Note(written);
}

int FlushStdout() noexcept {
  Note(std::fflush(stdout) == 0);
  // std::cout is synchronised with stdout, but reports no errno.
  if (stdout_error == 0 && (!std::cout || std::ferror(stdout) != 0)) stdout_error = EIO;
  return stdout_error;
}

int PrintFailure(const Failure& failure) {
  std::string line = failure.message;
  std::replace(line.begin(), line.end(), '\n', ' ');
  Print(stderr, "walkhammer: {}\n", line);
  return static_cast<int>(failure.code);
}

}  // namespace walkhammer
