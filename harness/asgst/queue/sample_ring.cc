// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/queue/sample_ring.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>

namespace walkhammer::asgst {

SampleRing* SampleRing::Make(int capacity) {
  static_assert(std::is_trivially_copyable_v<QueuedSample>);
  if (capacity < 1 || capacity > kMostCapacity) return nullptr;
  auto* ring = new (std::nothrow) SampleRing;
  if (ring == nullptr) return nullptr;
  // Zero means "not filled". Large blocks come zeroed from the kernel, and calloc does not touch
  // them.
  ring->places_ = static_cast<Place*>(calloc(static_cast<size_t>(capacity), sizeof(Place)));
  ring->capacity_ = capacity;
  if (ring->places_ != nullptr) return ring;
  delete ring;
  return nullptr;
}

void SampleRing::Free(SampleRing* ring) {
  if (ring == nullptr) return;
  free(ring->places_);
  delete ring;
}

bool SampleRing::full() const {
  // The tail first: the head is then never too old for it.
  const uint64_t tail = tail_.load() & ~kClosedBit;
  return static_cast<int64_t>(tail - head_.load()) >= capacity_;
}

SampleRing::Pushed SampleRing::Push(const QueuedSample& sample) {
  uint64_t at = tail_.load();
  // A try fails only if tail_ has changed in between: by handlers, as often as they nest, or by
  // MoveTo.
  do {
    if ((at & kClosedBit) != 0) return Pushed::kClosed;
    // If elements came and went in between, head > at: then the exchange will fail.
    const uint64_t head = head_.load(std::memory_order_acquire);
    if (at >= head && at - head >= static_cast<uint64_t>(capacity_)) return Pushed::kFull;
  } while (!tail_.compare_exchange_strong(at, at + 1));
  Place& place = PlaceOf(at);
  std::memcpy(static_cast<void*>(&place.sample), &sample, sizeof sample);
  place.filled.store(at + 1, std::memory_order_release);
  return Pushed::kYes;
}

QueuedSample* SampleRing::At(int64_t n) {
  const uint64_t head = head_.load(), tail = tail_.load() & ~kClosedBit;
  const auto count = static_cast<int64_t>(tail - head);
  if (n < 0) n += count;
  return n < 0 || n >= count ? nullptr : Find(head + static_cast<uint64_t>(n));
}

QueuedSample* SampleRing::Find(uint64_t position) {
  if (position < head_.load()) return nullptr;
  Place& place = PlaceOf(position);
  return place.filled.load(std::memory_order_acquire) == position + 1 ? &place.sample : nullptr;
}

int SampleRing::size() const {
  const uint64_t head = head_.load();
  return static_cast<int>((tail_.load() & ~kClosedBit) - head);
}

int SampleRing::Ready() const {
  const uint64_t head = head_.load(), tail = tail_.load() & ~kClosedBit;
  uint64_t at = head;
  while (at != tail && PlaceOf(at).filled.load(std::memory_order_acquire) == at + 1) at++;
  return static_cast<int>(at - head);
}

void SampleRing::Remove(int count) {
  head_.store(head_.load() + static_cast<uint64_t>(count), std::memory_order_release);
}

bool SampleRing::MoveTo(SampleRing& to) {
  const uint64_t head = head_.load();
  uint64_t tail = tail_.load();
  const auto count = static_cast<int64_t>(tail - head);
  if ((tail & kClosedBit) != 0 || count > to.capacity_ || Ready() != count) return false;
  // Fails if an element has come in between.
  if (!tail_.compare_exchange_strong(tail, tail | kClosedBit)) return false;
  for (uint64_t at = head; at < tail; at++) {
    Place& place = to.PlaceOf(at);
    std::memcpy(static_cast<void*>(&place.sample), &PlaceOf(at).sample, sizeof place.sample);
    place.filled.store(at + 1, std::memory_order_release);
  }
  to.head_.store(head);
  to.released_.store(released_.load());
  to.tail_.store(tail);
  return true;
}

}  // namespace walkhammer::asgst
