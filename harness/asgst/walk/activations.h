// SPDX-License-Identifier: Apache-2.0
// Activation: what identifies a frame later on. StoppedStack: which frames of a sample are still on
// a stack that was stopped after the sample. RecordedFrames: the frames of a sample.
// Signal-safe: RecordActivations yes; the rest no.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_ACTIVATIONS_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_ACTIVATIONS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "harness/asgst/walk/java_walk.h"

namespace walkhammer::asgst {

// One physical frame. `end` and `method` stay the same from its call to its return; its place in
// the code changes only while it is the newest frame.
struct Activation {
  // Its pc, the first instruction of its compiled code (0: interpreted), and, if `at_inlined`, what
  // identifies the place later on (offset 0: nothing).
  JavaWalk::ScopePlace place;
  uint64_t sp, fp;     // 0: deoptimisation has yet to lay the frame out
  uint64_t end;        // sp', the caller's sp; 0: unknown
  uint64_t caller_pc;  // return address
  uint64_t method;     // Method* of the frame, not of an inlined method
  uint64_t at_method;  // Method* of the innermost method at `pc`, inlined or not
  int32_t at_bci;
  int8_t level;
  bool is_native;
  bool at_inlined;  // `at_method` is inlined
};

struct ActivationChain {
  static constexpr int kMost = 8;
  int32_t count;
  bool reaches_end;  // the last frame is the thread's oldest
  bool has_caller;   // frames[count] is the last frame's caller, which is not one of the chain
  uint64_t runner;   // RunnerOf() of the thread at that time
  Activation frames[kMost + 1];
};

// Records up to kMost frames, from the newest frame that has bytecodes on: newer native methods
// are left out, as the documentation of queues says. `walk` must be before its first frame. False
// if there is no such frame.
bool RecordActivations(JavaWalk& walk, ActivationChain& chain);
// A range of Activation::end. EndsOf: that of a chain's frames, its caller included. A StoppedStack
// of only these frames locates the chain as one of all frames does.
struct EndRange {
  uint64_t first, last;
};
EndRange EndsOf(const ActivationChain& chain);

// What has become of a sample's frames: the values of asgst_element_state.
enum class ElementState : int {
  kNone = 0,
  kExact = 1,     // the newest frame is still there, at the same bytecode
  kMoved = 2,     // the newest frame is still there, at another bytecode
  kReturned = 3,  // the newest frame is gone; an older recorded frame is still there
  kLost = 4       // no recorded frame is there any more
};

// Which frames of a sample RecordedFrames() gives, and what comes after them.
struct Located {
  enum class Then { kEnd, kUnknown, kCaller };

  ElementState state = ElementState::kNone;
  int returned = 0;       // number of recorded frames, from the newest on, that are gone
  int recorded = 0;       // number given, from the newest on: those gone and the next one
  bool in_place = false;  // the last of them is there, interpreted or in the code that it was in
  // After them: kEnd: nothing, the last is the thread's oldest; kUnknown: unknown frames; kCaller:
  // the frame at `caller`.
  Then then = Then::kEnd;
  Registers caller{};
};

// The `located.recorded` newest frames of `chain` as they were at the sample, with the methods that
// were inlined into them. Frames that are not there any more have neither sp nor fp. Where the
// compiled code of a frame is gone, all inlined methods but the innermost are left out, and the bci
// of the frame's own method is -1. `start`: of the chain's thread.
std::vector<JavaFrame> RecordedFrames(const WalkLayout& layout, const MemoryReader& memory,
                                      const WalkStart& start, const ActivationChain& chain,
                                      const Located& located);

class StoppedStack {
 public:
  static constexpr int kMost = 1 << 16;  // frames
  // `runner`: RunnerOf() of the stopped thread.
  explicit StoppedStack(uint64_t runner) : runner_(runner) {}
  // Records the frames in these ranges, which ascend by `first`; all others may be missing. `walk`
  // must be before its first frame.
  void Take(JavaWalk& walk, std::span<const EndRange> ranges);

  Located Locate(const ActivationChain& chain) const;

 private:
  struct Standing {
    Activation frame;
    Registers caller;
  };
  // The recorded frame of the same end and method as `activation`; null: none.
  const Standing* Find(const Activation& activation) const;
  const Standing* FindCallee(const Activation& activation, const Standing* caller) const;
  // Number of the chain's frames, from the newest on, that are gone.
  int CountReturned(const ActivationChain& chain, const Standing*& newest) const;

  const uint64_t runner_;
  std::vector<Standing> frames_;  // newest first: `end` ascends
};

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_ACTIVATIONS_H_
