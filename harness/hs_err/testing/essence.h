// SPDX-License-Identifier: Apache-2.0
// What matters of a crash report, as text, to compare a log with what has happened to it.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_HS_ERR_TESTING_ESSENCE_H_
#define WALKHAMMER_HARNESS_HS_ERR_TESTING_ESSENCE_H_

#include <string>

#include "harness/hs_err/crash_report.h"

namespace walkhammer {

// What matters of a report, without lines. Blanks are left out: they are what some damages change.
std::string EssenceOf(const CrashReport& report);

// The first line that differs, of both; empty: none does.
std::string Difference(const std::string& read, const std::string& wanted);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_TESTING_ESSENCE_H_
