// SPDX-License-Identifier: Apache-2.0
// Hangs of guarded calls: the watchdog thread that finds them, and what several looks at a hang
// tell of the loop. For guard.cc alone; the watchdog's part of the public interface is in guard.h.
// Signal-safe: JudgeHangsAnew and FindLoop; the rest no.
#ifndef WALKHAMMER_HARNESS_GUARD_HANG_H_
#define WALKHAMMER_HARNESS_GUARD_HANG_H_

#include <span>

#include "harness/guard/guard.h"

namespace walkhammer {

// Starts the watchdog with this limit, see GuardOptions; if it runs already, changes its limit.
Status StartWatchdog(int hang_limit_ms);
void UnwatchGuardSlot(GuardSlot& slot);

// Lets the watchdog judge the calling thread's hanging calls anew: the signal came while a walk
// inside of the hanging one was under way.
void JudgeHangsAnew();

// Fills in what `looks` tell of the loop: lasting_calls, looping, looping_returns, which are 0. The
// rest of `fault` is that of the last look.
void FindLoop(std::span<const GuardSlot::Look> looks, Fault& fault);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_GUARD_HANG_H_
