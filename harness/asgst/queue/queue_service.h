// SPDX-License-Identifier: Apache-2.0
// The thread that brings the JVM to safepoints for the queues: a stock JDK calls nobody there.
// It walks the heap's roots with JVMTI, which HotSpot does at a safepoint, and stops at the first:
// the callback runs on the VM thread while all Java threads are stopped.
// Signal-safe: WakeQueueService, HoldQueueService yes; the rest no.
#ifndef WALKHAMMER_HARNESS_ASGST_QUEUE_QUEUE_SERVICE_H_
#define WALKHAMMER_HARNESS_ASGST_QUEUE_QUEUE_SERVICE_H_

#include <jni.h>

#include <mutex>

#include "harness/base/result.h"

namespace walkhammer::asgst {

// Starts it, once. To be called on a thread of the JVM.
Status StartQueueService(JavaVM* vm);
// There may be work.
void WakeQueueService();
// Elements wait for the end of a hold, or of their thread.
void HoldQueueService(bool hold);
// Held while handlers run, by the thread that they run on. With it held nobody calls the JVM: that
// thread waits for it at a safepoint.
std::mutex& ProcessingMutex();

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_QUEUE_QUEUE_SERVICE_H_
