// SPDX-License-Identifier: Apache-2.0
// What the JVM calls in the agent library: its entry points and JVMTI's events.
// Signal-safe: no.
#ifndef WALKHAMMER_STRESS_JVM_EVENTS_H_
#define WALKHAMMER_STRESS_JVM_EVENTS_H_

#include <jvmti.h>

#include <vector>

namespace walkhammer::stress {

// What the agent listens to besides what every Jvm does.
jvmtiEventCallbacks AgentCallbacks();
std::vector<jvmtiEvent> AgentEvents();

// The calling thread becomes a daemon thread of the JVM.
void AttachAsDaemon(JavaVM* vm, const char* name);

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_JVM_EVENTS_H_
