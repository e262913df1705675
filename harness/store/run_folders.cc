// SPDX-License-Identifier: Apache-2.0
#include "harness/store/run_folders.h"

#include <algorithm>
#include <filesystem>

#include "harness/store/locked_folder.h"

namespace walkhammer {

namespace fs = std::filesystem;

bool IsRunFolder(const std::string& dir) {
  std::error_code error;
  return fs::is_regular_file(fs::symlink_status(fs::path(dir) / kDbName, error));
}

std::vector<std::string> GroupsOfNight(const std::string& dir) {
  std::vector<std::string> groups;
  if (IsRunFolder(dir)) return groups;
  std::error_code error;
  for (fs::directory_iterator at(fs::path(dir) / kMergedName, error), end; !error && at != end;
       at.increment(error))
    if (fs::is_directory(at->symlink_status(error)) && IsRunFolder(at->path().string()))
      groups.push_back(at->path().filename().string());
  std::sort(groups.begin(), groups.end());
  return groups;
}

std::string GroupFolder(const std::string& night, const std::string& group) {
  return (fs::path(night) / kMergedName / group).string();
}

std::vector<std::string> RunFolders(const std::vector<std::string>& dirs) {
  std::vector<std::string> runs;
  for (const std::string& dir : dirs) {
    const std::vector<std::string> groups = GroupsOfNight(dir);
    if (groups.empty()) runs.push_back(dir);
    for (const std::string& group : groups) runs.push_back(GroupFolder(dir, group));
  }
  return runs;
}

}  // namespace walkhammer
