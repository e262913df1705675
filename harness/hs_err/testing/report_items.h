// SPDX-License-Identifier: Apache-2.0
// The items of a crash report by name, as the expectations in crash logs have them. Signal-safe:
// no.
#ifndef WALKHAMMER_HARNESS_HS_ERR_TESTING_REPORT_ITEMS_H_
#define WALKHAMMER_HARNESS_HS_ERR_TESTING_REPORT_ITEMS_H_

#include <span>
#include <string>
#include <vector>

#include "harness/hs_err/crash_report.h"

namespace walkhammer {

struct ReportItem {
  const char* name;
  // All values that the report has of it; none if the text does not tell it.
  std::vector<std::string> (*values)(const CrashReport& report);
};

// Everything that ParseCrashReport reads, but for the numbers of lines.
std::span<const ReportItem> AllReportItems();

// The values that the report has of the item of that name.
std::vector<std::string> ValuesOf(const CrashReport& report, const std::string& item);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_TESTING_REPORT_ITEMS_H_
