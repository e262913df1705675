// SPDX-License-Identifier: Apache-2.0
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "harness/asgst/api/iterator.h"
#include "harness/asgst/process/threads.h"
#include "harness/asgst/queue/queue.h"

namespace walkhammer::asgst {
namespace {

std::atomic<int> processing_thread{0};

int OwnThread() { return static_cast<int>(syscall(SYS_gettid)); }

// A thread that is stopped, and its stack.
class StoppedThread {
 public:
  explicit StoppedThread(uint64_t thread) : stack_(RunnerOf(thread)) {
    if (!StartOfOther(nullptr, thread, start_)) return;
    JavaWalk walk(*Live(), memory_, start_);
    if (walk.Begin() == WalkStatus::kFound) stack_.Take(walk);
  }

  void Call(ASGST_Queue* queue, const ASGST_Queue::OnProcessing& handler) const {
    if (handler.fun == nullptr) return;
    ASGST_Iterator iterator(start_, memory_, handler.options, ASGST_Iterator::From::kContext);
    if (handler.offer_iterator) iterator.Rewind();
    handler.fun(queue, handler.offer_iterator ? &iterator : nullptr, handler.argument);
  }

  void Handle(const ASGST_Queue& queue, const QueuedSample& sample) const {
    const Located located = stack_.Locate(sample.chain);
    const auto recorded = RecordedFrames(*Live(), memory_, start_, sample.chain, located);
    ASGST_Iterator iterator(start_, memory_, queue.options, ASGST_Iterator::From::kElement,
                            &located, recorded, &sample.element);
    iterator.Rewind();
    queue.fun(&iterator, queue.argument, sample.element.arg);
  }

 private:
  // Nothing is read plainly: a thread in native runs on.
  const LiveMemory memory_{0, 0};
  WalkStart start_;
  StoppedStack stack_;
};

bool IsLive(const ASGST_Queue* queue) { return queue->state.load() == ASGST_Queue::kLive; }

// Handles the elements that are complete now. Elements that come in meanwhile wait for the next
// time.
void ProcessElements(ASGST_Queue* queue) {
  SampleRing* ring = queue->ring.load();
  const int count = ring->Ready();
  if (count == 0) return;
  const StoppedThread stopped(queue->thread);
  stopped.Call(queue, queue->start);
  for (int i = 0; i < count && IsLive(queue); i++) stopped.Handle(*queue, *ring->At(i));
  if (IsLive(queue)) stopped.Call(queue, queue->end);
  ring->Remove(count);
  queue->attempts = 0;
}

}  // namespace

bool IsProcessing() { return processing_thread.load() == OwnThread(); }

bool IsWorkForQueues() {
  const auto queues = LiveQueues();
  // A queue may be deregistered meanwhile.
  return std::any_of(queues.begin(), queues.end(), [](ASGST_Queue* queue) {
    const QueueUse use(queue);
    return use.live() && (queue->wanted_capacity.load() != 0 || queue->ring.load()->Ready() > 0);
  });
}

void ProcessQueues() {
  processing_thread = OwnThread();
  // A handler may register and deregister queues.
  for (ASGST_Queue* queue : LiveQueues()) {
    if (!IsLive(queue)) continue;
    // No event reported the thread's end: the thread was ending when the queue was registered.
    if (!IsListed(queue->thread) || OsThreadOf(queue->thread) != queue->os_thread) {
      queue->state = ASGST_Queue::kEnded;
      continue;
    }
    ProcessElements(queue);
    if (IsLive(queue)) ApplyResize(queue);
  }
  // A handler may deregister a queue that another handler has registered.
  for (ASGST_Queue* queue : EndedQueues()) RetireQueue(queue);
  processing_thread = 0;
}

}  // namespace walkhammer::asgst
