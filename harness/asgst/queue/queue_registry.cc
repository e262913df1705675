// SPDX-License-Identifier: Apache-2.0
#include <sched.h>

#include <deque>
#include <mutex>
#include <new>

#include "harness/asgst/process/threads.h"
#include "harness/asgst/queue/queue.h"

namespace walkhammer::asgst {
namespace {

// So many queues stay unused before the oldest of them is reused.
constexpr size_t kRested = 256;
constexpr int kMostYields = 10'000;

// Never destroyed: threads may run while the process ends.
struct Registry {
  std::mutex mutex;  // held for moments, never while a handler runs
  std::vector<ASGST_Queue*> queues;
  std::deque<ASGST_Queue*> unused;
};
Registry& TheRegistry() {
  static auto* registry = new Registry;
  return *registry;
}

ASGST_Queue* TakeUnused(Registry& registry) {
  if (registry.unused.size() < kRested) return new (std::nothrow) ASGST_Queue;
  ASGST_Queue* queue = registry.unused.front();
  registry.unused.pop_front();
  return queue;
}

// True once no QueueUse of the queue is left; false if one lasts longer than kMostYields yields. A
// QueueUse takes as long as copying an element.
bool NobodyUses(const ASGST_Queue* queue) {
  for (int i = 0; queue->users.load() != 0; i++) {
    if (i == kMostYields) return false;
    sched_yield();
  }
  return true;
}

std::vector<ASGST_Queue*> QueuesThatAre(ASGST_Queue::State state) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  std::vector<ASGST_Queue*> found;
  for (ASGST_Queue* queue : registry.queues)
    if (queue->state.load() == state) found.push_back(queue);
  return found;
}

}  // namespace

ASGST_Queue* AddQueue(int capacity, uint64_t thread, int options, ASGST_Handler fun,
                      void* argument) {
  SampleRing* ring = SampleRing::Make(capacity);
  if (ring == nullptr) return nullptr;
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  ASGST_Queue* queue = TakeUnused(registry);
  if (queue == nullptr) {
    SampleRing::Free(ring);
    return nullptr;
  }
  queue->attempts = 0;
  queue->wanted_capacity = 0;
  queue->retired_end = 0;
  queue->ending = false;
  queue->ring = ring;
  queue->thread = thread;
  queue->os_thread = thread == 0 ? 0 : OsThreadOf(thread);
  queue->options = options;
  queue->fun = fun;
  queue->argument = argument;
  queue->start = queue->end = {};
  queue->state = ASGST_Queue::kLive;
  if (thread != 0) registry.queues.push_back(queue);
  return queue;
}

std::vector<ASGST_Queue*> LiveQueues() { return QueuesThatAre(ASGST_Queue::kLive); }

std::vector<ASGST_Queue*> EndedQueues() { return QueuesThatAre(ASGST_Queue::kEnded); }

void RetireQueue(ASGST_Queue* queue) {
  // If a thread was stopped, or left by a jump, in the middle of a QueueUse, the memory is lost.
  const bool unused = NobodyUses(queue);
  if (unused) {
    SampleRing::Free(queue->ring.exchange(nullptr));
    SampleRing::Free(queue->retired);
  }
  queue->retired = nullptr;
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  std::erase(registry.queues, queue);
  if (unused) registry.unused.push_back(queue);
}

void ApplyResize(ASGST_Queue* queue) {
  const int wanted = queue->wanted_capacity.exchange(0);
  SampleRing* ring = queue->ring.load();
  if (wanted == 0 || wanted == ring->capacity()) return;
  SampleRing* resized = SampleRing::Make(wanted);
  if (resized == nullptr) return;  // no memory: asked again at once, there would be none, either
  SampleRing* const retired = queue->retired;
  const bool is_free =
      retired == nullptr || (ring->first() >= queue->retired_end.load() && NobodyUses(queue));
  if (is_free && ring->MoveTo(*resized)) {
    queue->ring = resized;
    SampleRing::Free(retired);
    queue->retired = ring;
    queue->retired_end = ring->end();
    return;
  }
  SampleRing::Free(resized);
  int none = 0;  // a newer request counts
  queue->wanted_capacity.compare_exchange_strong(none, wanted);
}

}  // namespace walkhammer::asgst
