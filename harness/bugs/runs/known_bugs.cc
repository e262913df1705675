// SPDX-License-Identifier: Apache-2.0
#include "harness/bugs/runs/known_bugs.h"

#include <utility>

#include "harness/bugs/runs/sighting.h"

namespace walkhammer {

Result<KnownBugs> KnownBugs::Read(const std::vector<std::string>& dirs) {
  KnownBugs known;
  for (const std::string& dir : dirs) {
    ASSIGN_OR_RETURN(BugStore store, BugStore::Read(dir));
    known.stores_.push_back(std::move(store));
  }
  return known;
}

KnownAs KnownBugs::NameOf(const Sighting& sighting, const Day& today) const {
  KnownAs name{{}, "", sighting.signature};
  for (const BugStore& store : stores_) {
    BugWord word = WordOn(sighting, today, store);
    if (word.id.empty()) continue;
    // That a bug looks like a fixed one says less than that another store knows it.
    if (word.verdict == BugVerdict::kReopened && !name.word.id.empty()) continue;
    name.title = store.bugs().at(word.id).title;
    name.word = std::move(word);
  }
  return name;
}

Result<std::map<int64_t, KnownAs>> KnownBugs::NamesIn(const RunReader& run, const Day& today,
                                                      const std::string& build) const {
  std::map<int64_t, KnownAs> names;
  ASSIGN_OR_RETURN(const auto sightings, ReadSightings(run, build, Grade::kAcceptable));
  for (const Sighting& sighting : sightings)
    for (const int64_t bucket : sighting.buckets) {
      KnownAs name = NameOf(sighting, today);
      const auto [at, is_new] = names.try_emplace(bucket, name);
      if (!is_new && name.word.verdict < at->second.word.verdict) at->second = std::move(name);
    }
  return names;
}

}  // namespace walkhammer
