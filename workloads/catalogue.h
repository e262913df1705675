// SPDX-License-Identifier: Apache-2.0
// Workloads: Java programs that give a JVM real work while it is walked. Each is one stanza of a
// catalogue file (docs/workloads.md tells the keys); a file is a suite.
// Signal-safe: no.
#ifndef WALKHAMMER_WORKLOADS_CATALOGUE_H_
#define WALKHAMMER_WORKLOADS_CATALOGUE_H_

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace walkhammer {

// Placeholders such as {scratch} are still in classpath, jar, args and flags.
struct Workload {
  std::string suite, name, what;
  std::vector<std::string> packages;   // Debian's
  std::vector<std::string> classpath;  // patterns as of glob(7)
  std::string main;                    // a class; or
  std::string jar;
  std::vector<std::string> args;
  std::vector<std::string> flags;                      // of the JVM
  std::map<int, std::vector<std::string>> flags_from;  // more flags, from that feature on
  int oldest_jdk = 0;                                  // features, both included
  int newest_jdk = std::numeric_limits<int>::max();
  std::string why;      // of these limits
  std::string input;    // a generator of input.sh; empty: none
  std::string file;     // a distribution; empty: none
  bool repeat = false;  // ends by itself, to be started again while there is time
  std::string where;    // file:line

  std::string FullName() const { return suite + ":" + name; }
};

// Of each *.catalogue in the folder, which also holds the table of distributions; suites by name,
// workloads in the order of their file. kBadInput, with file and line, for anything that is wrong.
Result<std::vector<Workload>> LoadCatalogues(const std::string& folder);

// Patterns such as "debian:fop", "torture:*" or "*"; each workload once, in the order of the
// patterns. kBadInput for a pattern without a workload. `all` must outlive the answer.
Result<std::vector<const Workload*>> SelectWorkloads(const std::vector<Workload>& all,
                                                     const std::vector<std::string>& patterns);

struct WorkloadContext {
  std::string home = {};     // absolute: where the command's jars and the folder `workloads` lie
  std::string scratch = {};  // existing empty folder of this workload alone
  uint64_t seed = 1;
  int seconds = 10;
  int threads = 2;
  int scale = 1;
  std::string cache = {};  // of distributions; empty: DefaultCache()
};

struct WorkloadCommand {
  std::vector<std::string> jvm_flags;
  std::vector<std::string> arguments;  // -cp PATH CLASS ARGS or -jar FILE ARGS
  std::string directory;               // to start it in
  bool repeat = false;
};

// Ok if the workload can run on JDKs of that feature (0: unknown, not asked about). Else kUnable,
// with the command that mends it, or why it cannot be. Looks only; `scratch` is not needed.
Status CheckWorkload(const Workload& workload, int jdk_feature, const WorkloadContext& context);

// CheckWorkload, then makes the input; takes some seconds at large scales.
Result<WorkloadCommand> PrepareWorkload(const Workload& workload, int jdk_feature,
                                        const WorkloadContext& context);

// $XDG_CACHE_HOME/walkhammer or ~/.cache/walkhammer, as workloads/fetch.sh has it.
std::string DefaultCache();

}  // namespace walkhammer

#endif  // WALKHAMMER_WORKLOADS_CATALOGUE_H_
