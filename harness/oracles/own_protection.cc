// SPDX-License-Identifier: Apache-2.0
// A walker with a crash protection of its own may fault: the protection ends the walk. Each place
// of such a fault is worth knowing: the walk gives no stack there, and without the protection, as
// before it is set up, the fault would end the program.
// Signal-safe: yes.
#include <cstdio>

#include "harness/oracles/observation.h"
#include "harness/oracles/rows.h"

namespace walkhammer {
namespace {

constexpr OutcomeInfo kOwnProtectionOutcomes[] = {
    {"not-needed", Grade::kAcceptable, "no fault that the walker's own protection had to end"},
    {"contained-fault", Grade::kInteresting,
     "the walker faulted, and its own protection ended the walk: no harm, but no stack either"},
};

uint8_t JudgeOwnProtection(const Observation& seen, char* detail, size_t size) {
  // A load that was made to fail is what the protection is there for.
  if (seen.trace.ending != Ending::kReturned || seen.trace.protected_faults == 0 ||
      seen.failed_load != 0)
    return 0;
  std::snprintf(detail, size, "signal %d, si_code %d, address 0x%llx, ended by the walker itself",
                seen.fault->signal, seen.fault->code,
                static_cast<unsigned long long>(seen.fault->address));
  return 1;
}

}  // namespace

const Oracle kOwnProtectionOracle = {"own-protection",
                                     "the walker's own crash protection is not needed",
                                     kOwnProtectionOutcomes,
                                     JudgeOwnProtection,
                                     kProtected,
                                     true};

}  // namespace walkhammer
