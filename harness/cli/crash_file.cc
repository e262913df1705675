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

constexpr size_t kMostBytes = size_t{256} << 20;

// Of the folders beside the command. One that is missing has nothing.
Result<Corpora> ReadCorpora(bool with_inputs) {
  const std::string bugs = BesideExecutable("known-bugs");
  Corpora corpora;
  std::error_code error;
  if (std::filesystem::exists(bugs, error)) {
    ASSIGN_OR_RETURN(corpora.bugs, ReadKnownBugs(bugs));
  }
  if (!with_inputs) return corpora;
  corpora.inputs = ReadKnownInputs(BesideExecutable("regressions"));
  for (KnownInput& input : ReadKnownInputs(bugs)) corpora.inputs.push_back(std::move(input));
  return corpora;
}

}  // namespace

Result<ImportedCrash> ReadCrashFile(const std::string& path, const std::string& modules,
                                    bool with_known_inputs) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return BadInput(path + " is a folder; import wants crash reports");
  if (std::ifstream file(path, std::ios::binary); !file)
    return BadInput("cannot read " + path + ": " + std::strerror(errno));
  ASSIGN_OR_RETURN(const auto corpora, ReadCorpora(with_known_inputs));
  if (CoreFile::IsCore(path)) return ImportCore(path, modules, corpora);
  return ImportText(ReadFile(path, kMostBytes), path, corpora);
}

}  // namespace walkhammer
