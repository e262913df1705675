// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/crash_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "harness/base/files.h"
#include "harness/base/names.h"
#include "harness/crash/core/core_file.h"
#include "harness/crash/core/core_import.h"

namespace walkhammer {
namespace {

constexpr char kKnownInputs[] = "known-inputs";  // beside the command
constexpr size_t kMostBytes = size_t{256} << 20;

}  // namespace

Result<ImportedCrash> ReadCrashFile(const std::string& path, const std::string& modules,
                                    bool with_known_inputs) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return BadInput(path + " is a folder; import wants crash reports");
  if (std::ifstream file(path, std::ios::binary); !file)
    return BadInput("cannot read " + path + ": " + std::strerror(errno));
  std::vector<KnownInput> known;
  if (with_known_inputs) known = ReadKnownInputs(BesideExecutable(kKnownInputs));
  if (CoreFile::IsCore(path)) return ImportCore(path, modules, known);
  return ImportText(ReadFile(path, kMostBytes), path, known);
}

}  // namespace walkhammer
