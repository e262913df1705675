// SPDX-License-Identifier: Apache-2.0
// Rebuilds the context that was walked when the crash came, from what a report shows below the
// signal frame: the registers of a report are those of the crash inside the walker, not those that
// were walked. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CRASH_WALKED_CONTEXT_H_
#define WALKHAMMER_HARNESS_CRASH_WALKED_CONTEXT_H_

#include <string>
#include <vector>

#include "harness/crash/crashed_chain.h"
#include "harness/crash/walk_text.h"
#include "harness/hs_err/crash_report.h"

namespace walkhammer {

struct WalkedContext {
  std::string what;  // "compiled code of a.B.run()V on top, frames of 32 bytes"
  WalkText walk;
};

// One request for each assumption about what the report does not show (the size of compiled
// frames), the likeliest first; none if the report shows no Java frame.
std::vector<WalkedContext> WalkedContextsOf(const CrashReport& report, const CrashedChain& chain,
                                            const std::string& walker);

// The word of .walk files for a thread state of a log ("_thread_in_Java"); empty: no such state.
std::string StateWordOf(const std::string& state);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CRASH_WALKED_CONTEXT_H_
