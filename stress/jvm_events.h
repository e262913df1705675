// SPDX-License-Identifier: Apache-2.0
// What the JVM calls in the agent library: its entry points and JVMTI's events.
// Signal-safe: no.
#ifndef WALKHAMMER_STRESS_JVM_EVENTS_H_
#define WALKHAMMER_STRESS_JVM_EVENTS_H_

#include <jvmti.h>

#include <vector>

namespace walkhammer::stress {

// The agent's JVMTI callbacks and events, beyond those of every Jvm.
jvmtiEventCallbacks AgentCallbacks();
std::vector<jvmtiEvent> AgentEvents();

// Attaches the calling thread to the JVM as a daemon thread of this name.
void AttachAsDaemon(JavaVM* vm, const char* name);

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_JVM_EVENTS_H_
