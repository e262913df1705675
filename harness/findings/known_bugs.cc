// SPDX-License-Identifier: Apache-2.0
#include "harness/findings/known_bugs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "harness/base/files.h"
#include "harness/base/text.h"

namespace walkhammer {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostBytes = 1 << 20;  // of a file

// The "KEY: VALUE" lines of a bug's file.
Result<std::map<std::string, std::string>> ReadKeys(const std::string& path) {
  std::map<std::string, std::string> keys;
  int number = 0;
  for (const std::string& line : Split(ReadFile(path, kMostBytes), '\n')) {
    number++;
    if (Trim(line).empty()) continue;
    const size_t colon = line.find(':');
    if (colon == std::string::npos)
      return BadInput(fmt::format("{}:{}: expected KEY: VALUE", path, number));
    keys[line.substr(0, colon)] = Trim(std::string_view(line).substr(colon + 1));
  }
  return keys;
}

// The ranges that `key` names; the failure names the file.
Result<std::vector<VersionRange>> Ranges(const std::string& path,
                                         const std::map<std::string, std::string>& keys,
                                         const std::string& key) {
  const auto at = keys.find(key);
  auto ranges = ParseVersionRanges(at == keys.end() ? "" : at->second);
  if (!ranges.ok()) return BadInput(fmt::format("{}: {}: {}", path, key, ranges.failure().message));
  return ranges;
}

Result<KnownBug> ReadBug(const fs::path& folder) {
  const std::string path = folder / "bug";
  ASSIGN_OR_RETURN(auto keys, ReadKeys(path));
  KnownBug bug;
  bug.id = keys["id"];
  bug.title = keys["title"];
  if (bug.id != folder.filename())
    return BadInput(fmt::format("{}: the id must be the folder's name", path));
  ASSIGN_OR_RETURN(bug.versions_affected, Ranges(path, keys, "versions-affected"));
  ASSIGN_OR_RETURN(bug.versions_clean, Ranges(path, keys, "versions-clean"));
  if (bug.versions_affected.empty())
    return BadInput(fmt::format("{}: versions-affected names no versions", path));
  if (AffectedByVersion(bug, keys["affected"]) != Affected::kYes ||
      AffectedByVersion(bug, keys["fixed"]) != Affected::kNo)
    return BadInput(fmt::format(
        "{}: affected must be one of versions-affected, fixed one of versions-clean", path));
  bug.flags = Words(keys["flags"]);
  bug.silent = keys["silent"];
  if (keys["replay"].empty()) return bug;
  bug.walk = folder / keys["replay"];
  bug.walk_text = ReadFile(bug.walk, kMostBytes);
  if (bug.walk_text.empty()) return BadInput(fmt::format("{}: cannot read {}", path, bug.walk));
  return bug;
}

}  // namespace

Result<std::vector<KnownBug>> ReadKnownBugs(const std::string& dir) {
  std::error_code error;
  std::vector<fs::path> folders;
  for (const fs::directory_entry& entry : fs::directory_iterator(dir, error))
    if (fs::is_regular_file(entry.path() / "bug", error)) folders.push_back(entry.path());
  if (folders.empty())
    return BadInput(dir + " has no known bugs: name the folder corpora by --corpora");
  std::sort(folders.begin(), folders.end());
  std::vector<KnownBug> bugs;
  for (const fs::path& folder : folders) {
    ASSIGN_OR_RETURN(auto bug, ReadBug(folder));
    bugs.push_back(std::move(bug));
  }
  return bugs;
}

Affected AffectedByVersion(const KnownBug& bug, const std::string& version) {
  const auto parsed = ParseJdkVersion(version);
  if (!parsed) return Affected::kUnknown;
  if (AnyContains(bug.versions_affected, *parsed)) return Affected::kYes;
  if (AnyContains(bug.versions_clean, *parsed)) return Affected::kNo;
  return Affected::kUnknown;
}

}  // namespace walkhammer
