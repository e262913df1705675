// SPDX-License-Identifier: Apache-2.0
// MissingPartOf: what of a crashed chain the report does not tell, so that nobody can say that no
// stack walker is in it. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CRASH_MISSING_PART_H_
#define WALKHAMMER_HARNESS_CRASH_MISSING_PART_H_

#include <string>

#include "harness/crash/crashed_chain.h"

namespace walkhammer {

struct MissingPart {
  std::string why;      // a sentence without its point; empty: the chain is given in full
  std::string help;     // what would show it; may be empty
  std::string command;  // to type for that; may be empty
};

MissingPart MissingPartOf(const CrashReport& report, const CrashedChain& chain);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CRASH_MISSING_PART_H_
