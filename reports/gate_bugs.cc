// SPDX-License-Identifier: Apache-2.0
#include "reports/gate_bugs.h"

#include <map>
#include <set>

#include "harness/bugs/sighting.h"

namespace walkhammer {

Status ReadBugWords(const BugStore& store, const Day& today, const std::string& build,
                    GateSide& side) {
  std::map<std::string, BugWord> words;  // by title
  for (const std::string& dir : std::set<std::string>(side.dirs.begin(), side.dirs.end())) {
    ASSIGN_OR_RETURN(const RunDb db, RunDb::Open(dir));
    ASSIGN_OR_RETURN(const auto sightings, ReadSightings(db, build));
    for (const Sighting& sighting : sightings) {
      const BugWord word = WordOn(sighting, today, store);
      for (const std::string& title : sighting.titles) {
        const auto [at, is_first] = words.try_emplace(title, word);
        if (!is_first && word.verdict < at->second.verdict) at->second = word;
      }
    }
  }
  for (auto& [title, bucket] : side.buckets)
    if (const auto at = words.find(title); at != words.end()) bucket.word = at->second;
  return Ok();
}

}  // namespace walkhammer
