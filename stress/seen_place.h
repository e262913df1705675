// SPDX-License-Identifier: Apache-2.0
// Notes where the return address of an instruction's frame is, as a SteppedStack knows it. The
// place is compared with what the code alone says. Signal-safe: yes.
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

// Counts the step as ambiguous if the newest call is not known, or if its return address is also
// where a walker may wrongly look for it: in one of the two words at sp, at the end of a frame of
// `frame_words`, or behind fp. Counts it as replaced if another address is where one of `newest`,
// the NewestCalls, pushed its own. Reads the stack from sp up to `stack_end`.
void SeeAmbiguity(std::span<const SteppedCall> calls, std::span<const SteppedCall> newest,
                  const SteppedPoint& at, int32_t frame_words, uint64_t stack_end, SeenPlace& seen);

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_SEEN_PLACE_H_
