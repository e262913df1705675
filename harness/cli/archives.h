// SPDX-License-Identifier: Apache-2.0
// The options --renaissance and --dacapo: the user's own copies of suites. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_ARCHIVES_H_
#define WALKHAMMER_HARNESS_CLI_ARCHIVES_H_

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "harness/base/result.h"
#include "harness/cli/options.h"
#include "harness/jvm/images/jdk.h"
#include "workloads/catalogue.h"

namespace walkhammer {

using Archives = std::map<std::string, std::string>;  // paths by suite

void AddArchiveOptions(Verb& verb, Archives& given);

// The jars of the suites that were given. kBadInput as of FindArchive.
Result<Archives> FindArchives(const Archives& given);

// What the archives hold. Each list is made once, which takes a second. Threads may share it.
class ArchiveLists {
 public:
  explicit ArchiveLists(Archives jars) : jars_(std::move(jars)) {}
  // kUnable if the workload's suite has an archive that does not list the workload on this JDK.
  Status Check(const Workload& workload, const Jdk& jdk);

 private:
  Archives jars_;
  std::mutex listing_;
  std::map<std::string, Result<std::set<std::string>>> lists_;  // by jar and JDK
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_ARCHIVES_H_
