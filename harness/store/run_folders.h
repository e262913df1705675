// SPDX-License-Identifier: Apache-2.0
// Which runs a folder stands for: a run's folder for itself, a night's folder, as ci/nightly.sh
// makes it, for its merged runs. Reads names alone. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_STORE_RUN_FOLDERS_H_
#define WALKHAMMER_HARNESS_STORE_RUN_FOLDERS_H_

#include <string>
#include <vector>

namespace walkhammer {

inline constexpr char kMergedName[] = "merged";  // of a night: a run folder for each group

// True if the folder itself holds a run. Links are not followed.
bool IsRunFolder(const std::string& dir);

// Names of the groups that a night has merged runs of, sorted; none: it is not a night's folder.
std::vector<std::string> GroupsOfNight(const std::string& dir);

// Path of a group's merged run.
std::string GroupFolder(const std::string& night, const std::string& group);

// The folders, and in place of each night's folder those of its merged runs. What is neither stays,
// for a reader to refuse it.
std::vector<std::string> RunFolders(const std::vector<std::string>& dirs);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_STORE_RUN_FOLDERS_H_
