// SPDX-License-Identifier: Apache-2.0
// A walker must not fault, whatever it is shown: it runs in a signal handler of a live program.
// Signal-safe: yes.
#include <cstdio>

#include "harness/oracles/observation.h"
#include "harness/oracles/rows.h"

namespace walkhammer {
namespace {

constexpr OutcomeInfo kCrashOutcomes[] = {
    {"returned", Grade::kAcceptable, "the walk returned"},
    {"fault", Grade::kForbidden, "a fault in the walker ends the profiled program"},
    {"fault-or-safefetch", Grade::kInteresting,
     "SafeFetch of this JVM was not found: this may be its own fault, which the JVM handles"},
    {kFailedCheckOutcomeName, Grade::kForbidden,
     "where a check of its own fails, the JVM ends the profiled program"},
};

uint8_t JudgeCrash(const Observation& seen, char* detail, size_t size) {
  // A crash of our own making: see the oracle failing-load.
  if (seen.trace.ending != Ending::kCrashed || seen.CrashedAtFailedLoad()) return 0;
  if (seen.fault->failed_check[0] != 0) {
    std::snprintf(detail, size, "%s", seen.fault->failed_check);
    return 3;
  }
  const bool doubtful = seen.fault->doubtful != 0;
  std::snprintf(detail, size, "signal %d, si_code %d, address 0x%llx%s", seen.fault->signal,
                seen.fault->code, static_cast<unsigned long long>(seen.fault->address),
                doubtful ? ", which SafeFetch may have met on purpose" : "");
  return doubtful ? 2 : 1;
}

}  // namespace

const Oracle kCrashOracle = {.name = "crash",
                             .what = "the walker does not fault",
                             .outcomes = kCrashOutcomes,
                             .judge = JudgeCrash,
                             .judged = kFailed,
                             .kept = "it ends the walk"};

}  // namespace walkhammer
