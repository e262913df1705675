// SPDX-License-Identifier: Apache-2.0
// The JSON report of one run: everything that run.db holds, with stable keys. Keys are only ever
// added within a schema number. Addresses, hashes and seeds are strings. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_JSON_REPORT_H_
#define WALKHAMMER_REPORTS_JSON_REPORT_H_

#include <string>

#include "harness/base/result.h"
#include "harness/store/run_reader.h"
#include "reports/run_summary.h"

namespace walkhammer {

inline constexpr int kJsonReportSchema = 1;

// Returns indented JSON that ends in a newline. `summary` was read from `db`, which also has the
// findings of each bucket.
Result<std::string> JsonReport(const RunReader& db, const RunSummary& summary);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_JSON_REPORT_H_
