// SPDX-License-Identifier: Apache-2.0
// The walked thread goes on as if nothing had happened: state and anchor are unchanged.
// Signal-safe: yes.
#include <cstdio>

#include "harness/oracles/observation.h"
#include "harness/oracles/rows.h"

namespace walkhammer {
namespace {

constexpr OutcomeInfo kThreadStateOutcomes[] = {
    {"unchanged", Grade::kAcceptable, "state and anchor are as before"},
    {"state-changed", Grade::kForbidden, "the thread would go on in a wrong state"},
    {"anchor-changed", Grade::kForbidden, "later walks and GC would start at a wrong frame"},
    {"anchor-pc-filled", Grade::kAcceptable, "make_walkable fills an empty last_Java_pc"},
};

uint8_t JudgeThreadState(const Observation& seen, char* detail, size_t size) {
  if (seen.trace.ending != Ending::kReturned) return 0;
  const Surroundings &before = seen.before, &after = seen.after;
  if (before.thread_state != after.thread_state) {
    std::snprintf(detail, size, "thread state %d became %d", before.thread_state,
                  after.thread_state);
    return 1;
  }
  const bool same_frame =
      before.anchor_sp == after.anchor_sp && before.anchor_fp == after.anchor_fp;
  if (same_frame && before.anchor_pc == after.anchor_pc) return 0;
  std::snprintf(detail, size, "anchor sp 0x%llx pc 0x%llx fp 0x%llx became 0x%llx 0x%llx 0x%llx",
                static_cast<unsigned long long>(before.anchor_sp),
                static_cast<unsigned long long>(before.anchor_pc),
                static_cast<unsigned long long>(before.anchor_fp),
                static_cast<unsigned long long>(after.anchor_sp),
                static_cast<unsigned long long>(after.anchor_pc),
                static_cast<unsigned long long>(after.anchor_fp));
  return same_frame && before.anchor_pc == 0 ? 3 : 2;
}

}  // namespace

const Oracle kThreadStateOracle = {"thread-state", "thread state and frame anchor are unchanged",
                                   kThreadStateOutcomes, JudgeThreadState, kChanged};

}  // namespace walkhammer
