// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/crash_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "harness/base/files.h"
#include "harness/base/names.h"
#include "harness/bugs/bug_store.h"
#include "harness/crash/core/core_file.h"
#include "harness/crash/core/core_import.h"

namespace walkhammer {
namespace {

// The known issues beside the command; none if they are missing.
Result<Corpora> ReadCorpora(bool with_inputs) {
  const std::string issues = BesideExecutable(kKnownIssuesName);
  Corpora corpora;
  std::error_code error;
  if (!std::filesystem::exists(issues, error)) return corpora;
  ASSIGN_OR_RETURN(const BugStore store, BugStore::Read(issues));
  corpora.issues = store.bugs();
  if (!with_inputs) return corpora;
  for (const auto& [id, issue] : corpora.issues)
    for (const BugRequest& request : RequestsOf(issue))
      corpora.inputs.push_back({std::filesystem::path(request.file).filename(), request.text});
  std::stable_sort(corpora.inputs.begin(), corpora.inputs.end(),
                   [](const auto& a, const auto& b) { return a.file < b.file; });
  return corpora;
}

}  // namespace

Result<std::string> ReadCrashText(const std::string& path) {
  constexpr size_t kMostBytes = size_t{256} << 20;  // dumps of memory are no text
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return BadInput(path + " is a folder; give a crash report");
  if (std::ifstream file(path, std::ios::binary); !file)
    return BadInput("cannot read " + path + ": " + std::strerror(errno));
  std::string text = ReadFile(path, kMostBytes + 1);
  if (text.size() > kMostBytes) return BadInput(path + " is larger than 256 MiB: no log is");
  return text;
}

Result<ImportedCrash> ReadCrashFile(const std::string& path, const std::string& modules,
                                    bool with_known_inputs) {
  ASSIGN_OR_RETURN(const auto corpora, ReadCorpora(with_known_inputs));
  if (CoreFile::IsCore(path)) return ImportCore(path, modules, corpora);
  ASSIGN_OR_RETURN(const auto text, ReadCrashText(path));
  return ImportText(text, path, corpora);
}

}  // namespace walkhammer
