// SPDX-License-Identifier: Apache-2.0
// The text report of one run: the verdict, then the buckets, gravest first, then what the run did.
// For terminals and logs. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_TEXT_REPORT_H_
#define WALKHAMMER_REPORTS_TEXT_REPORT_H_

#include <string>
#include <utility>
#include <vector>

#include "reports/run_summary.h"

namespace walkhammer {

std::string TextReport(const RunSummary& summary);

// What the run did, and what it was, as a name and a value a line; other forms of report, too, have
// these lists. A value is empty if the run does not know it.
using NamedText = std::pair<std::string, std::string>;
std::vector<NamedText> TotalsOfRun(const RunSummary& summary);
std::vector<NamedText> IdentityOfRun(const RunSummary& summary);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_TEXT_REPORT_H_
