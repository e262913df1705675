// SPDX-License-Identifier: Apache-2.0
// The first screen: what a run prints when it ends, in at most kMostScreenLines lines: the verdict,
// what is new, what is known, what was walked, and where to read on. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_FIRST_SCREEN_H_
#define WALKHAMMER_REPORTS_FIRST_SCREEN_H_

#include <cstddef>
#include <string>

#include "reports/run_summary.h"

namespace walkhammer {

inline constexpr int kMostScreenLines = 25;

// `page`: path of the HTML report; empty: there is none. Lines of more than `columns` are cut at a
// blank; commands and paths stay whole. Commands begin with `command`.
std::string FirstScreen(const RunSummary& summary, const std::string& page, size_t columns = 80,
                        const std::string& command = "walkhammer");

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_FIRST_SCREEN_H_
