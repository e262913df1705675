// SPDX-License-Identifier: Apache-2.0
// SampleRing: the elements of one safepoint queue, in order. One thread puts them in, from signal
// handlers that may interrupt each other anywhere; another takes them out.
// Signal-safe: Push, full, At, Ready, size yes; Make, Free no.
#ifndef WALKHAMMER_HARNESS_ASGST_QUEUE_SAMPLE_RING_H_
#define WALKHAMMER_HARNESS_ASGST_QUEUE_SAMPLE_RING_H_

#include <atomic>
#include <cstdint>

#include "harness/asgst/include/asgst_iterator.h"
#include "harness/asgst/queue/enqueuer.h"
#include "harness/asgst/walk/activations.h"

namespace walkhammer::asgst {

struct QueuedSample {
  ASGST_QueueElement element{};
  ActivationChain chain;  // its first frame is the element's
  Enqueuer enqueuer;
};

class SampleRing {
 public:
  static constexpr int kMostCapacity = 1 << 20;
  enum class Pushed { kYes, kFull, kClosed };

  // Makes an empty ring; null if there is no memory, or `capacity` is not in 1 .. kMostCapacity.
  // Pages are touched only when elements are put on them.
  static SampleRing* Make(int capacity);
  static void Free(SampleRing* ring);

  // Copies `sample` to the end. Lock-free: a call that is interrupted holds up no other call. The
  // order is that in which calls take their positions.
  Pushed Push(const QueuedSample& sample);

  // True if Push would return kFull. Elements that come and go during the call never make it true.
  bool full() const;

  // The nth element: 0 the oldest, -1 the youngest; null out of bounds, or while the element is
  // being put in.
  QueuedSample* At(int64_t n);
  int size() const;  // elements that are being put in count, too
  int capacity() const { return capacity_; }

  // --- for the thread that takes out ---
  // How many elements, from the oldest on, are complete.
  int Ready() const;
  // The position of the oldest element. An element keeps its position.
  uint64_t first() const { return head_.load(); }
  // The element at this position; null if it was taken out, or is not complete.
  QueuedSample* Find(uint64_t position);
  // The handlers that enqueued the elements before this position have returned: see Enqueuer.
  uint64_t released() const { return released_.load(); }
  void Release(uint64_t before) { released_.store(before); }
  void Remove(int count);
  // Closes the ring, so that nothing is put in from now on, and copies its elements to `to`, where
  // they keep their positions. `to`: an empty ring that nobody uses yet. False, and no change, if
  // an element is not complete, or if `to` has too little room.
  bool MoveTo(SampleRing& to);
  // The position behind the youngest element.
  uint64_t end() const { return tail_.load() & ~kClosedBit; }

 private:
  static constexpr uint64_t kClosedBit = 1ULL << 63;
  // Positions only count up; an element's place is its position modulo the capacity.
  struct Place {
    std::atomic<uint64_t> filled;  // position + 1 of the element that is complete here
    QueuedSample sample;
  };

  Place& PlaceOf(uint64_t position) const {
    return places_[position % static_cast<uint64_t>(capacity_)];
  }

  Place* places_ = nullptr;
  int capacity_ = 0;
  std::atomic<uint64_t> head_{0}, tail_{0}, released_{0};
};

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_QUEUE_SAMPLE_RING_H_
