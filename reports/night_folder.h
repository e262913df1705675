// SPDX-License-Identifier: Apache-2.0
// A night's folder, as ci/nightly.sh makes it: merged runs by group, replays of the known issues by
// JDK, and the record of what was said of the night. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_NIGHT_FOLDER_H_
#define WALKHAMMER_REPORTS_NIGHT_FOLDER_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace walkhammer {

inline constexpr char kNightRecordName[] = "night.json";
inline constexpr char kNoBuildId[] = "none";   // RunIdentity::libjvm_build_id of stress runs
inline constexpr char kGreenName[] = "green";  // a file; ci/nightly.sh makes it at the end

// Signatures, see Sighting, by group.
using GroupSignatures = std::map<std::string, std::set<std::string>>;

// What later nights need to know of a night.
struct NightRecord {
  std::string started_at;    // of its oldest run
  GroupSignatures accepted;  // known, or in the baseline
  GroupSignatures open;      // all others: new, or to watch
};

struct Night {
  std::string dir;
  bool green = false;
  NightRecord record;
};

// When the oldest of the night's runs began; kBadInput if `dir` is not a night's folder.
Result<std::string> StartOfNight(const std::string& dir);

// Reads and writes the record. nullopt: there is none, or it cannot be read.
std::optional<NightRecord> ReadNightRecord(const std::string& dir);
Status WriteNightRecord(const std::string& dir, const NightRecord& record);

// The nights among the folders in `dir` that began before `start` and have a record, newest first.
// `self` is left out.
std::vector<Night> NightsBefore(const std::string& dir, const std::string& start,
                                const std::string& self);

// Replays of one known issue on a JDK, as `bugs check --json` tells them.
struct IssueReplay {
  std::string id, title, by_version, verdict;
  int times = 0, walked = 0, reproduced = 0;

  bool Shows() const { return times > 0 && reproduced == times; }
  bool Silent() const { return times > 0 && walked == times && reproduced == 0; }
};
struct IssueReplays {
  std::string version;  // of the JDK
  std::vector<IssueReplay> issues;
};
// Names of the JDKs of which the night keeps such replays.
std::vector<std::string> IssueJdksOfNight(const std::string& dir);
// nullopt: there are none, or they cannot be read.
std::optional<IssueReplays> ReadIssueReplays(const std::string& dir, const std::string& jdk);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_NIGHT_FOLDER_H_
