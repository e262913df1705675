// SPDX-License-Identifier: Apache-2.0
// Where an instruction finds the return address of its frame, as a SteppedStack knows it, for
// comparison with what its code alone tells. Pure. Signal-safe: yes.
#ifndef WALKHAMMER_STRESS_SEEN_PLACE_H_
#define WALKHAMMER_STRESS_SEEN_PLACE_H_

#include <cstdint>
#include <span>

#include "harness/ipc/stress_state.h"
#include "stress/stepped_stack.h"

namespace walkhammer::stress {

// Adds to `seen` where the return address of the frame at `at` is. Adds nothing where the newest
// of `calls` is not known. `registers`: by number, as in the encoding of instructions.
void See(std::span<const SteppedCall> calls, const SteppedPoint& at,
         std::span<const uint64_t> registers, SeenPlace& seen);

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_SEEN_PLACE_H_
