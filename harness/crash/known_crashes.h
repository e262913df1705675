// SPDX-License-Identifier: Apache-2.0
// KnownCrashes: bugs of public trackers that crash a stack walker, by what a crash report shows of
// them, and which bug a crash resembles. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CRASH_KNOWN_BUGS_H_
#define WALKHAMMER_HARNESS_CRASH_KNOWN_BUGS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/crash/guilt.h"
#include "harness/crash/target.h"
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
  // Versions that are known to have the bug, "11.0.5-11.0.13,17.0.2-17.0.3", and versions from
  // which on it is known to be gone, "17.0.7". Between the two nothing is known. Empty: not known.
  const char* affected;
  const char* fixed;
  const char* arch;  // "aarch64", or "": any
  bool debug_only;   // an assert: release builds do not have it
  int bug_class;     // number of the class in corpora/README.md; 0: none
};

std::span<const KnownCrash> AllKnownCrashes();

enum class VersionFit : uint8_t { kAffected, kNotKnown, kFixed };  // the best resemblance first

struct Resemblance {
  const KnownCrash* bug;
  VersionFit version;
  bool by_check;  // the failed check is the bug's: stronger than a function
};

// The bugs that the crash resembles, the best first: by check before by function, affected versions
// first. A bug whose architecture or kind of build differs is left out.
std::vector<Resemblance> ResemblancesOf(const CrashReport& report, const GuiltVerdict& guilt,
                                        const CrashTarget& target);

// How a version, "17.0.15" or "17.0.15+6-LTS", stands to the bug's ranges.
VersionFit FitOf(const KnownCrash& bug, std::string_view version);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CRASH_KNOWN_BUGS_H_
