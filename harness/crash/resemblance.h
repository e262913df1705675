// SPDX-License-Identifier: Apache-2.0
// ResemblancesOf: which known issues a crash report resembles, by what their files say that a
// report of them contains. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CRASH_RESEMBLANCE_H_
#define WALKHAMMER_HARNESS_CRASH_RESEMBLANCE_H_

#include <map>
#include <string>
#include <vector>

#include "harness/bugs/bug.h"
#include "harness/crash/guilt.h"
#include "harness/crash/target.h"
#include "harness/hs_err/crash_report.h"

namespace walkhammer {

struct Resemblance {
  Bug bug;
  Affected affected;  // whether the version that crashed has the bug
  bool by_check;      // the failed check is the bug's: stronger than a function
};

// The bugs that the crash resembles, the best first: by check before by function, then affected
// versions first, then by class. A bug of another architecture or kind of build is left out.
// `issues`: see BugStore::bugs.
std::vector<Resemblance> ResemblancesOf(const CrashReport& report, const GuiltVerdict& guilt,
                                        const CrashTarget& target,
                                        const std::map<std::string, Bug>& issues);

// Whether the JDK that crashed has the bug. kUnknown, too, if the report has no version.
Affected AffectedByCrash(const Bug& bug, const CrashVersion& crashed);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CRASH_RESEMBLANCE_H_
