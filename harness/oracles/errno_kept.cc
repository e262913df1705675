// SPDX-License-Identifier: Apache-2.0
// A signal handler must leave errno as it was; so must what it calls.
// Signal-safe: yes.
#include <cstdio>

#include "harness/oracles/observation.h"
#include "harness/oracles/rows.h"

namespace walkhammer {
namespace {

constexpr OutcomeInfo kErrnoOutcomes[] = {
    {"kept", Grade::kAcceptable, "errno is as before"},
    {"changed", Grade::kForbidden, "the interrupted code would see a wrong errno"},
};

uint8_t JudgeErrno(const Observation& seen, char* detail, size_t size) {
  if (seen.trace.ending != Ending::kReturned) return 0;
  if (seen.before.error_number == seen.after.error_number) return 0;
  std::snprintf(detail, size, "errno %d became %d", seen.before.error_number,
                seen.after.error_number);
  return 1;
}

}  // namespace

const Oracle kErrnoOracle = {"errno", "errno is unchanged", kErrnoOutcomes, JudgeErrno, kChanged};

}  // namespace walkhammer
