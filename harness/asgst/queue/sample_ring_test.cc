// SPDX-License-Identifier: Apache-2.0
// SampleRing without a JVM.
#include "harness/asgst/queue/sample_ring.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <thread>

namespace walkhammer::asgst {
namespace {

using Pushed = SampleRing::Pushed;

struct FreeRing {
  void operator()(SampleRing* ring) const { SampleRing::Free(ring); }
};
using Ring = std::unique_ptr<SampleRing, FreeRing>;

QueuedSample Sample(intptr_t tag) {
  QueuedSample sample{};
  sample.element.arg = reinterpret_cast<void*>(tag);
  sample.chain.count = static_cast<int32_t>(tag);
  return sample;
}
intptr_t TagAt(SampleRing& ring, int64_t n) {
  const QueuedSample* sample = ring.At(n);
  return sample == nullptr ? -1 : reinterpret_cast<intptr_t>(sample->element.arg);
}

TEST(SampleRing, RefusesSizesThatMakeNoSense) {
  EXPECT_EQ(SampleRing::Make(0), nullptr);
  EXPECT_EQ(SampleRing::Make(-3), nullptr);
  EXPECT_EQ(SampleRing::Make(SampleRing::kMostCapacity + 1), nullptr);
  EXPECT_NE(Ring(SampleRing::Make(SampleRing::kMostCapacity)), nullptr);
}

TEST(SampleRing, KeepsOrderWhileItGoesRound) {
  const Ring ring(SampleRing::Make(3));
  intptr_t next = 0, expected = 0;
  for (int round = 0; round < 10; round++) {
    while (ring->Push(Sample(next)) == Pushed::kYes) next++;
    EXPECT_EQ(ring->size(), 3);
    EXPECT_EQ(ring->Ready(), 3);
    // Some elements are taken out, so that the ring wraps in the middle.
    const int taken = 1 + round % 3;
    for (int i = 0; i < taken; i++) EXPECT_EQ(TagAt(*ring, i), expected++);
    ring->Remove(taken);
    EXPECT_EQ(ring->size(), 3 - taken);
  }
}

TEST(SampleRing, AFullOneTakesNothingAndLosesNothing) {
  const Ring ring(SampleRing::Make(2));
  EXPECT_EQ(ring->Push(Sample(1)), Pushed::kYes);
  EXPECT_EQ(ring->Push(Sample(2)), Pushed::kYes);
  EXPECT_EQ(ring->Push(Sample(3)), Pushed::kFull);
  EXPECT_EQ(TagAt(*ring, 0), 1);
  EXPECT_EQ(TagAt(*ring, 1), 2);
  ring->Remove(1);
  EXPECT_EQ(ring->Push(Sample(4)), Pushed::kYes);
  EXPECT_EQ(TagAt(*ring, -1), 4);
}

TEST(SampleRing, ElementsFromBothEndsAndTheirBounds) {
  const Ring ring(SampleRing::Make(4));
  EXPECT_EQ(ring->At(0), nullptr);
  EXPECT_EQ(ring->At(-1), nullptr);
  for (int i = 0; i < 3; i++) ring->Push(Sample(i));
  for (int i = 0; i < 3; i++) {
    EXPECT_EQ(TagAt(*ring, i), i);
    EXPECT_EQ(ring->At(i - 3), ring->At(i));
  }
  for (const int64_t n : {int64_t{3}, int64_t{-4}, int64_t{INT32_MIN}, int64_t{INT32_MAX}})
    EXPECT_EQ(ring->At(n), nullptr) << n;
}

// An element that was taken out is not mistaken for the one that has its place now.
TEST(SampleRing, ElementsKeepTheirPositions) {
  const Ring ring(SampleRing::Make(2));
  ring->Push(Sample(10));
  ring->Push(Sample(11));
  const uint64_t first = ring->first();
  EXPECT_EQ(ring->Find(first + 1), ring->At(1));
  EXPECT_EQ(ring->Find(first + 2), nullptr) << "none yet";
  ring->Remove(1);
  ring->Push(Sample(12));
  EXPECT_EQ(ring->first(), first + 1);
  EXPECT_EQ(ring->Find(first), nullptr) << "taken out, though its place is filled";
  EXPECT_EQ(ring->Find(first + 2), ring->At(-1));
}

TEST(SampleRing, AnArgCanBeChanged) {
  const Ring ring(SampleRing::Make(2));
  ring->Push(Sample(1));
  ring->At(-1)->element.arg = reinterpret_cast<void*>(9);
  EXPECT_EQ(TagAt(*ring, 0), 9);
}

TEST(SampleRing, MovesWithItsElementsAndTheirPositions) {
  const Ring ring(SampleRing::Make(3)), small(SampleRing::Make(1)), large(SampleRing::Make(4));
  for (int i = 0; i < 3; i++) ring->Push(Sample(i));
  ring->Remove(1);
  ring->Release(2);
  const uint64_t first = ring->first();
  EXPECT_FALSE(ring->MoveTo(*small)) << "has no room for two";
  EXPECT_EQ(ring->Push(Sample(3)), Pushed::kYes);
  EXPECT_TRUE(ring->MoveTo(*large));
  EXPECT_EQ(ring->Push(Sample(4)), Pushed::kClosed);
  EXPECT_EQ(TagAt(*ring, 0), 1) << "a handler may hold it";
  EXPECT_EQ(large->Push(Sample(5)), Pushed::kYes);
  EXPECT_EQ(large->Push(Sample(6)), Pushed::kFull);
  for (int i = 0; i < 3; i++) EXPECT_EQ(TagAt(*large, i), i + 1);
  EXPECT_EQ(TagAt(*large, 3), 5);
  EXPECT_EQ(large->first(), first);
  EXPECT_EQ(large->released(), 2u);
  EXPECT_EQ(ring->end(), first + 3);
}

TEST(SampleRing, AnEmptyRingMoves) {
  const Ring ring(SampleRing::Make(2)), other(SampleRing::Make(1));
  ring->Push(Sample(1));
  ring->Remove(1);
  EXPECT_TRUE(ring->MoveTo(*other));
  EXPECT_EQ(ring->Push(Sample(3)), Pushed::kClosed);
  EXPECT_EQ(ring->size(), 0);
  EXPECT_EQ(ring->Ready(), 0);
  EXPECT_EQ(ring->At(-1), nullptr);
  EXPECT_EQ(other->size(), 0);
  EXPECT_EQ(other->Push(Sample(4)), Pushed::kYes);
  EXPECT_EQ(TagAt(*other, -1), 4);
}

// --- one thread puts in, its handlers too, another takes out ---

SampleRing* nested_ring = nullptr;
std::atomic<intptr_t> nested_pushed{0};
constexpr intptr_t kNested = 1'000'000;  // tags of handlers begin here

void PushInHandler(int) {
  const int error_number = errno;
  // SIGUSR1 is blocked in its own handler, so this handler does not nest.
  if (nested_ring->Push(Sample(kNested + nested_pushed)) == Pushed::kYes) nested_pushed++;
  errno = error_number;
}

TEST(SampleRing, SignalsInTheMiddleOfAPushLoseNothing) {
  constexpr intptr_t kPushes = 5'000;
  const Ring ring(SampleRing::Make(64));
  nested_ring = ring.get();
  nested_pushed = 0;
  bool whole = true, in_order = true;
  struct sigaction action {
  }, before{};
  action.sa_handler = PushInHandler;
  sigaction(SIGUSR1, &action, &before);
  std::atomic<bool> pushing{true};
  intptr_t seen = 0, seen_nested = 0;
  const pthread_t pusher = pthread_self();
  const auto take = [&] {
    const int ready = ring->Ready();
    for (int i = 0; i < ready; i++) {
      const QueuedSample* sample = ring->At(i);
      const auto tag = reinterpret_cast<intptr_t>(sample->element.arg);
      whole = whole && sample->chain.count == static_cast<int32_t>(tag);
      intptr_t& expected = tag >= kNested ? seen_nested : seen;
      in_order = in_order && tag % kNested == expected;
      expected++;
    }
    ring->Remove(ready);
  };
  std::thread taker([&] {
    for (; pushing; pthread_kill(pusher, SIGUSR1)) take();
  });
  for (intptr_t i = 0; i < kPushes;)
    if (ring->Push(Sample(i)) == Pushed::kYes) i++;
  pushing = false;
  taker.join();
  sigaction(SIGUSR1, &before, nullptr);
  take();
  EXPECT_TRUE(whole);
  EXPECT_TRUE(in_order);
  EXPECT_EQ(seen, kPushes);
  EXPECT_EQ(seen_nested, nested_pushed);
  EXPECT_GT(seen_nested, 0);
}

}  // namespace
}  // namespace walkhammer::asgst
