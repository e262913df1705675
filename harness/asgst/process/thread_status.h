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

// Finds the field; only Attach calls it. `feature`: JDK version. `thread`: JavaThread* of the
// current thread. If its status does not read as that of a running thread, ThreadStatus always
// returns -1. Signal-safe: no.
void FindThreadStatus(JNIEnv* env, const VmStructs& structs, int feature, uint64_t thread);

// Returns JVMTI's bits of the Java thread `thread`, a JavaThread*: the current thread, or one that
// is stopped. -1: unknown. Reads the heap while a collector may move objects: a value counts only
// if the references that led to it are unchanged afterwards, and if it is one of HotSpot's values.
// For a carrier: the state of its mounted virtual thread, as Thread.getState returns it.
// Signal-safe: yes.
int32_t ThreadStatus(uint64_t thread);

// True if the thread has left its last method, and is about to leave the JVM; false if its state
// is unknown. Signal-safe: yes.
bool IsExiting(uint64_t thread);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_PROCESS_THREAD_STATUS_H_
