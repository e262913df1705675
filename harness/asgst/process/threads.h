// SPDX-License-Identifier: Apache-2.0
// The JVM's Java threads by JNIEnv and by OS thread id, from the list that HotSpot keeps of them.
// Signal-safe: all but ReadThreads, on any thread, attached to the JVM or not.
#ifndef WALKHAMMER_HARNESS_ASGST_PROCESS_THREADS_H_
#define WALKHAMMER_HARNESS_ASGST_PROCESS_THREADS_H_

#include <jni.h>

#include "harness/base/result.h"
#include "harness/jvm/structs/vm_structs.h"

namespace walkhammer::asgst {

// `thread`: the current one's JavaThread*; `env`: its JNIEnv.
Status ReadThreads(const VmStructs& structs, uint64_t thread, const JNIEnv* env);

// JavaThread*, or 0: none of the JVM's Java threads. The list is read without a lock, while threads
// come and go: what is found was in it when the search ended.
uint64_t ThreadOfEnv(const JNIEnv* env);
uint64_t ThreadOfId(int64_t os_thread);
bool IsListed(uint64_t thread);

// Of a JavaThread that is in the list, or was.
JNIEnv* EnvOf(uint64_t thread);
int32_t OsThreadOf(uint64_t thread);  // 0: not known
// Tells apart what runs on it by turns: the virtual threads that it carries, and itself. 0: not
// known.
uint64_t RunnerOf(uint64_t thread);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_PROCESS_THREADS_H_
