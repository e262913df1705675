// SPDX-License-Identifier: Apache-2.0
// ReportedFlags: the JVM flags of a crash report that decide what frames, code and heap look like.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CRASH_REPORTED_FLAGS_H_
#define WALKHAMMER_HARNESS_CRASH_REPORTED_FLAGS_H_

#include <string>
#include <vector>

#include "harness/hs_err/crash_report.h"

namespace walkhammer {

// The flags of collector, compilers, code cache and references, by the report's command line, its
// version and its head; "-XX:+IgnoreUnrecognizedVMOptions" before them, because other JDKs may lack
// some. Sizes of the heap, agents, paths and what belongs to the application are left out. Empty if
// the report tells none.
std::vector<std::string> ReportedFlags(const CrashReport& report);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CRASH_REPORTED_FLAGS_H_
