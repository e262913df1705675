// SPDX-License-Identifier: Apache-2.0
// How long walks take, as counts in slots of time: 16 slots for each doubling, so a slot is 3 % to
// 6 % wide. Walks of stress runs count by their number of frames, too: a program meets deep stacks
// more or less often from run to run. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_BASE_WALK_TIME_H_
#define WALKHAMMER_HARNESS_BASE_WALK_TIME_H_

#include <algorithm>
#include <bit>
#include <cstdint>

namespace walkhammer {

inline constexpr int kTimeSlotsPerDoubling = 16;
inline constexpr int kFirstTimeDoubling = 6;                   // the first slot begins at 2^6 ns
inline constexpr int kTimeSlots = 18 * kTimeSlotsPerDoubling;  // the last ends at 2^24 ns

// Slot of a walk that took `ns` nanoseconds. Shorter walks than the first slot's count there,
// longer ones than the last slot's there.
constexpr int TimeSlotOf(uint64_t ns) {
  if (ns < uint64_t{1} << kFirstTimeDoubling) return 0;
  const int doubling = std::bit_width(ns) - 1;
  const auto part = static_cast<int>((ns >> (doubling - 4)) & (kTimeSlotsPerDoubling - 1));
  return std::min((doubling - kFirstTimeDoubling) * kTimeSlotsPerDoubling + part, kTimeSlots - 1);
}

// The least time of a slot, in nanoseconds; slot 0 to kTimeSlots.
constexpr uint64_t TimeSlotBegin(int slot) {
  const int doubling = kFirstTimeDoubling + slot / kTimeSlotsPerDoubling;
  return static_cast<uint64_t>(kTimeSlotsPerDoubling + slot % kTimeSlotsPerDoubling)
         << (doubling - 4);
}

inline constexpr int kDepthClasses = 8;  // at most 1 frame, 2 and 3, 4 to 7, and so on; 128 or more

constexpr int DepthClassOf(int frames) {
  const auto least = static_cast<unsigned>(std::max(frames, 1));
  return std::min(static_cast<int>(std::bit_width(least)) - 1, kDepthClasses - 1);
}

// The least number of frames of a class.
constexpr int LeastFrames(int depth_class) { return 1 << depth_class; }

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_WALK_TIME_H_
