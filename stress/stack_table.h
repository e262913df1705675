// SPDX-License-Identifier: Apache-2.0
// Counts sampled stacks in StressState::stacks. Signal-safe: yes.
#ifndef WALKHAMMER_STRESS_STACK_TABLE_H_
#define WALKHAMMER_STRESS_STACK_TABLE_H_

#include "harness/base/trace.h"
#include "harness/ipc/stress_state.h"
#include "harness/jvm/live/methods.h"

namespace walkhammer::stress {

// Counts the result of a walk in the tree of stacks, by the methods of its newest 512 frames. A
// walk without frames counts as the failure `code` of `walker`, an index into the walker table. If
// the tree has no room for the newest frames, counts the walk at its newest frame that has a node,
// and in StressState::dropped_stacks. Any number of threads may call this at the same time.
void CountStack(StressState& state, const MethodRegistry& methods, const Trace& trace, int code,
                uint8_t walker);

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_STACK_TABLE_H_
