// SPDX-License-Identifier: Apache-2.0
// ReportedFlags: the JVM flags of a crash report that affect frames, generated code and the heap's
// layout. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CRASH_REPORTED_FLAGS_H_
#define WALKHAMMER_HARNESS_CRASH_REPORTED_FLAGS_H_

#include <string>
#include <vector>

#include "harness/hs_err/crash_report.h"

namespace walkhammer {

// Returns the flags of collector, compilers, code cache and references in the report's command
// line. Adds those that the report implies: its collector, -Xint or -Xcomp. The first flag is
// "-XX:+IgnoreUnrecognizedVMOptions", because other JDKs may lack some. Omits the heap's size,
// agents, paths and the application's own options. Empty if the report has no such flags.
std::vector<std::string> ReportedFlags(const CrashReport& report);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CRASH_REPORTED_FLAGS_H_
