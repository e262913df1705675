// SPDX-License-Identifier: Apache-2.0
// The JVM's Java threads, found by JNIEnv or by OS thread id in HotSpot's own list.
// Signal-safe: all but ReadThreads and ListedThreads, on any thread, attached to the JVM or not.
#ifndef WALKHAMMER_HARNESS_ASGST_PROCESS_THREADS_H_
#define WALKHAMMER_HARNESS_ASGST_PROCESS_THREADS_H_

#include <jni.h>

#include <unordered_set>

#include "harness/base/result.h"
#include "harness/jvm/structs/vm_structs.h"

namespace walkhammer::asgst {

// Finds HotSpot's list; the functions below need it. `thread`, `env`: JavaThread* and JNIEnv of the
// current thread.
Status ReadThreads(const VmStructs& structs, uint64_t thread, const JNIEnv* env);

// JavaThread* with this JNIEnv or OS thread id (gettid); 0: no Java thread of the JVM has it.
// IsListed: true if `thread` is such a JavaThread*. The list is read without a lock while threads
// come and go: a thread may be missed. From JDK 14 on, a thread that is found was in the list when
// the search ended.
uint64_t ThreadOfEnv(const JNIEnv* env);
uint64_t ThreadOfId(int64_t os_thread);
bool IsListed(uint64_t thread);
// All listed threads. May include some that have ended, if threads come and go during the call.
// Signal-safe: no.
std::unordered_set<uint64_t> ListedThreads();

// JNIEnv, OS thread id and runner of a JavaThread that is or was in the list.
JNIEnv* EnvOf(uint64_t thread);
int32_t OsThreadOf(uint64_t thread);  // 0: unknown
// Identifies what runs on the JavaThread now: a virtual thread that it carries, or the thread
// itself. 0: unknown or, before JDK 24, the thread itself.
uint64_t RunnerOf(uint64_t thread);

// True while the current thread runs handlers of queues, at a safepoint or at its own poll. Then
// the thread must call neither JNI nor JVMTI, and must not wait for a thread that does.
bool IsProcessing();
void SetProcessing(bool on);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_PROCESS_THREADS_H_
