// SPDX-License-Identifier: Apache-2.0
// Threads that handle their own queues at their next poll, as the proposal says, with hooks in
// libjvm. ASGST_Enqueue arms the two words of its own JavaThread that a thread looks at in each
// poll, as HotSpot does to stop one thread (SafepointMechanism::ThreadData, JDK 17 and later). The
// thread then comes to SafepointMechanism::update_poll_values, which disarms the words, or first to
// SafepointSynchronize::block, which waits for a safepoint to end. Hooks there handle its queues.
// Only the thread itself disarms its words, and a poll that finds nothing to do is harmless. A
// signal in the middle of update_poll_values may lose the arming, so that the hook looks again at
// its end. Signal-safe: HasOwnPolls, ArmOwnPoll yes; the rest no.
#ifndef WALKHAMMER_HARNESS_ASGST_QUEUE_OWN_POLLS_H_
#define WALKHAMMER_HARNESS_ASGST_QUEUE_OWN_POLLS_H_

#include <cstdint>

#include "harness/base/result.h"

namespace walkhammer::asgst {

// Call once, on a thread that is attached to the JVM. Fails with kUnable where there can be no
// hooks.
Status StartOwnPolls();
// True once StartOwnPolls has succeeded.
bool HasOwnPolls();
// From now on HasOwnPolls says false: the JVM ends, and with it what handlers use.
void EndOwnPolls();
// The current thread, whose JavaThread* is `thread`, calls ProcessOwnQueues at its next poll. Call
// after HasOwnPolls has said true.
void ArmOwnPoll(uint64_t thread);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_QUEUE_OWN_POLLS_H_
