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
  Affected affected;     // whether the version that crashed has the bug
  bool by_check;         // the failed check is the bug's: stronger than a function
  std::string versions;  // in words: "17.0.13 has it; fixed in 17.0.16"
};

// The bugs that the crash resembles, the best first: by check before by function, then affected
// versions first, then by class. A bug of another architecture or kind of build is left out. Where
// no walker is in the chain, only bugs that concern none.
// `issues`: see BugStore::bugs.
std::vector<Resemblance> ResemblancesOf(const CrashReport& report, const CrashedChain& chain,
                                        const GuiltVerdict& guilt, const CrashTarget& target,
                                        const std::map<std::string, Bug>& issues);

// Which versions have the bug, in words, as far as it concerns the JDK that crashed.
std::string VersionsText(const Bug& bug, const CrashVersion& crashed);

// Whether the JDK that crashed has the bug. kUnknown, too, if the report has no version.
Affected AffectedByCrash(const Bug& bug, const CrashVersion& crashed);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CRASH_RESEMBLANCE_H_
