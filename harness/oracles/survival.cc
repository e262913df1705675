// SPDX-License-Identifier: Apache-2.0
// The process must outlive the walk. The parent judges that: a dead child cannot.
// Signal-safe: yes.
#include <cstdio>

#include "harness/oracles/observation.h"
#include "harness/oracles/rows.h"

namespace walkhammer {
namespace {

constexpr OutcomeInfo kOutcomes[] = {
    {"alive", Grade::kAcceptable, "the JVM lived on"},
    {"death", Grade::kForbidden, "the walk ended the JVM"},
};

uint8_t Judge(const Observation&, char*, size_t) { return 0; }

}  // namespace

const Oracle kSurvivalOracle = {"survival", "the JVM outlives the walk", kOutcomes, Judge};

}  // namespace walkhammer
