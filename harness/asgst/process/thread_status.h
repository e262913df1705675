// SPDX-License-Identifier: Apache-2.0
// What java.lang.Thread keeps of a thread's state, which JVMTI's GetThreadState reports: sleeping,
// waiting, parked, blocked at a monitor. HotSpot writes it to Thread.holder.threadStatus (JDK 19
// and later; before, Thread.threadStatus), as JVMTI's bits (javaThreadStatus.hpp). The JavaThread
// itself does not distinguish these states.
#ifndef WALKHAMMER_HARNESS_ASGST_PROCESS_THREAD_STATUS_H_
#define WALKHAMMER_HARNESS_ASGST_PROCESS_THREAD_STATUS_H_

#include <jni.h>

#include <cstdint>

#include "harness/jvm/structs/vm_structs.h"

namespace walkhammer::asgst {

// Finds the field; for Attach alone. `thread`: JavaThread* of the current thread. If its status
// does not read as that of a running thread, ThreadStatus always returns -1. Signal-safe: no.
void FindThreadStatus(JNIEnv* env, const VmStructs& structs, int feature, uint64_t thread);

// JVMTI's bits of the Java thread `thread`, the current thread or one that is stopped; -1: unknown.
// Reads the heap while a collector may move objects: what is read counts only if the references
// that led there are still the same afterwards, and if it is one of HotSpot's values. For a thread
// that carries a virtual thread: what that one does, as for Thread.getState.
// Signal-safe: yes.
int32_t ThreadStatus(uint64_t thread);

// True if the thread has left its last method, and is about to leave the JVM. Signal-safe: yes.
bool IsExiting(uint64_t thread);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_PROCESS_THREAD_STATUS_H_
