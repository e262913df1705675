// SPDX-License-Identifier: Apache-2.0
// ReportText: all of a crash report as text, a line for each item, for golden files. Signal-safe:
// no.
#ifndef WALKHAMMER_HARNESS_HS_ERR_TESTING_REPORT_TEXT_H_
#define WALKHAMMER_HARNESS_HS_ERR_TESTING_REPORT_TEXT_H_

#include <string>

#include "harness/hs_err/crash_report.h"

namespace walkhammer {

// Returns the report, each item with the line that it was read from. Of lists that are long in
// every log, such as modules and events, it has the counts, the first and the last item.
std::string ReportText(const CrashReport& report);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_TESTING_REPORT_TEXT_H_
