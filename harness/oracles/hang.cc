// SPDX-License-Identifier: Apache-2.0
// A walk must end: until then, the walked thread stands still.
// Signal-safe: yes.
#include <cstdio>

#include "harness/oracles/observation.h"
#include "harness/oracles/rows.h"

namespace walkhammer {
namespace {

constexpr OutcomeInfo kHangOutcomes[] = {
    {"ended", Grade::kAcceptable, "the walk ended within the limit"},
    {"hang", Grade::kForbidden, "the walk did not end; the program would stand still"},
};

uint8_t JudgeHang(const Observation& seen, char* detail, size_t size) {
  if (seen.trace.ending != Ending::kHung) return 0;
  std::snprintf(detail, size, "no answer within the hang limit");
  return 1;
}

}  // namespace

const Oracle kHangOracle = {.name = "hang",
                            .what = "the walk ends within the hang limit",
                            .outcomes = kHangOutcomes,
                            .judge = JudgeHang,
                            .judged = kFailed,
                            .kept = "it ends the walk"};

}  // namespace walkhammer
