// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/crash_file.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/names.h"
#include "harness/bugs/bug_store.h"
#include "harness/crash/core/core_file.h"
#include "harness/crash/core/core_import.h"
#include "harness/hs_err/plain_text.h"

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
  ASSIGN_OR_RETURN(std::string bytes, ReadFileOf(path, "a crash report", 256));
  return PlainText(std::move(bytes), path);
}

Result<std::vector<ImportedCrash>> ReadCrashFiles(const std::string& path,
                                                  const std::string& modules,
                                                  bool with_known_inputs,
                                                  const std::string& library) {
  ASSIGN_OR_RETURN(auto corpora, ReadCorpora(with_known_inputs));
  corpora.library = library;
  if (CoreFile::IsCore(path)) {
    ASSIGN_OR_RETURN(ImportedCrash crash, ImportCore(path, modules, corpora));
    std::vector<ImportedCrash> crashes;
    crashes.push_back(std::move(crash));
    return crashes;
  }
  ASSIGN_OR_RETURN(const auto text, ReadCrashText(path));
  return ImportTexts(text, path, corpora);
}

Result<ImportedCrash> ReadCrashFile(const std::string& path, const std::string& modules,
                                    bool with_known_inputs, const std::string& library) {
  ASSIGN_OR_RETURN(auto crashes, ReadCrashFiles(path, modules, with_known_inputs, library));
  const auto suspect = std::find_if(crashes.begin(), crashes.end(), [](const ImportedCrash& crash) {
    return crash.guilt.guilt != Guilt::kNone;
  });
  return std::move(suspect != crashes.end() ? *suspect : crashes[0]);
}

}  // namespace walkhammer
