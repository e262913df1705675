// SPDX-License-Identifier: Apache-2.0
// Flag profiles: named sets of JVM flags to run workloads with. A new profile is a row of the table
// in profiles.cc. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_PROFILES_H_
#define WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_PROFILES_H_

#include <span>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace walkhammer {

struct Profile {
  const char* name;
  const char* what;  // a few words for users
  std::vector<std::string> flags;
  bool has_aot_cache = false;  // an AOT cache is made for each cell: see stress_plan.cc
};

std::span<const Profile> AllProfiles();

// Returns the profiles that the elements of `names` list, separated by commas: "zgc,c1" names two.
// Without any name, returns the default profile. Fails with kBadInput, and suggests the nearest
// names, if a name is unknown. The profiles live as long as the process.
Result<std::vector<const Profile*>> SelectProfiles(const std::vector<std::string>& names);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_PROFILES_H_
