// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/walk_file.h"

#include <utility>

#include "harness/base/files.h"

namespace walkhammer {

Result<LoadedWalk> ReadWalkFile(const std::string& path) {
  ASSIGN_OR_RETURN(std::string text, ReadFileOf(path, "a .walk file"));
  return ParseWalk(std::move(text), path);
}

}  // namespace walkhammer
