// SPDX-License-Identifier: Apache-2.0
// StackNodes: the sampled stacks of one process, as a tree in memory of fixed size. A node is a
// frame below its caller's node, and counts the walks that ended there; frames are shared by all
// stacks that begin alike. Signal-safe: yes (lock-free atomics; no pointers across).
#ifndef WALKHAMMER_HARNESS_IPC_STACK_NODES_H_
#define WALKHAMMER_HARNESS_IPC_STACK_NODES_H_

#include <atomic>
#include <cstdint>

namespace walkhammer {

struct StackNodes {
  static constexpr int kBits = 21;
  static constexpr uint32_t kPlaces = 1u << kBits;
  static constexpr int kRecentBits = 16;

  // Who is above a node: the root, or the node at a place.
  static constexpr uint32_t kRoot = 1;
  static constexpr uint32_t AtPlace(uint32_t place) { return place + 2; }
  static constexpr uint32_t PlaceOfNode(uint32_t node) { return node - 2; }
  // A frame is an offset into StressState::names. Failed walks are two nodes: the walker's (the
  // frame is kFailedWalk + its index in the walker table), and below it the code's.
  static constexpr uint32_t kFailedWalk = 1u << 31;

  static constexpr uint64_t Key(uint32_t above, uint32_t frame) {
    return static_cast<uint64_t>(above) << 32 | frame;
  }
  static constexpr uint32_t AboveOf(uint64_t key) { return static_cast<uint32_t>(key >> 32); }
  static constexpr uint32_t FrameOf(uint64_t key) { return static_cast<uint32_t>(key); }

  // Page-aligned, so that it can be emptied without being touched.
  alignas(4096) std::atomic<uint64_t> keys[kPlaces];  // 0: free; once set, it stays
  std::atomic<uint32_t> counts[kPlaces];              // of walks; wraps around
  // Where whole stacks that were seen before end: 43 bits of a hash, then the place. 0: none.
  std::atomic<uint64_t> recent[1 << kRecentBits];
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_IPC_STACK_NODES_H_
