// SPDX-License-Identifier: Apache-2.0
// The process must outlive the walk. The parent judges that: a dead child cannot.
#include "harness/oracles/rows.h"

namespace walkhammer {
namespace {

constexpr OutcomeInfo kSurvivalOutcomes[] = {
    {"alive", Grade::kAcceptable, "the JVM lived on"},
    {"death", Grade::kForbidden, "the walk ended the JVM"},
};

}  // namespace

const Oracle kSurvivalOracle = {.name = "survival",
                                .what = "the JVM outlives the walk",
                                .outcomes = kSurvivalOutcomes,
                                .judge = nullptr,
                                .judged = kByParent,
                                .kept = "no walk asks it"};

}  // namespace walkhammer
