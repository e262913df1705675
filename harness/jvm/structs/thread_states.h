// SPDX-License-Identifier: Apache-2.0
// ThreadStates: the numbers of JavaThreadState. walkhammer numbers the states as JDK 8 to 27 do;
// JDK 28 has other numbers, and no transition states (*_trans). Source: vmStructs' constants
// _thread_new, ..., _thread_blocked_trans. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_JVM_STRUCTS_THREAD_STATES_H_
#define WALKHAMMER_HARNESS_JVM_STRUCTS_THREAD_STATES_H_

#include <cstdint>

namespace walkhammer {

struct ThreadStates {
  static constexpr int kCount = 12;
  // The JVM's number of each state, indexed by walkhammer's number; -1: this JVM has no such state.
  int8_t values[kCount] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

  // True if no other thread changes the stack and the anchor of a thread in `state` whose
  // last_Java_sp is `last_sp`, because the thread must reach a safepoint first. In a JVM without
  // transition states, a thread with a set anchor may be at a safepoint already: JDK 28's native
  // wrappers and ThreadInVMfromNative set in_Java or in_vm while the anchor is still set, and only
  // then check whether a safepoint has begun.
  bool StandsStill(uint8_t state, uint64_t last_sp) const {
    constexpr uint8_t kInNativeTrans = 5, kInVm = 6, kInJava = 8;
    return (state == kInVm || state == kInJava) && (last_sp == 0 || values[kInNativeTrans] >= 0);
  }

  // This JVM's number of a state with walkhammer's number. If this JVM has no such state, or the
  // number is not that of a state: a number that is no state in this JVM.
  int32_t ValueOf(uint8_t state) const {
    if (state < kCount && values[state] >= 0) return values[state];
    return state < kCount ? kNone + state : state;
  }

  // The reverse of ValueOf: walkhammer's number of a state with this JVM's number.
  uint8_t StateOf(int32_t value) const {
    for (int state = 0; state < kCount; state++)
      if (values[state] == value) return static_cast<uint8_t>(state);
    if (value >= kNone && value < kNone + kCount && values[value - kNone] < 0)
      return static_cast<uint8_t>(value - kNone);
    return static_cast<uint8_t>(value >= 0 && value < kCount ? kNone + value : value);
  }

 private:
  static constexpr int kNone = 64;  // greater than any JVM's number of a state
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_STRUCTS_THREAD_STATES_H_
