// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <unordered_set>
#include <utility>

#include "harness/asgst/api/iterator.h"
#include "harness/asgst/process/threads.h"
#include "harness/asgst/queue/own_polls.h"
#include "harness/asgst/queue/queue.h"
#include "harness/asgst/queue/queue_service.h"

namespace walkhammer::asgst {
namespace {

// A thread that is stopped, or the current thread at a poll, and its stack.
class StoppedThread {
 public:
  // `ranges`: frames that HasGoneOnSince and Handle must know; they ascend by `first`.
  StoppedThread(uint64_t thread, bool is_own, const std::vector<EndRange>& ranges)
      : stack_(RunnerOf(thread)) {
    if (is_own) {
      start_ = StartOf(nullptr, thread);
      memory_ = MemoryOf(start_);
    } else if (!StartOfOther(nullptr, thread, start_)) {
      return;
    }
    JavaWalk walk(*Live(), memory_, start_);
    if (walk.Begin() == WalkStatus::kFound) stack_.Take(walk, ranges);
  }

  void Call(ASGST_Queue* queue, const ASGST_Queue::OnProcessing& handler) const {
    if (handler.fun == nullptr) return;
    ASGST_Iterator iterator(start_, memory_, handler.options, ASGST_Iterator::From::kContext);
    if (handler.offer_iterator) iterator.Rewind();
    handler.fun(queue, handler.offer_iterator ? &iterator : nullptr, handler.argument);
  }

