// SPDX-License-Identifier: Apache-2.0
// Activations: by what a frame is known again later on, and which frames of a sample are still
// there on a stack that was stopped after it.
// Signal-safe: RecordActivations yes; StoppedStack no.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_ACTIVATIONS_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_ACTIVATIONS_H_

#include <cstdint>
#include <vector>

#include "harness/asgst/walk/java_walk.h"

namespace walkhammer::asgst {

// One physical frame. From when it is called to when it returns its `end` and `method` stay; where
// it stands changes only while it is the newest.
struct Activation {
  uint64_t pc, sp, fp;
  uint64_t end;        // the caller's sp before the call: behind the return address
  uint64_t caller_pc;  // where it returns to
  uint64_t method;     // Method*, not of what is inlined
  uint64_t at_method;  // of the innermost that is inlined at `pc`
  int32_t at_bci;
  uint64_t code;  // where the compiled code begins that it runs; 0: interpreted
  int8_t level;
  bool is_native;
  bool is_top;  // interrupted here
};

struct ActivationChain {
  static constexpr int kMost = 8;
  int32_t count;
  bool reaches_end;  // the last one is the thread's oldest
  uint64_t runner;   // RunnerOf the thread then
  Activation frames[kMost];
};

// Takes down the frames from the newest that has byte codes on: native methods before it are left
// out, as the documents have it for queues. The walk stands before its first frame. False if there
// is no such frame.
bool RecordActivations(JavaWalk& walk, ActivationChain& chain);

// What has become of a sample's frames: the values of asgst_element_state.
enum class ElementState : int {
  kNone = 0,
  kExact = 1,     // the newest is there and stands where it stood
  kMoved = 2,     // it is there and has gone on
  kReturned = 3,  // it is gone; an older one that was recorded is there
  kLost = 4       // none of those recorded is there any more
};

// How to walk on from where a sample was.
struct Located {
  ElementState state = ElementState::kNone;
  int returned = 0;      // so many of the recorded frames, from the newest on, are gone
  bool nothing = false;  // no older frame is left
  JavaWalk::KnownFrame from{};
  bool has_bci = false;  // of the first frame, which has gone on since
  int32_t bci = 0;
};

class StoppedStack {
 public:
  static constexpr int kMost = 1 << 16;  // frames
  // `runner`: as ActivationChain has it, now.
  explicit StoppedStack(uint64_t runner) : runner_(runner) {}
  // Takes down the whole stack. The walk stands before its first frame.
  void Take(JavaWalk& walk);

  Located Locate(const ActivationChain& chain) const;

 private:
  struct Standing {
    Activation frame;
    Registers caller;
  };
  // The frame that ends where this activation did and is of the same method, or null.
  const Standing* Find(const Activation& activation) const;
  // How many of the chain's frames, from the newest on, are gone.
  int CountReturned(const ActivationChain& chain) const;

  const uint64_t runner_;
  std::vector<Standing> frames_;  // newest first: ends ascend
};

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_ACTIVATIONS_H_
