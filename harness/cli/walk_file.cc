// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/walk_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

namespace walkhammer {

Result<LoadedWalk> ReadWalkFile(const std::string& path) {
  constexpr uintmax_t kMostBytes = 1 << 20;
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return BadInput(path + " is a folder, not a .walk file");
  std::ifstream file(path, std::ios::binary);
  if (!file) return BadInput("cannot read " + path + ": " + std::strerror(errno));
  std::string text(kMostBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kMostBytes)
    return BadInput(path + " is larger than 1 MiB, so it is not a .walk file");
  return ParseWalk(std::move(text), path);
}

}  // namespace walkhammer
