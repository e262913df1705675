// SPDX-License-Identifier: Apache-2.0
#include "stress/stack_table.h"

#include <algorithm>

#include "harness/base/hash.h"

namespace walkhammer::stress {
namespace {

constexpr int kMostFrames = 512;  // of a stack, newest first; deeper stacks are truncated
constexpr uint32_t kMostProbes = 64;
constexpr uint32_t kNone = 0;

// The node of `frame` below `above`, made if new; kNone: there is no room.
uint32_t Child(StackNodes& nodes, uint32_t above, uint32_t frame) {
  const uint64_t key = StackNodes::Key(above, frame);
  const auto first = static_cast<uint32_t>(PlaceOf(Scramble(key), StackNodes::kBits));
  for (uint32_t probe = 0; probe < kMostProbes; probe++) {
    const uint32_t place = (first + probe) % StackNodes::kPlaces;
    uint64_t there = nodes.keys[place].load(std::memory_order_acquire);
    if (there == 0 && nodes.keys[place].compare_exchange_strong(there, key)) there = key;
    if (there == key) return StackNodes::AtPlace(place);
  }
  return kNone;
}

void CountAt(StressState& state, uint32_t node, bool whole) {
  if (!whole) state.dropped_stacks.fetch_add(1, std::memory_order_relaxed);
  std::atomic<uint32_t>& count = node == StackNodes::kRoot
                                     ? state.rootless_stacks
                                     : state.stacks.counts[StackNodes::PlaceOfNode(node)];
  count.fetch_add(1, std::memory_order_relaxed);
}

void CountFailure(StressState& state, int code, uint8_t walker) {
  const uint32_t above = Child(state.stacks, StackNodes::kRoot, StackNodes::kFailedWalk + walker);
  const uint32_t node =
      above == kNone ? kNone : Child(state.stacks, above, static_cast<uint32_t>(code));
  CountAt(state, node == kNone ? StackNodes::kRoot : node, node != kNone);
}

}  // namespace

void CountStack(StressState& state, const MethodRegistry& methods, const Trace& trace, int code,
                uint8_t walker) {
  if (trace.ending != Ending::kReturned || trace.num_frames <= 0)
    return CountFailure(state, code, walker);
  const int frames = std::min(trace.num_frames, kMostFrames);
  uint64_t hash = 0x51ed270b;
  for (int i = 0; i < frames; i++) hash = Mix(hash, trace.frames[i].method);
  // The same methods again: their nodes need not be looked for one by one.
  std::atomic<uint64_t>& recent = state.stacks.recent[PlaceOf(hash, StackNodes::kRecentBits)];
  const uint64_t tag = hash << StackNodes::kBits;
  const uint64_t known = recent.load(std::memory_order_relaxed);
  constexpr uint64_t kPlaceMask = StackNodes::kPlaces - 1;
  if (known != 0 && (known & ~kPlaceMask) == tag)
    return CountAt(state, StackNodes::AtPlace(static_cast<uint32_t>(known & kPlaceMask)), true);
  uint32_t node = StackNodes::kRoot;
  for (int i = frames; i-- > 0;) {
    const MethodEntry* method = methods.Find(trace.frames[i].method);
    const uint32_t below =
        Child(state.stacks, node, method == nullptr ? 0 : methods.NameOffset(method->name));
    if (below == kNone) return CountAt(state, node, false);
    node = below;
  }
  recent.store(tag | StackNodes::PlaceOfNode(node), std::memory_order_relaxed);
  CountAt(state, node, true);
}

}  // namespace walkhammer::stress
