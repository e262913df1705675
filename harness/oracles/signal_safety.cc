// SPDX-License-Identifier: Apache-2.0
// A walker runs in a signal handler: it may neither allocate nor lock.
// Signal-safe: yes.
#include <cstdio>

#include "harness/oracles/observation.h"
#include "harness/oracles/rows.h"

namespace walkhammer {
namespace {

constexpr OutcomeInfo kSignalSafetyOutcomes[] = {
    {"safe", Grade::kAcceptable, "no allocation and no lock seen"},
    {"unsafe-call", Grade::kForbidden, "deadlocks when the signal hits inside the same function"},
};

uint8_t JudgeSignalSafety(const Observation& seen, char* detail, size_t size) {
  if (seen.unsafe_call->function == nullptr) return 0;
  std::snprintf(detail, size, "called %s", seen.unsafe_call->function);
  return 1;
}

}  // namespace

const Oracle kSignalSafetyOracle = {"signal-safety", "no malloc, free or lock is called",
                                    kSignalSafetyOutcomes, JudgeSignalSafety, kUnsafe};

}  // namespace walkhammer
