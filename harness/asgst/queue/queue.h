// SPDX-License-Identifier: Apache-2.0
// The inside of the safepoint queues: what a queue is, the registry of queues, their processing.
// asgst_iterator.h says what queues do. Signal-safe: QueueUse yes; the rest no.
#ifndef WALKHAMMER_HARNESS_ASGST_QUEUE_QUEUE_H_
#define WALKHAMMER_HARNESS_ASGST_QUEUE_QUEUE_H_

#include <atomic>
#include <vector>

#include "harness/asgst/include/asgst_iterator.h"
#include "harness/asgst/queue/sample_ring.h"

// The memory of a queue is never freed, and is reused late, so that a handler with a stale pointer
// finds a queue that is not live.
struct ASGST_QueueOpaque {
  enum State : int { kFree, kLive, kEnded };
  struct OnProcessing {
    ASGST_OnQueueSafepointHandler fun = nullptr;
    void* argument = nullptr;
    int options = 0;
    bool offer_iterator = false;
  };

  std::atomic<int> state{kFree};
  std::atomic<int> users{0};  // QueueUses that may read its rings
  std::atomic<int> attempts{0};
  std::atomic<int> wanted_capacity{0};  // 0: no resize is requested
  std::atomic<bool> ending{false};      // its thread ends, and runs no handler any more
  std::atomic<walkhammer::asgst::SampleRing*> ring{nullptr};
  // The ring from before the last resize: a handler may still hold an element of that ring.
  walkhammer::asgst::SampleRing* retired = nullptr;
  // The position after that ring's youngest element. Once the elements before it are handled, no
  // handler holds an element of that ring.
  std::atomic<uint64_t> retired_end{0};
  uint64_t thread = 0;  // JavaThread*; 0: of no thread
  int32_t os_thread = 0;
  int options = 0;
  ASGST_Handler fun = nullptr;
  void* argument = nullptr;
  OnProcessing start, end;
};

namespace walkhammer::asgst {

// While a QueueUse of a live queue exists, the rings of that queue are not freed.
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

// Makes a live queue for `capacity` elements of `thread`, a JavaThread* (0: of no thread). Null if
// there is no memory, or SampleRing::Make refuses the capacity.
ASGST_Queue* AddQueue(int capacity, uint64_t thread, int options, ASGST_Handler fun,
                      void* argument);
// The live queues of threads, in the order in which they were registered.
std::vector<ASGST_Queue*> LiveQueues();
// The queues that have ended and are not retired yet. Call with the ProcessingMutex held.
std::vector<ASGST_Queue*> EndedQueues();
// Frees the rings of a queue whose state is kEnded, once no QueueUse of the queue exists. If one
// does not end, the rings are leaked.
void RetireQueue(ASGST_Queue* queue);
// Replaces the ring as ASGST_ResizeQueue asked, if its elements fit into the new one. Call only
// while processing.
void ApplyResize(ASGST_Queue* queue);

// --- the processing ---

// Calls the handlers for the elements in the queues. Call with the ProcessingMutex held and all
// Java threads stopped.
void ProcessQueues();
// The same for the queues of the current thread, whose JavaThread* is `thread`. Call it outside of
// signal handlers, where the thread's stack begins at its anchor. Takes the ProcessingMutex,
// shared.
void ProcessOwnQueues(uint64_t thread);
// Retires the queues that have ended.
void RetireEndedQueues();
// What ProcessQueues has to do. kLater: only elements whose signal handlers have not returned.
enum class Work { kNone, kLater, kNow };
Work WorkForQueues();

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_QUEUE_QUEUE_H_
