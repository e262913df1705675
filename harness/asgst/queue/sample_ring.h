// SPDX-License-Identifier: Apache-2.0
// SampleRing: the elements of one safepoint queue, in the order in which they came. One thread puts
// them in, from signal handlers that may interrupt each other anywhere; another takes them out.
// Signal-safe: Push, At, Ready, size yes; Make, Free no.
#ifndef WALKHAMMER_HARNESS_ASGST_QUEUE_SAMPLE_RING_H_
#define WALKHAMMER_HARNESS_ASGST_QUEUE_SAMPLE_RING_H_

#include <atomic>
#include <cstdint>

#include "harness/asgst/include/asgst_iterator.h"
#include "harness/asgst/walk/activations.h"

namespace walkhammer::asgst {

struct QueuedSample {
  ASGST_QueueElement element{};
  ActivationChain chain;  // its first frame is the element's
};

class SampleRing {
 public:
  static constexpr int kMostCapacity = 1 << 20;
  enum class Pushed { kYes, kFull, kClosed };

  // Null if there is no memory. Pages are touched when elements come to lie on them.
  static SampleRing* Make(int capacity);
  static void Free(SampleRing* ring);

  // Lock-free: one that is interrupted holds up no other. The order is that of the calls' ends.
  Pushed Push(const QueuedSample& sample);

  // The nth: 0 the oldest, -1 the youngest; null out of bounds, or while it is being put in.
  QueuedSample* At(int64_t n);
  int size() const;  // those that are being put in count
  int capacity() const { return capacity_; }

  // --- for the one that takes out ---
  // How many of the oldest are complete.
  int Ready() const;
  void Remove(int count);
  // From now on nothing is put in; false, and nothing happens, if it is not empty.
  bool CloseIfEmpty();

 private:
  static constexpr uint64_t kClosedBit = 1ULL << 63;
  // Positions count up for ever; an element's place is its position modulo the capacity.
  struct Place {
    std::atomic<uint64_t> filled;  // position + 1 of the element that is complete here
    QueuedSample sample;
  };

  Place& PlaceOf(uint64_t position) const {
    return places_[position % static_cast<uint64_t>(capacity_)];
  }

  Place* places_ = nullptr;
  int capacity_ = 0;
  std::atomic<uint64_t> head_{0}, tail_{0};
};

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_QUEUE_SAMPLE_RING_H_
