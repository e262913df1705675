// SPDX-License-Identifier: Apache-2.0
// Build: a JDK under one set of flags, on which requests are replayed and compared. Signal-safe:
// no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_BUILDS_BUILD_H_
#define WALKHAMMER_HARNESS_SUPERVISE_BUILDS_BUILD_H_

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/jvm/images/jdk.h"
#include "harness/supervise/child_process.h"
#include "harness/supervise/stress_runs/profiles.h"

namespace walkhammer {

struct Build {
  Jdk jdk;
  std::string label;               // the version; with the home if another build has that version
  std::string profile;             // its name
  std::vector<std::string> flags;  // of the profile, then of the user
};

// Each JDK under each profile, in the order of `jdks`. kBadInput: a profile whose flags are made
// before each run, which replays do not do.
Result<std::vector<Build>> BuildsOf(const std::vector<Jdk>& jdks,
                                    const std::vector<const Profile*>& profiles,
                                    const std::vector<std::string>& user_flags);

// How to start children of the build. `scratch`: see ChildSetup. `provider`: see there, too.
ChildSetup SetupOf(const Build& build, const std::string& scratch,
                   const std::string& provider = "");

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_BUILDS_BUILD_H_
