// SPDX-License-Identifier: Apache-2.0
// KnownCrashes: bugs of public trackers that crash a stack walker, by what a crash report shows of
// them, and which bug a crash resembles. Which versions have a bug says its folder in
// corpora/known-bugs, if it has one (harness/findings/known_bugs.h). Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CRASH_KNOWN_CRASHES_H_
#define WALKHAMMER_HARNESS_CRASH_KNOWN_CRASHES_H_

#include <span>
#include <vector>

#include "harness/crash/guilt.h"
#include "harness/crash/target.h"
#include "harness/findings/known_bugs.h"
#include "harness/hs_err/crash_report.h"

namespace walkhammer {

struct KnownCrash {
  const char* id;     // "JDK-8283849"
  const char* title;  // one line
  // What the report must show: comparable functions, separated by '|', one of which is blamed or
  // called the blamed one; or a part of the failed check. Empty: anything.
  const char* functions;
  const char* check;
  const char* walker;  // GuiltVerdict's `whose` must begin with it; "": any walker
  // Versions that are known to have a bug without a folder, as versions-affected of
  // corpora/README.md: "[27,28-ea)". Empty: not known, or the bug has a folder.
  const char* affected;
  const char* arch;  // "aarch64", or "": any
  bool debug_only;   // an assert: release builds do not have it
  int bug_class;     // number of the class in corpora/README.md; 0: none
};

std::span<const KnownCrash> AllKnownCrashes();

struct Resemblance {
  const KnownCrash* bug;
  Affected affected;  // whether the version that crashed has the bug
  bool by_check;      // the failed check is the bug's: stronger than a function
};

// The bugs that the crash resembles, the best first: by check before by function, affected versions
// first. A bug whose architecture or kind of build differs is left out. `folders`: of
// corpora/known-bugs.
std::vector<Resemblance> ResemblancesOf(const CrashReport& report, const GuiltVerdict& guilt,
                                        const CrashTarget& target,
                                        const std::vector<KnownBug>& folders);

// Whether the JDK that crashed has the bug. kUnknown, too, if the report tells no version.
Affected AffectedByCrash(const KnownCrash& bug, const std::vector<KnownBug>& folders,
                         const CrashVersion& crashed);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CRASH_KNOWN_CRASHES_H_
