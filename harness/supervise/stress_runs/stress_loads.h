// SPDX-License-Identifier: Apache-2.0
// What the cells of a stress run execute: workloads, a java command of the user's, scenes, or a JVM
// that runs already. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_STRESS_LOADS_H_
#define WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_STRESS_LOADS_H_

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/mappings.h"
#include "harness/base/result.h"
#include "harness/jvm/images/jdk.h"
#include "harness/supervise/stress_runs/stress_cell.h"
#include "workloads/catalogue.h"

namespace walkhammer {

// The user's own copies of suites: paths by suite.
using Archives = std::map<std::string, std::string>;

// The jars of the suites whose path is not empty. kBadInput as of FindArchive.
Result<Archives> FindArchives(const Archives& given);

// What the archives hold. Each list is made once, which takes a second. Threads may share it.
class ArchiveLists {
 public:
  explicit ArchiveLists(Archives jars) : jars_(std::move(jars)) {}
  // kUnable if the workload's suite has an archive that does not list the workload on this JDK.
  Status Check(const Workload& workload, const Jdk& jdk);
  // The names that the workload's archive lists on this JDK; none if the suite has no archive.
  // kUnable: see WorkloadsIn.
  Result<std::set<std::string>> Listed(const Workload& workload, const Jdk& jdk);

 private:
  Archives jars_;
  std::mutex listing_;
  std::map<std::string, Result<std::set<std::string>>> lists_;  // by jar and JDK
};

// Exactly one of workloads or archives, `scenes`, `java` and `pid` says what to run.
struct LoadSettings {
  std::vector<std::string> workloads;  // patterns
  Archives archives;                   // without workloads: all of these suites
  std::vector<std::string> scenes;     // names
  std::vector<std::string> java;       // arguments of a java command
  uint64_t pid = 0;                    // a JVM to attach to
  std::string cache;                   // see WorkloadContext
  int threads = 2, scale = 1;          // of a workload
  std::string size;                    // see WorkloadContext
};

// What a cell runs.
struct Load {
  std::string name;
  // Prepares the program for a JDK. `folder`: empty, for this cell alone.
  std::function<Result<LoadCommand>(const Jdk& jdk, const std::string& folder)> prepare;
  // Whether the program runs on that JDK at all; null: on each.
  std::function<bool(const Jdk& jdk)> is_for = nullptr;
};

// kBadInput: the settings name nothing, several kinds, or something unknown. kUnable: the process
// belongs to another user. `seed`: of the workloads' input. `step`: names --scene, too.
Result<std::vector<Load>> ChooseLoads(const LoadSettings& settings, uint64_t seed, bool step);

bool IsLibjvm(const Mapping& mapping);  // its path may end in " (deleted)"

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_STRESS_LOADS_H_
