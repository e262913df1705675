// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/stress_runs/profiles.h"

#include <sstream>

#include "harness/base/names.h"

namespace walkhammer {

std::span<const Profile> AllProfiles() {
  static const std::vector<Profile> table = {
      {"default", "the JVM's own choice", {}},
      {"xint", "interpreter only", {"-Xint"}},
      {"xcomp", "everything compiled at its first call", {"-Xcomp"}},
      {"c1", "C1 only", {"-XX:TieredStopAtLevel=1"}},
      {"c1-profiled", "C1 with full profiling, never C2", {"-XX:TieredStopAtLevel=3"}},
      {"c2", "no tiers: interpreter and C2", {"-XX:-TieredCompilation"}},
      {"serial", "Serial collector", {"-XX:+UseSerialGC"}},
      {"parallel", "Parallel collector", {"-XX:+UseParallelGC"}},
      {"g1", "G1", {"-XX:+UseG1GC"}},
      {"zgc", "ZGC", {"-XX:+UseZGC"}},
      {"zgc-generational", "ZGC with generations", {"-XX:+UseZGC", "-XX:+ZGenerational"}},
      {"shenandoah", "Shenandoah", {"-XX:+UseShenandoahGC"}},
      {"epsilon",
       "no collector: what the program allocates must fit",
       {"-XX:+UnlockExperimentalVMOptions", "-XX:+UseEpsilonGC", "-Xmx4g"}},
      {"stress-compiler",
       "C2 schedules at random",
       {"-XX:+UnlockDiagnosticVMOptions", "-XX:+StressLCM", "-XX:+StressGCM", "-XX:+StressIGVN",
        "-XX:+StressCCP"}},
      {"no-inline", "nothing is inlined", {"-XX:-Inline"}},
      {"small-code-cache",
       "compiled code is flushed all the time",
       {"-XX:ReservedCodeCacheSize=8m"}},
      {"debug-info",
       "exact debug information at every instruction that can have it",
       {"-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints"}},
      {"no-compressed", "wide references", {"-XX:-UseCompressedOops"}},
      {"compact-headers",
       "object headers of 8 bytes",
       {"-XX:+UnlockExperimentalVMOptions", "-XX:+UseCompactObjectHeaders"}},
      {"no-cds", "no archive of classes", {"-Xshare:off"}},
      {"aot-cache", "classes loaded and linked ahead of time", {}, true},
      {"one-code-heap", "one code heap for all kinds of code", {"-XX:-SegmentedCodeCache"}},
      {"tiny-code-cache",
       "compiled code is flushed all the time, out of one small heap",
       {"-XX:ReservedCodeCacheSize=3m", "-XX:-SegmentedCodeCache", "-XX:+UseCodeCacheFlushing"}},
      {"large-pages",
       "transparent large pages",
       {"-XX:+UseTransparentHugePages", "-XX:+AlwaysPreTouch"}},
      {"frame-pointers", "frame pointers kept by compiled code", {"-XX:+PreserveFramePointer"}},
  };
  return table;
}

Result<std::vector<const Profile*>> SelectProfiles(const std::vector<std::string>& names) {
  std::vector<const Profile*> chosen;
  for (const std::string& list : names) {
    std::istringstream words(list);
    for (std::string name; std::getline(words, name, ',');) {
      const Profile* found = nullptr;
      std::vector<std::string_view> known;
      for (const Profile& profile : AllProfiles()) {
        known.emplace_back(profile.name);
        if (name == profile.name) found = &profile;
      }
      if (found == nullptr) return UnknownName("profile", name, known);
      chosen.push_back(found);
    }
  }
  if (chosen.empty()) chosen.push_back(&AllProfiles()[0]);
  return chosen;
}

}  // namespace walkhammer
