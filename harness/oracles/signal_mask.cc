// SPDX-License-Identifier: Apache-2.0
// The thread's signal mask is as it was.
// Signal-safe: yes.
#include <cstdio>

#include "harness/oracles/observation.h"
#include "harness/oracles/rows.h"

namespace walkhammer {
namespace {

constexpr OutcomeInfo kSignalMaskOutcomes[] = {
    {"kept", Grade::kAcceptable, "the mask is as before"},
    {"changed", Grade::kForbidden, "the thread would miss or take signals it should not"},
};

uint8_t JudgeSignalMask(const Observation& seen, char* detail, size_t size) {
  if (seen.trace.ending != Ending::kReturned) return 0;
  if (seen.before.signal_mask == seen.after.signal_mask) return 0;
  std::snprintf(detail, size, "mask 0x%llx became 0x%llx",
                static_cast<unsigned long long>(seen.before.signal_mask),
                static_cast<unsigned long long>(seen.after.signal_mask));
  return 1;
}

}  // namespace

const Oracle kSignalMaskOracle = {"signal-mask", "the signal mask is unchanged",
                                  kSignalMaskOutcomes, JudgeSignalMask, kChanged};

}  // namespace walkhammer
