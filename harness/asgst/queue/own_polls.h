// SPDX-License-Identifier: Apache-2.0
// Threads that handle their own queues at their next poll, as the proposal says, with hooks in
// libjvm. ASGST_Enqueue arms its own thread's poll (poll_words.h), as HotSpot does to stop one
// thread. The thread then comes to SafepointMechanism::update_poll_values, which disarms the words,
// or first to SafepointSynchronize::block, which waits for a safepoint to end. Hooks there handle
// its queues. A poll that finds nothing to do is harmless. A signal in the middle of
// update_poll_values may lose the arming, so that the hook looks again at its end. Signal-safe:
// HasOwnPolls, ArmOwnPoll yes; the rest no.
#ifndef WALKHAMMER_HARNESS_ASGST_QUEUE_OWN_POLLS_H_
#define WALKHAMMER_HARNESS_ASGST_QUEUE_OWN_POLLS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace walkhammer::asgst {

// Call once, on a thread that is attached to the JVM. Fails with kUnable where there can be no
// hooks.
Status StartOwnPolls();
// The names in libjvm that StartOwnPolls needs.
std::vector<std::string> NamesForPolls();
// True once StartOwnPolls has succeeded.
bool HasOwnPolls();
// Makes HasOwnPolls return false from then on, because the JVM ends, and with it what handlers use.
void EndOwnPolls();
// The current thread, whose JavaThread* is `thread`, calls ProcessOwnQueues at its next poll. Call
// after HasOwnPolls has said true.
void ArmOwnPoll(uint64_t thread);
// True if the current thread, whose JavaThread* is `thread`, has room for a handler on its stack,
// above the JVM's guard zones of some 16 KiB. HotSpot ensures that a thread that runs Java code
// has 96 KiB left, zones included (StackShadowPages).
bool IsRoomOnStack(uint64_t thread);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_QUEUE_OWN_POLLS_H_
