// SPDX-License-Identifier: Apache-2.0
// The safepoint queues' inside: what a queue is, and which there are. asgst_iterator.h says what
// they do. Signal-safe: QueueUse yes; the rest no.
#ifndef WALKHAMMER_HARNESS_ASGST_QUEUE_QUEUE_H_
#define WALKHAMMER_HARNESS_ASGST_QUEUE_QUEUE_H_

#include <atomic>
#include <vector>

#include "harness/asgst/include/asgst_iterator.h"
#include "harness/asgst/queue/sample_ring.h"

// Its memory is never given back, so that a handler with a pointer that is out of date finds a
// queue that is not live.
struct ASGST_QueueOpaque {
  enum State : int { kFree, kLive, kEnded };
  struct OnProcessing {
    ASGST_OnQueueSafepointHandler fun = nullptr;
    void* argument = nullptr;
    int options = 0;
    bool offer_iterator = false;
  };

  std::atomic<int> state{kFree};
  std::atomic<int> users{0};  // who may look at its rings
  std::atomic<int> attempts{0};
  std::atomic<int> wanted_capacity{0};  // 0: as it is
  std::atomic<walkhammer::asgst::SampleRing*> ring{nullptr};
  // What it had before it was resized: a handler may still hold an element.
  walkhammer::asgst::SampleRing* retired = nullptr;
  uint64_t thread = 0;  // JavaThread*; 0: of no thread
  int32_t os_thread = 0;
  int options = 0;
  ASGST_Handler fun = nullptr;
  void* argument = nullptr;
  OnProcessing start, end;
};

namespace walkhammer::asgst {

// Keeps a queue's rings while it is there, if the queue is live.
class QueueUse {
 public:
  explicit QueueUse(ASGST_Queue* queue) : queue_(queue) {
    if (queue_ == nullptr) return;
    queue_->users.fetch_add(1);
    live_ = queue_->state.load() == ASGST_QueueOpaque::kLive;
  }
  ~QueueUse() {
    if (queue_ != nullptr) queue_->users.fetch_sub(1);
  }
  QueueUse(const QueueUse&) = delete;
  QueueUse& operator=(const QueueUse&) = delete;
  bool live() const { return live_; }

 private:
  ASGST_Queue* queue_;
  bool live_ = false;
};

// --- the registry ---

// Null if there is no memory.
ASGST_Queue* AddQueue(int capacity, uint64_t thread, int options, ASGST_Handler fun,
                      void* argument);
// Those of threads that are live now, in the order in which they were registered.
std::vector<ASGST_Queue*> LiveQueues();
// Those that were not retired yet. With the ProcessingMutex held.
std::vector<ASGST_Queue*> EndedQueues();
// Gives back what a queue has whose state is kEnded, once nobody uses it.
void RetireQueue(ASGST_Queue* queue);
// Replaces the ring as ASGST_ResizeQueue asked, if it is empty. For the processing alone.
void ApplyResize(ASGST_Queue* queue);

// --- the processing ---

// Handles what is in the queues. All Java threads are stopped.
void ProcessQueues();
// True if there is something to do for it.
bool IsWorkForQueues();
// True on the thread that runs ProcessQueues, while it does.
bool IsProcessing();

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_QUEUE_QUEUE_H_
