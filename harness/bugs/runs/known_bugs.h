// SPDX-License-Identifier: Apache-2.0
// KnownBugs: which of a run's buckets are of bugs that somebody knows: the issues that ship with
// the tool, and those of a team's store. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_BUGS_RUNS_KNOWN_BUGS_H_
#define WALKHAMMER_HARNESS_BUGS_RUNS_KNOWN_BUGS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "harness/base/result.h"
#include "harness/bugs/bug_store.h"
#include "harness/bugs/runs/bug_match.h"
#include "harness/bugs/runs/sighting.h"
#include "harness/store/run_reader.h"

namespace walkhammer {

// What is known of one bucket.
struct KnownAs {
  BugWord word;       // kNew without an id: nobody knows it
  std::string title;  // of the bug; empty: kNew
  std::string signature;
  Seen first_seen = {};  // of the bug, as its store says; empty: kNew and kReopened, or not known

  bool operator==(const KnownAs&) const = default;
};

class KnownBugs {
 public:
  // Reads the issues in the folder `issues` and a team's store; empty: none. An issue that states
  // neither JDKs nor libraries is known of no build. What both know is the team's. kBadInput, one
  // sentence, for a store that cannot be read.
  static Result<KnownBugs> Read(const std::string& issues, const std::string& store);

  // The names of all buckets of a run, by BucketRow::id. A bucket that was seen on several builds
  // has the word that most needs a person. `build`: see ReadSightings.
  Result<std::map<int64_t, KnownAs>> NamesIn(const RunReader& run, const Day& today,
                                             const std::string& build = "") const;

  KnownAs NameOf(const Sighting& sighting, const Day& today) const;

 private:
  std::optional<BugStore> issues_, store_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BUGS_RUNS_KNOWN_BUGS_H_
