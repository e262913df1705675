// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/builds/build.h"

#include <fmt/format.h>

#include <algorithm>

namespace walkhammer {

Result<std::vector<Build>> BuildsOf(const std::vector<Jdk>& jdks,
                                    const std::vector<const Profile*>& profiles,
                                    const std::vector<std::string>& user_flags) {
  std::vector<Build> builds;
  for (const Jdk& jdk : jdks) {
    const auto same = std::count_if(jdks.begin(), jdks.end(),
                                    [&](const Jdk& other) { return other.version == jdk.version; });
    for (const Profile* profile : profiles) {
      if (profile->has_aot_cache)
        return BadInput(
            fmt::format("profile {} is for stress: replays make no AOT cache", profile->name));
      Build build{jdk, jdk.version, profile->name, profile->flags};
      if (same > 1) build.label += " in " + jdk.home;
      build.flags.insert(build.flags.end(), user_flags.begin(), user_flags.end());
      builds.push_back(std::move(build));
    }
  }
  return builds;
}

ChildSetup SetupOf(const Build& build, const std::string& scratch, const std::string& provider) {
  ChildSetup setup{build.jdk.libjvm, build.jdk.platform, build.flags, true, scratch};
  setup.provider = provider;
  return setup;
}

}  // namespace walkhammer
