// SPDX-License-Identifier: Apache-2.0
// The distinct stacks that were sampled, and how often each was. Fixed size: what no longer fits is
// counted as dropped. Signal-safe: yes.
#ifndef WALKHAMMER_STRESS_STACK_TABLE_H_
#define WALKHAMMER_STRESS_STACK_TABLE_H_

#include "harness/base/trace.h"
#include "harness/jvm/live/methods.h"
#include "harness/shared/stress_state.h"

namespace walkhammer::stress {

// Counts the result of a walk: its frames by method, or its failure (`code`) and the thread's
// state.
void CountStack(StressState& state, const MethodRegistry& methods, const Trace& trace, int code,
                uint8_t walker, uint8_t thread_state);

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_STACK_TABLE_H_
