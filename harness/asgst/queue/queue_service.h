// SPDX-License-Identifier: Apache-2.0
// The thread that brings the JVM to safepoints for the queues: a stock JDK calls no callback there.
// The thread walks the heap's roots with JVMTI, which HotSpot does at a safepoint, and stops at the
// first root: the callback runs on the VM thread while all Java threads are stopped.
// Where threads handle their own queues (own_polls.h), the service does it for threads that come to
// no poll. Signal-safe: WakeQueueService, HoldQueueService, AreQueuesHeld yes; the rest no.
#ifndef WALKHAMMER_HARNESS_ASGST_QUEUE_QUEUE_SERVICE_H_
#define WALKHAMMER_HARNESS_ASGST_QUEUE_QUEUE_SERVICE_H_

#include <jni.h>

#include <mutex>
#include <shared_mutex>

#include "harness/asgst/process/threads.h"
#include "harness/base/result.h"

namespace walkhammer::asgst {

// Starts the thread, once. Call on a thread that is attached to the JVM.
Status StartQueueService(JavaVM* vm);
// Wakes the thread, which then looks for work.
void WakeQueueService();
// With true, elements wait until a call with false, or until their thread ends.
void HoldQueueService(bool hold);
bool AreQueuesHeld();
// The thread that runs handlers holds this mutex; threads that handle their own queues hold it
// shared. Code that holds it must not call the JVM, because the VM thread waits for the mutex at a
// safepoint.
std::shared_mutex& ProcessingMutex();
// Calls `what` while no handler runs. A handler itself need not wait.
template <typename Do>
void OutsideOfProcessing(Do what) {
  if (IsProcessing()) return what();
  const std::lock_guard lock(ProcessingMutex());
  what();
}

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_QUEUE_QUEUE_SERVICE_H_
