// SPDX-License-Identifier: Apache-2.0
#include "harness/base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "harness/base/text.h"

namespace walkhammer {

int OpenFile(const std::string& path, int flags, unsigned mode) {
  int fd;
  do {
    fd = open(path.c_str(), flags, mode);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

namespace {

// Appends the file's first `most` bytes to `text`. Returns what is wrong; "" if nothing is.
std::string ReadRegular(const std::string& path, size_t most, std::string& text) {
  constexpr size_t kPart = 1 << 16;
  const int fd = OpenFile(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  struct stat status {};
  std::string wrong;
  if (fd < 0 || fstat(fd, &status) != 0)
    wrong = std::strerror(errno);
  else if (S_ISDIR(status.st_mode))
    wrong = "it is a folder";
  else if (!S_ISREG(status.st_mode))
    wrong = "it is not a regular file";
  while (wrong.empty() && text.size() < most) {
    const size_t before = text.size();
    text.resize(before + std::min(kPart, most - before));
    const ssize_t got = read(fd, text.data() + before, text.size() - before);
    text.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno != EINTR) wrong = std::strerror(errno);
    if (got == 0) break;
  }
  if (fd >= 0) close(fd);
  return wrong;
}

}  // namespace

std::string ReadFile(const std::string& path, size_t most) {
  std::string text;
  (void)ReadRegular(path, most, text);
  return text;
}

Result<std::string> ReadFileOf(const std::string& path, std::string_view what, size_t most_mib) {
  std::string text;
  const std::string wrong = ReadRegular(path, (most_mib << 20) + 1, text);
  if (!wrong.empty()) return BadInput(fmt::format("cannot read {} as {}: {}", path, what, wrong));
  if (text.size() > most_mib << 20)
    return BadInput(fmt::format("{} is larger than {} MiB, so it is not {}", path, most_mib, what));
  return text;
}

bool IsProgram(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

std::string FindProgram(const std::string& name) {
  const char* path = std::getenv("PATH");
  for (const std::string& folder : Split(path == nullptr ? "" : path, ':')) {
    std::string found = folder + "/" + name;
    if (IsProgram(found)) return found;
  }
  return "";
}

}  // namespace walkhammer
