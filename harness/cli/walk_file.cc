// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/walk_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "harness/base/files.h"
#include "harness/findings/crash_folder.h"

namespace walkhammer {

namespace fs = std::filesystem;

Result<std::string> WalkPathOf(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return path;
  const std::string walk = (fs::path(path) / kInputName).string();
  if (!fs::exists(walk, error))
    return BadInput(fmt::format("{} is not a crash folder: it has no {}", path, kInputName));
  return walk;
}

Result<LoadedWalk> ReadWalkFile(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string walk, WalkPathOf(path));
  ASSIGN_OR_RETURN(std::string text, ReadFileOf(walk, "a .walk file"));
  return ParseWalk(std::move(text), walk);
}

}  // namespace walkhammer
