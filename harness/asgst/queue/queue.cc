// SPDX-License-Identifier: Apache-2.0
// The safepoint queues: see asgst_iterator.h.
#include "harness/asgst/queue/queue.h"

#include "harness/asgst/api/iterator.h"
#include "harness/asgst/process/attach.h"
#include "harness/asgst/process/self_attach.h"
#include "harness/asgst/process/threads.h"
#include "harness/asgst/queue/own_polls.h"
#include "harness/asgst/queue/queue_service.h"
#include "harness/asgst/unwind/unwind_service.h"

using namespace walkhammer::asgst;  // NOLINT(google-build-using-namespace)

namespace {

// Most tries to put an element in while the ring is being replaced, which takes one store.
constexpr int kMostPushes = 1000;

void* PointerTo(uint64_t address) { return reinterpret_cast<void*>(address); }

// Records what would be queued now for `thread`, a JavaThread*. 0: the current thread, for a caller
// that queues nothing. Returns ASGST_JAVA_TRACE, or an error below 0.
int Record(uint64_t thread, const void* ucontext, QueuedSample& sample) {
  if (Live() == nullptr) return ASGST_NOT_ATTACHED;
  const uint64_t current = CurrentJavaThread();
  const bool is_handled = thread != 0;
  if (!is_handled) thread = current;
  if (thread == 0) return ASGST_NO_THREAD;
  const auto* context = static_cast<const ucontext_t*>(ucontext);
  WalkStart start;
  if (thread == current)
    start = StartOf(context, thread);
  else if (!StartOfOther(context, thread, start))
    return ASGST_NO_THREAD;
  start.unpacked = true;
  const LiveMemory memory = thread == current ? MemoryOf(start) : LiveMemory();
  JavaWalk walk(*Live(), memory, start);
  const WalkStatus status = walk.Begin();
  const bool found = status == WalkStatus::kFound && RecordActivations(walk, sample.chain);
  AskForTables();
  if (status == WalkStatus::kUnknownState) return ASGST_UNSAFE_STATE;
  if (!found) return ASGST_NO_TOP_JAVA_FRAME;
  sample.chain.runner = RunnerOf(thread);
  if (is_handled) sample.enqueuer = Enqueuer::Note(thread, thread == current, context);
  const Activation& newest = sample.chain.frames[0];
  sample.element = {PointerTo(newest.place.pc), PointerTo(newest.fp), PointerTo(newest.sp),
                    nullptr};
  return ASGST_JAVA_TRACE;
}

int Put(ASGST_Queue* queue, const QueuedSample& sample) {
  const QueueUse use(queue);
  for (int i = 0; i < kMostPushes; i++) {
    if (!use.live()) return ASGST_ENQUEUE_NO_QUEUE;
    switch (queue->ring.load()->Push(sample)) {
      case SampleRing::Pushed::kYes:
        return ASGST_JAVA_TRACE;
      case SampleRing::Pushed::kFull:
        return ASGST_ENQUEUE_FULL_QUEUE;
      case SampleRing::Pushed::kClosed:
        break;
    }
  }
  return ASGST_ENQUEUE_OTHER_ERROR;
}

bool IsFull(ASGST_Queue* queue) {
  const QueueUse use(queue);
  return use.live() && queue->ring.load()->full();
}

// Has the new element handled: by its own thread, or else by the service.
void Announce(uint64_t thread) {
  if (HasOwnPolls() && !AreQueuesHeld() && thread == CurrentJavaThread()) ArmOwnPoll(thread);
  WakeQueueService();
}

uint64_t ThreadFor(const JNIEnv* env) {
  if (Live() == nullptr) return 0;
  return env == nullptr ? CurrentJavaThread() : ThreadOfEnv(env);
}

void SetOnProcessing(ASGST_Queue* queue, ASGST_Queue::OnProcessing ASGST_Queue::*which,
                     const ASGST_Queue::OnProcessing& handler) {
  if (queue == nullptr) return;
  OutsideOfProcessing([&] {
    if (queue->state.load() == ASGST_Queue::kLive) queue->*which = handler;
  });
}

}  // namespace

ASGST_Queue* ASGST_RegisterQueue(JNIEnv* env, int size, int options, ASGST_Handler fun,
                                 void* argument) {
  if (!AttachIfPossible(env)) TellNotAttached();
  const uint64_t thread = ThreadFor(env);
  if (thread == 0 || fun == nullptr || !StartQueueService(TheVm()).ok()) return nullptr;
  return AddQueue(size, thread, options, fun, argument);
}

