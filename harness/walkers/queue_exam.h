// SPDX-License-Identifier: Apache-2.0
// The live examination of the safepoint queues of provider jdk: a thread that goes in and out of
// Java enqueues its frames, and each element must reach the handler, once, in order, on that
// thread, with the frame that was enqueued. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_WALKERS_QUEUE_EXAM_H_
#define WALKHAMMER_HARNESS_WALKERS_QUEUE_EXAM_H_

#include "harness/asgst/include/asgst_iterator.h"
#include "harness/base/result.h"
#include "harness/walkers/jdk_iterator.h"

namespace walkhammer {

// The functions of queues. The setters are null where the build lacks them.
struct QueueApi {
  decltype(&ASGST_RegisterQueue) make = nullptr;
  decltype(&ASGST_DeregisterQueue) end = nullptr;
  decltype(&ASGST_Enqueue) enqueue = nullptr;
  decltype(&ASGST_GetEnqueuableElement) peek = nullptr;
  decltype(&ASGST_GetQueueElement) element = nullptr;
  decltype(&ASGST_GetQueueSizeInfo) info = nullptr;
  decltype(&ASGST_ResizeQueue) resize = nullptr;
  // As the older form has it, which offers no iterator: the third parameter is the handler. In the
  // newer form it tells whether an iterator is offered.
  using Setter = void (*)(ASGST_Queue*, int options, void* third, void* fourth, void* fifth);
  Setter set_start = nullptr, set_end = nullptr;
};

// kUnable: the library lacks a function of queues.
Result<QueueApi> FindQueueApi(const ProviderLibrary& library, const std::string& prefix);

// Examines the queues on the calling thread, which must be attached to `vm`: takes some hundred
// milliseconds, at most ten seconds. Returns what is wrong with them, in static memory; null:
// nothing. Fails as CallRounds does.
Result<const char*> ExamineQueues(const QueueApi& api, const JdkIterator& iterator, JavaVM* vm);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_QUEUE_EXAM_H_
