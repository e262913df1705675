// SPDX-License-Identifier: Apache-2.0
// Notes of a run as text: what was dropped, what was not in force, what happened from outside.
// Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_NOTE_TEXT_H_
#define WALKHAMMER_REPORTS_NOTE_TEXT_H_

#include <string>

#include "reports/run_summary.h"

namespace walkhammer {

// The lines that belong beside the verdict, since they limit what it says; empty if nothing does.
std::string LimitsText(const RunSummary& summary);
// "interposition, ASLR control": what was in force everywhere; empty if nothing was noted.
std::string InForceText(const RunSummary& summary);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_NOTE_TEXT_H_
