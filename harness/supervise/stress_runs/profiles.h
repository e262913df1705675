// SPDX-License-Identifier: Apache-2.0
// Flag profiles: sets of JVM flags that a workload is run with. Adding one is one row.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_PROFILES_H_
#define WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_PROFILES_H_

#include <span>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace walkhammer {

struct Profile {
  const char* name;
  const char* what;
  std::vector<std::string> flags;
  bool has_aot_cache = false;  // its AOT cache is made before each run: see stress_plan.cc
};

std::span<const Profile> AllProfiles();

// The profiles of these lists: "zgc,c1" gives two; no list: the default profile. An unknown name
// fails with the nearest names.
Result<std::vector<const Profile*>> SelectProfiles(const std::vector<std::string>& names);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_PROFILES_H_
