// SPDX-License-Identifier: Apache-2.0
// WalkEnd: why a walk returned no more frames than it did. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_BASE_WALK_END_H_
#define WALKHAMMER_HARNESS_BASE_WALK_END_H_

#include <cstdint>

namespace walkhammer {

// Append only: C users have the numbers (ASGST_WALK_END_ in asgst.h), runs the words.
enum class WalkEnd : uint8_t {
  kUntold,         // the walk goes on, or its walker does not tell
  kWhole,          // at the oldest Java frame
  kGuessed,        // as kWhole, but at least one frame was searched for, not derived
  kDepth,          // the buffer is full
  kOption,         // an option ended the walk
  kNoJava,         // the thread has no Java frame
  kState,          // the thread's state is none in which threads are walked
  kDeopt,          // interpreted frames are just replacing a compiled frame
  kAnchor,         // the thread's anchor holds no valid sp or pc
  kNoTop,          // the newest Java frame was not found
  kUpcall,         // code through which C called Java (FFM), whose frame is not known
  kReturnBarrier,  // a virtual thread's older frames are in the heap, and its carrier's not found
  kUnknownStub,    // a stub whose frame is not known
  kUnreadable,     // a word that the walk needs is outside of the stack, or cannot be read
  kNoCaller,       // the return address does not lead into generated code
  kNoMethod,       // a frame's method or debug information makes no sense
  kCount
};
inline constexpr int kWalkEnds = static_cast<int>(WalkEnd::kCount);

// "whole", "guessed", ...; "?" for other values.
constexpr const char* WalkEndWord(WalkEnd end) {
  constexpr const char* kWords[kWalkEnds] = {
      "untold",       "whole",      "guessed",   "depth",    "option", "no-java",
      "state",        "deopt",      "anchor",    "no-top",   "upcall", "return-barrier",
      "unknown-stub", "unreadable", "no-caller", "no-method"};
  return end < WalkEnd::kCount ? kWords[static_cast<int>(end)] : "?";
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_WALK_END_H_
