// SPDX-License-Identifier: Apache-2.0
// Attaches for clients that never call asgst_attach, such as those of the documents: in the first
// function of the API that may do so. Reports on stderr if nothing has attached.
#ifndef WALKHAMMER_HARNESS_ASGST_PROCESS_SELF_ATTACH_H_
#define WALKHAMMER_HARNESS_ASGST_PROCESS_SELF_ATTACH_H_

#include <jni.h>

namespace walkhammer::asgst {

// Attaches to this process's JVM, unless libasgst is attached already. Does nothing if there is no
// JVM, if the JVM is not initialised yet (JVMTI's live phase), or if the current thread is not one
// of the JVM's. `env`: the JNIEnv of any thread of the JVM, which leads to the JVM. Null:
// JNI_GetCreatedJavaVMs finds the JVM, from JDK 22 on only after the VMInit event (JDK-8308341).
// During the event, a symbol of libjvm is used instead, unless libjvm is stripped. Returns true if
// libasgst is attached. Signal-safe: no.
bool AttachIfPossible(JNIEnv* env = nullptr);

// Notes that a caller attaches, or has tried to. TellNotAttached is silent from then on.
// Signal-safe: yes.
void AttachComes();
// Says on stderr, at the first call, that walks fail because libasgst is not attached. Keeps errno.
// Signal-safe: yes.
void TellNotAttached();

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_PROCESS_SELF_ATTACH_H_
