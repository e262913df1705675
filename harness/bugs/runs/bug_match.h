// SPDX-License-Identifier: Apache-2.0
// What runs found, compared with a store: which bug each finding is of, and what follows. Reads no
// run and writes no file. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_BUGS_RUNS_BUG_MATCH_H_
#define WALKHAMMER_HARNESS_BUGS_RUNS_BUG_MATCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/bugs/bug_store.h"
#include "harness/bugs/runs/sighting.h"

namespace walkhammer {

// In the order in which they are reported: what needs a person first.
enum class BugVerdict : uint8_t {
  kNew,       // no bug of the store matches
  kReopened,  // looks like a bug that should be fixed in this build; a bug of its own
  kExpired,   // was accepted until a day that has passed
  kKnown,     // is open
  kAccepted,
  kFixed,  // is fixed, in a later build than this one
};
const char* BugVerdictWord(BugVerdict verdict);  // "new", "reopened", "expired", ...
// True for what makes a run fail: new, reopened, expired.
bool WantsSomebody(BugVerdict verdict);

// What a store says of one sighting.
struct BugWord {
  BugVerdict verdict = BugVerdict::kNew;
  std::string id;   // of the bug; kReopened: of the fixed one that it looks like; kNew: empty
  std::string why;  // what the verdict rests on, such as "was fixed in 17.0.9+9"; may be empty

  bool operator==(const BugWord&) const = default;
};
// `unstated`: whether a bug that states no builds, and was seen in none, is in all.
BugWord WordOn(const Sighting& sighting, const Day& today, const BugStore& store,
               bool unstated = true);

// A bug that runs have met.
struct MetBug {
  std::string id;
  BugVerdict verdict{};
  std::string signature;            // of the first sighting
  std::string why;                  // what the verdict rests on; may be empty
  std::vector<std::string> builds;  // on which these runs met it, distinct
  Realism realism{};                // the most real sighting
  uint64_t count = 0;               // times seen
  int shown = 0, of = 0;            // replays of the first sighting
};

// Most bugs that one call opens. A run with more is damaged, or made to fill the store.
inline constexpr size_t kMostNewBugs = 1000;

// Finds or opens the bug of each sighting in `store`, in memory, and notes there that the bug was
// seen. Returns each bug once, by verdict, then by id. kBadInput: more than kMostNewBugs new bugs.
// `opens` false: what is new, or is known on other JDKs alone, leaves the store as it is.
Result<std::vector<MetBug>> MeetBugs(const std::vector<Sighting>& sightings, const Day& today,
                                     BugStore& store, bool opens = true);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BUGS_RUNS_BUG_MATCH_H_
