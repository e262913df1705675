// SPDX-License-Identifier: Apache-2.0
// Failed checks: how HotSpot ends the process when an assert, a guarantee or a fatal of its own
// says so (debug.cpp). Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_JVM_LIVE_FAILED_CHECKS_H_
#define WALKHAMMER_HARNESS_JVM_LIVE_FAILED_CHECKS_H_

#include <string>

#include "harness/guard/guard.h"

namespace walkhammer {

// Sets traps where `libjvm`, which lives at this file, reports that a check has failed (JDK 8 to
// 28: report_vm_error, report_fatal and their kin, by their symbols), and fills in
// options.check_reports. From JDK 11 on a failing check first writes to a page that faults, to have
// its registers; that no longer happens. After JVM start, before InstallGuard, from a thread that
// no check can fail on at that time. Where libjvm is stripped, or the kernel lets no code be
// changed, nothing is done: a check that fails costs the process.
void TrapFailedChecks(void* libjvm, const std::string& path, GuardOptions& options);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_LIVE_FAILED_CHECKS_H_
