// SPDX-License-Identifier: Apache-2.0
#include "harness/base/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "harness/base/text.h"

namespace walkhammer {

int OpenFile(const std::string& path, int flags, unsigned mode) {
  int fd;
  do {
    fd = open(path.c_str(), flags, mode);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

std::string ReadFile(const std::string& path, size_t most) {
  constexpr size_t kPart = 1 << 16;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  while (file && text.size() < most) {
    const size_t before = text.size(), part = std::min(kPart, most - before);
    text.resize(before + part);
    file.read(text.data() + before, static_cast<std::streamsize>(part));
    text.resize(before + static_cast<size_t>(file.gcount()));
  }
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
