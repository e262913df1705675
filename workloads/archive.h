// SPDX-License-Identifier: Apache-2.0
// Archives: a user's own copy of a suite, of any version or built from source, in place of the copy
// that fetch.sh downloads. The archive itself says which workloads it holds. Signal-safe: no.
#ifndef WALKHAMMER_WORKLOADS_ARCHIVE_H_
#define WALKHAMMER_WORKLOADS_ARCHIVE_H_

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/process/program.h"
#include "workloads/catalogue.h"

namespace walkhammer {

// How to start the java of a JDK with these arguments.
using StartJava = std::function<ProgramSetup(const std::vector<std::string>& arguments)>;

// The absolute path of the archive of `suite` ("renaissance"): `path`, or the one SUITE-*.jar in
// the folder `path`. kBadInput if there is none, or several.
Result<std::string> FindArchive(const std::string& suite, const std::string& path);

// The workloads that `jar` lists on stdout for the JVM of `java`, when it is started with
// `arguments` (key "list" of the catalogue). Takes a second. kUnable if the JVM fails, or lists
// nothing within 60 s.
Result<std::set<std::string>> WorkloadsIn(const std::string& jar,
                                          const std::vector<std::string>& arguments,
                                          const StartJava& java);

// kUnable if `held`, which WorkloadsIn returned for `jar`, lacks the workload.
Status CheckArchiveHolds(const Workload& workload, const std::string& jar,
                         const std::set<std::string>& held);

}  // namespace walkhammer

#endif  // WALKHAMMER_WORKLOADS_ARCHIVE_H_
