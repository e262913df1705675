// SPDX-License-Identifier: Apache-2.0
// Sighting: what a run found, in the form in which bugs are distinguished: without anything of one
// build. All of it may come from an untrusted run folder, and is made harmless here. Signal-safe:
// no.
#ifndef WALKHAMMER_HARNESS_BUGS_RUNS_SIGHTING_H_
#define WALKHAMMER_HARNESS_BUGS_RUNS_SIGHTING_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/bugs/bug.h"
#include "harness/request/walk_request.h"
#include "harness/store/run_reader.h"

namespace walkhammer {

// All buckets of a run with one signature, on one build.
struct Sighting {
  std::string signature;  // "agct: crash in frame::sender", "agct against asgst: agreement/frames"
  std::vector<int64_t> buckets;     // BucketRow::id
  std::vector<std::string> titles;  // of the buckets
  Seen seen;
  Realism realism{};   // the most real
  uint64_t count = 0;  // times seen
  // Of the bucket that replays showed best:
  std::string walk;       // its request, minimised if that was replayed; may be empty
  int shown = 0, of = 0;  // replays of that request on this build
  std::string flags;      // JVM flags, those of SafeFlags
  std::string provider;   // see Bug::provider
};

// The JDK's version in what a JVM says of itself, as one word that a terminal can show:
// "25.0.3+9-LTS" of "Eclipse Adoptium OpenJDK 64-Bit Server VM 25.0.3+9-LTS"; "8u504-b08" of
// JDK 8's "... VM 25.504-b08". "" of "".
std::string VersionOfVm(std::string_view vm_version);

// The sightings of a run, by signature and build, of buckets of at least this grade. `build`: the
// version of all its builds, for JDKs that do not tell their versions apart; empty: what the run
// says.
Result<std::vector<Sighting>> ReadSightings(const RunReader& run, const std::string& build = "",
                                            Grade least = Grade::kForbidden);

// Those of the JVM flags that can do no harm when a run's bug is replayed by somebody else:
// switches and numbers of -XX:, -X with a number or a mode. Flags that name a file or a command
// are left out. Space-separated.
std::string SafeFlags(std::string_view flags);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BUGS_RUNS_SIGHTING_H_
