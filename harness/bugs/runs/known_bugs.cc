// SPDX-License-Identifier: Apache-2.0
#include "harness/bugs/runs/known_bugs.h"

#include <utility>

#include "harness/bugs/runs/sighting.h"

namespace walkhammer {

Result<KnownBugs> KnownBugs::Read(const std::string& issues, const std::string& store) {
  KnownBugs known;
  if (!issues.empty()) {
    ASSIGN_OR_RETURN(BugStore read, BugStore::Read(issues));
    known.issues_.emplace(std::move(read));
  }
  if (!store.empty()) {
    ASSIGN_OR_RETURN(BugStore read, BugStore::Read(store));
    known.store_.emplace(std::move(read));
  }
  return known;
}

KnownAs KnownBugs::NameOf(const Sighting& sighting, const Day& today) const {
  KnownAs name{{}, "", sighting.signature};
  for (const auto* store : {&issues_, &store_}) {
    if (!*store) continue;
    BugWord word = WordOn(sighting, today, **store, store == &store_);
    // That a bug is like one of other JDKs, or a fixed one, says less than that another store
    // knows it.
    const bool says_less = word.id.empty() || word.verdict == BugVerdict::kReopened;
    if (says_less && (word.why.empty() || !name.word.id.empty())) continue;
    const Bug bug = word.id.empty() ? Bug{} : (*store)->bugs().at(word.id);
    name.title = bug.title;
    name.first_seen = word.verdict == BugVerdict::kReopened ? Seen{} : bug.first_seen;
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
