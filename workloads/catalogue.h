// SPDX-License-Identifier: Apache-2.0
// Workloads: Java programs that give a JVM real work while its stacks are walked. Each workload is
// one stanza of a catalogue file (docs/howto/workloads.md lists the keys); a file is a suite.
// Signal-safe: no.
#ifndef WALKHAMMER_WORKLOADS_CATALOGUE_H_
#define WALKHAMMER_WORKLOADS_CATALOGUE_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace walkhammer {

// One workload. Placeholders such as {scratch} in classpath, jar, args and flags are not filled in.
struct Workload {
  std::string suite, name, what;
  std::vector<std::string> packages;   // Debian packages
  std::vector<std::string> classpath;  // glob(7) patterns
  std::string main;                    // main class; empty if `jar` is set
  std::string jar;
  std::vector<std::string> args;
  std::vector<std::string> flags;                      // JVM flags
  std::map<int, std::vector<std::string>> flags_from;  // more flags, by the first feature with them
  int oldest_jdk = 0;                                  // JDK features, both included
  int newest_jdk = std::numeric_limits<int>::max();
  std::string why;                 // reason for these limits
  std::string input;               // a generator of input.sh; empty: none
  std::string file;                // a distribution; empty: none
  std::vector<std::string> list;   // arguments with which the distribution lists its workloads
  std::vector<std::string> sizes;  // of the input, smallest first; "default" is one of them
  // What the program prints when an iteration ends, and when one went wrong; empty: nothing.
  std::string iteration, failure;
  bool repeat = false;  // the program ends by itself: start it again while there is time
  std::string where;    // file:line

  std::string FullName() const { return suite + ":" + name; }
  bool HasSize(std::string_view size) const { return std::count(sizes.begin(), sizes.end(), size); }
};

// True for what may be the name of a workload: a-z, 0-9, - and . alone.
bool IsWorkloadName(std::string_view text);

// The workloads of each *.catalogue in `folder`, which also holds the table of distributions;
// suites by name, workloads in the order of their file. kBadInput, with file and line, for a
// mistake in a file.
Result<std::vector<Workload>> LoadCatalogues(const std::string& folder);

// A workload that the catalogue SUITE.catalogue in `folder` does not have, as the suite's
// `defaults` stanza describes it. kBadInput for a mistake in the file.
Result<Workload> UnlistedWorkload(const std::string& folder, const std::string& suite,
                                  const std::string& name);

// The workloads that match patterns such as "debian:fop", "torture:*" or "*"; each workload once,
// in the order of the patterns. kBadInput for a pattern without a match. `all` must outlive the
// result.
Result<std::vector<const Workload*>> SelectWorkloads(const std::vector<Workload>& all,
                                                     const std::vector<std::string>& patterns);

struct WorkloadContext {
  std::string home = {};     // absolute path of the folder with the command's jars and `workloads`
  std::string scratch = {};  // existing empty folder of this workload alone
  uint64_t seed = 1;
  int seconds = 10;
  int threads = 2;
  int scale = 1;
  std::string size = {};   // one of Workload::sizes, in place of `scale`; empty: as `scale` says
  std::string cache = {};  // of distributions; empty: DefaultCache()
  // By suite: the jar that is the distribution, in place of the verified one in the cache.
  std::map<std::string, std::string> archives = {};
};

struct WorkloadCommand {
  std::vector<std::string> jvm_flags;
  std::vector<std::string> arguments;  // -cp PATH CLASS ARGS or -jar FILE ARGS
  std::string directory;               // to start the program in
  bool repeat = false;
  std::string iteration, failure;  // see Workload
};

// Whether the workload runs on JDKs of this feature (0: unknown, true) at all.
bool RunsOn(const Workload& workload, int jdk_feature);

// Ok if the workload can run on JDKs of this feature (0: unknown, not checked). Otherwise kUnable,
// with the command that fixes it, or the reason. Changes nothing; `scratch` is not needed.
Status CheckWorkload(const Workload& workload, int jdk_feature, const WorkloadContext& context);

// Checks as CheckWorkload does, makes the input, and returns the command. Takes some seconds at
// large scales.
Result<WorkloadCommand> PrepareWorkload(const Workload& workload, int jdk_feature,
                                        const WorkloadContext& context);

// $XDG_CACHE_HOME/walkhammer or ~/.cache/walkhammer, the same as in workloads/fetch.sh.
std::string DefaultCache();

}  // namespace walkhammer

#endif  // WALKHAMMER_WORKLOADS_CATALOGUE_H_
