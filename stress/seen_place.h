// SPDX-License-Identifier: Apache-2.0
// Notes where the return address of an instruction's frame is, as a SteppedStack knows it. The
// place is compared with what the code alone says. Pure. Signal-safe: yes.
#ifndef WALKHAMMER_STRESS_SEEN_PLACE_H_
#define WALKHAMMER_STRESS_SEEN_PLACE_H_

#include <cstdint>
#include <span>

#include "harness/ipc/stress_state.h"
#include "stress/stepped_stack.h"

namespace walkhammer::stress {

// Adds to `seen` where the return address of the frame at `at` is, and to `sender` where a compiled
// caller's sp is. Adds nothing if there is no call, or if the newest call's caller is unknown.
// `registers`: values by number, as in the encoding of instructions. `in_frame`: the word that
// holds the caller's sp in an interpreted frame at fp; 0: there is none.
void See(std::span<const SteppedCall> calls, const SteppedPoint& at,
         std::span<const uint64_t> registers, uint64_t in_frame, SeenPlace& seen,
         SeenSender& sender);

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_SEEN_PLACE_H_