  // True unless the thread stands exactly where it stood when it enqueued.
  bool HasGoneOnSince(const QueuedSample& sample) const {
    return stack_.Locate(sample.chain).state != ElementState::kExact;
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
  // Of another thread nothing is read plainly: a thread in native runs on.
  LiveMemory memory_;
  WalkStart start_;
  StoppedStack stack_;
};

bool IsLive(const ASGST_Queue* queue) { return queue->state.load() == ASGST_Queue::kLive; }

// The youngest of `ready` elements whose frame was left since; -1: none. Handlers that put in older
// ones have returned: a handler holds its thread where it stands.
int YoungestLeft(SampleRing& ring, int ready, const StoppedThread& stopped) {
  int i = ready - 1;
  while (i >= 0 && !stopped.HasGoneOnSince(*ring.At(i))) i--;
  return i;
}

// True if the queue's own thread is expected to handle the element: it has had too little time.
bool IsForOwnPoll(const ASGST_Queue& queue, const Enqueuer& enqueuer) {
  constexpr int kMostWithoutPoll = 20, kMost = 500;  // ms
  return HasOwnPolls() && !queue.ending.load() &&
         !enqueuer.IsOlderThan(NeedsNoPoll(queue.thread) ? kMostWithoutPoll : kMost);
}

// How many elements, from the oldest on, are out of their handlers' hands, and not for their own
// thread's poll: a collection often stops a thread that has enqueued just before. What was left,
// and may be unloaded, is never held back.
int CountReleased(const ASGST_Queue& queue, SampleRing& ring, int ready,
                  const StoppedThread& stopped) {
  for (int i = 0; i < ready; i++) {
    const QueuedSample& sample = *ring.At(i);
    const bool in_hand =
        ring.first() + static_cast<uint64_t>(i) >= ring.released() && !queue.ending.load();
    const bool waits = sample.enqueuer.MayStay() ? in_hand : IsForOwnPoll(queue, sample.enqueuer);
    if (!waits) continue;
    const int left = YoungestLeft(ring, ready, stopped);
    if (left < i) return i;
    i = left;
  }
  return ready;
}

std::vector<EndRange> RangesOf(SampleRing& ring, int ready) {
  std::vector<EndRange> ranges;
  for (int i = 0; i < ready; i++) ranges.push_back(EndsOf(ring.At(i)->chain));
  std::sort(ranges.begin(), ranges.end(),
            [](const EndRange& a, const EndRange& b) { return a.first < b.first; });
  return ranges;
}

// Handles the elements that are complete now and, unless the queue's own thread does it, released.
// Elements that come in then wait for the next time.
void ProcessElements(ASGST_Queue* queue, bool by_own_thread) {
  SampleRing* ring = queue->ring.load();
  const int ready = ring->Ready();
  if (ready == 0) {
    queue->attempts = 0;
    return;
  }
  const StoppedThread stopped(queue->thread, by_own_thread, RangesOf(*ring, ready));
  const int count = by_own_thread ? ready : CountReleased(*queue, *ring, ready, stopped);
  if (count == 0) {
    queue->attempts = 0;
    return;
  }
  stopped.Call(queue, queue->start);
  for (int i = 0; i < count && IsLive(queue); i++) stopped.Handle(*queue, *ring->At(i));
  if (IsLive(queue)) stopped.Call(queue, queue->end);
  ring->Remove(count);
  queue->attempts = 0;
}

// Releases what can be. Elements may be taken out in between, by a collection.
Work WorkForElements(ASGST_Queue& queue) {
  SampleRing& ring = *queue.ring.load();
  const uint64_t first = ring.first(), end = first + static_cast<uint64_t>(ring.Ready());
  if (first == end) return Work::kNone;
  const QueuedSample* oldest = ring.Find(first);
  if (oldest == nullptr || IsForOwnPoll(queue, oldest->enqueuer)) return Work::kLater;
  std::optional<uint64_t> blocked;
  bool asked = false;
  uint64_t at = std::max(first, ring.released());
  for (; at < end; at++) {
    const QueuedSample* sample = ring.Find(at);
    if (sample == nullptr) return Work::kLater;
    if (!asked && sample->enqueuer.MayStay()) {
      blocked = BlockedSignalsOf(queue.os_thread);
      asked = true;
    }
    if (!queue.ending.load() && !sample->enqueuer.HasReturned(blocked)) break;
  }
  ring.Release(at);
  return at == first ? Work::kLater : Work::kNow;
}

// True if the queue can be resized at the next processing: see ApplyResize.
bool IsToBeResized(const ASGST_Queue& queue) {
  const int wanted = queue.wanted_capacity.load();
  const SampleRing& ring = *queue.ring.load();
  return wanted != 0 && ring.size() <= wanted && ring.first() >= queue.retired_end.load();
}

Work WorkFor(ASGST_Queue& queue) {
  const Work work = WorkForElements(queue);
  return IsToBeResized(queue) ? Work::kNow : work;
}

}  // namespace

Work WorkForQueues() {
  Work work = Work::kNone;
  for (ASGST_Queue* queue : LiveQueues()) {
    const QueueUse use(queue);  // a queue may be deregistered in between
    if (use.live()) work = std::max(work, WorkFor(*queue));
  }
  return work;
}

void ProcessQueues() {
  SetProcessing(true);
  const std::vector<ASGST_Queue*> queues = LiveQueues();
  const auto listed = queues.empty() ? std::unordered_set<uint64_t>() : ListedThreads();
  // A handler may register and deregister queues.
  for (ASGST_Queue* queue : queues) {
    if (!IsLive(queue)) continue;
    // No event reported the thread's end: the thread was ending when the queue was registered.
    if (!listed.contains(queue->thread) || OsThreadOf(queue->thread) != queue->os_thread) {
      queue->state = ASGST_Queue::kEnded;
      continue;
    }
    ProcessElements(queue, false);
    if (IsLive(queue)) ApplyResize(queue);
  }
  // A handler may deregister a queue that another handler has registered.
  for (ASGST_Queue* queue : EndedQueues()) RetireQueue(queue);
  SetProcessing(false);
}

void ProcessOwnQueues(uint64_t thread) {
  bool has_ended = false;
  {
    const std::shared_lock lock(ProcessingMutex());
    SetProcessing(true);
    for (ASGST_Queue* queue : LiveQueues()) {
      if (queue->thread != thread || !IsLive(queue)) continue;
      ProcessElements(queue, true);
      if (IsLive(queue)) ApplyResize(queue);
      has_ended |= !IsLive(queue);
    }
    SetProcessing(false);
  }
  if (has_ended) RetireEndedQueues();
}

void RetireEndedQueues() {
  const std::lock_guard lock(ProcessingMutex());
  for (ASGST_Queue* queue : EndedQueues()) RetireQueue(queue);
}

}  // namespace walkhammer::asgst