bool ASGST_DeregisterQueue(JNIEnv* env, ASGST_Queue* queue) {
  const uint64_t thread = ThreadFor(env);
  if (queue == nullptr) return false;
  bool was_live = false;
  OutsideOfProcessing([&] {
    if (queue->thread != 0 && queue->thread != thread) return;
    int live = ASGST_Queue::kLive;
    was_live = queue->state.compare_exchange_strong(live, ASGST_Queue::kEnded);
    // If a handler deregisters, the processing retires the queue when it ends.
    if (was_live && !IsProcessing()) RetireQueue(queue);
  });
  return was_live;
}

int ASGST_Enqueue(ASGST_Queue* queue, void* ucontext, void* argument) {
  if (queue == nullptr || queue->state.load() != ASGST_Queue::kLive) return ASGST_ENQUEUE_NO_QUEUE;
  queue->attempts.fetch_add(1);
  // Asked again when the element is put in: until then a handler may have interrupted this one.
  if (IsFull(queue)) return ASGST_ENQUEUE_FULL_QUEUE;
  // Walks before a QueueUse begins: a walk that is left by a jump must not hold the queue
  // endlessly.
  QueuedSample sample;
  int result = Record(queue->thread, ucontext, sample);
  if (result < 0) return result;
  sample.element.arg = argument;
  result = Put(queue, sample);
  if (result > 0 && queue->thread != 0) Announce(queue->thread);
  return result;
}

int ASGST_GetEnqueuableElement(void* ucontext, ASGST_QueueElement* element) {
  if (element == nullptr) return ASGST_ENQUEUE_OTHER_ERROR;
  *element = {};
  QueuedSample sample;
  const int result = Record(0, ucontext, sample);
  if (result > 0) *element = sample.element;
  return result;
}

ASGST_QueueElement* ASGST_GetQueueElement(ASGST_Queue* queue, int n) {
  const QueueUse use(queue);
  if (!use.live()) return nullptr;
  QueuedSample* sample = queue->ring.load()->At(n);
  return sample == nullptr ? nullptr : &sample->element;
}

ASGST_QueueSizeInfo ASGST_GetQueueSizeInfo(ASGST_Queue* queue) {
  const QueueUse use(queue);
  if (!use.live()) return {};
  const SampleRing* ring = queue->ring.load();
  return {ring->size(), ring->capacity(), queue->attempts.load()};
}

void ASGST_ResizeQueue(ASGST_Queue* queue, int size) {
  if (queue == nullptr || size < 1 || size > SampleRing::kMostCapacity ||
      queue->state.load() != ASGST_Queue::kLive)
    return;
  queue->wanted_capacity = size;
  if (queue->thread != 0) WakeQueueService();
}

void ASGST_SetOnQueueProcessingStart(ASGST_Queue* queue, int options, bool offer_iterator,
                                     ASGST_OnQueueSafepointHandler before, void* argument) {
  SetOnProcessing(queue, &ASGST_Queue::start, {before, argument, options, offer_iterator});
}

void ASGST_SetOnQueueProcessingEnd(ASGST_Queue* queue, int options, bool offer_iterator,
                                   ASGST_OnQueueSafepointHandler after, void* argument) {
  SetOnProcessing(queue, &ASGST_Queue::end, {after, argument, options, offer_iterator});
}

int asgst_element_state(ASGST_Iterator* iterator) {
  return iterator == nullptr || iterator->located == nullptr
             ? static_cast<int>(ASGST_ELEMENT_NONE)
             : static_cast<int>(iterator->located->state);
}

int asgst_element_returned(ASGST_Iterator* iterator) {
  return iterator == nullptr || iterator->located == nullptr ? 0 : iterator->located->returned;
}

const ASGST_QueueElement* asgst_element(ASGST_Iterator* iterator) {
  return iterator == nullptr ? nullptr : iterator->element;
}

ASGST_Queue* asgst_unbound_queue(int size) { return AddQueue(size, 0, 0, nullptr, nullptr); }

void asgst_clear_queue(ASGST_Queue* queue) {
  const QueueUse use(queue);
  if (!use.live() || queue->thread != 0) return;
  SampleRing* ring = queue->ring.load();
  // No thread is putting anything in now: a place that is not filled was left by a jump, for good.
  ring->Remove(ring->size());
  queue->attempts = 0;
}

void asgst_hold_queues(bool hold) { HoldQueueService(hold); }
