// SPDX-License-Identifier: Apache-2.0
// ThreadStates: JavaThreadState's numbers. walkhammer calls a state by the number that it has in
// JDK 8 to 27; JDK 28 has others, and no state for being on the way between two. Source: vmStructs'
// constants _thread_new, ..., _thread_blocked_trans. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_JVM_STRUCTS_THREAD_STATES_H_
#define WALKHAMMER_HARNESS_JVM_STRUCTS_THREAD_STATES_H_

#include <cstdint>

namespace walkhammer {

struct ThreadStates {
  static constexpr int kCount = 12;
  // By our number; -1: this JVM has no such state.
  int8_t values[kCount] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

  // Whether others leave the stack and the anchor of a thread in `state` alone, whose last_Java_sp
  // is `last_sp`: it would have to come to a safepoint first. Where no state tells of the way
  // there, it may have come to one: JDK 28's native wrappers and ThreadInVMfromNative make it
  // in_Java or in_vm, its anchor still set, and only then look whether one has begun.
  bool StandsStill(uint8_t state, uint64_t last_sp) const {
    constexpr uint8_t kInNativeTrans = 5, kInVm = 6, kInJava = 8;
    return (state == kInVm || state == kInJava) && (last_sp == 0 || values[kInNativeTrans] >= 0);
  }

  // What this JVM writes for a state of ours; for one that it does not have, and for a number of
  // ours that is none: a number that is none in this JVM.
  int32_t ValueOf(uint8_t state) const {
    if (state < kCount && values[state] >= 0) return values[state];
    return state < kCount ? kNone + state : state;
  }

  // The reverse.
  uint8_t StateOf(int32_t value) const {
    for (int state = 0; state < kCount; state++)
      if (values[state] == value) return static_cast<uint8_t>(state);
    if (value >= kNone && value < kNone + kCount && values[value - kNone] < 0)
      return static_cast<uint8_t>(value - kNone);
    return static_cast<uint8_t>(value >= 0 && value < kCount ? kNone + value : value);
  }

 private:
  static constexpr int kNone = 64;  // no JVM has that many
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_STRUCTS_THREAD_STATES_H_
