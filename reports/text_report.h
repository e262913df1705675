// SPDX-License-Identifier: Apache-2.0
// The text report of one run: the verdict, then the buckets, gravest first, then what the run did.
// For terminals and logs. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_TEXT_REPORT_H_
#define WALKHAMMER_REPORTS_TEXT_REPORT_H_

#include <string>

#include "reports/run_summary.h"

namespace walkhammer {

std::string TextReport(const RunSummary& summary);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_TEXT_REPORT_H_
