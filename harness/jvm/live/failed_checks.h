// SPDX-License-Identifier: Apache-2.0
// Failed checks: HotSpot ends the process when its own assert or guarantee fails, or its code calls
// fatal (debug.cpp). Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_JVM_LIVE_FAILED_CHECKS_H_
#define WALKHAMMER_HARNESS_JVM_LIVE_FAILED_CHECKS_H_

#include <string>

#include "harness/guard/guard.h"

namespace walkhammer {

// Sets traps at the functions with which `libjvm` (a dlopen handle; its file is `path`) reports a
// failed check, and fills in options.check_reports. The functions are found by their symbols:
// report_vm_error, report_fatal and similar ones of JDK 8 to 28. From JDK 11 on, a failing check
// first writes to a page that faults, to record the registers; TrapFailedChecks turns that fault
// off. Call it after JVM start and before InstallGuard, on a thread on which no check fails during
// the call. Does nothing if libjvm is stripped or the kernel forbids changing code: a check that
// fails then ends the process.
void TrapFailedChecks(void* libjvm, const std::string& path, GuardOptions& options);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_LIVE_FAILED_CHECKS_H_
