// SPDX-License-Identifier: Apache-2.0
// FrozenStack: the frames of a mounted virtual thread that are still in the heap, in objects of
// jdk.internal.vm.StackChunk. A chunk holds words as a stack does, with sp as an index. Links of
// interpreted frames are distances in words. Source: stackChunkOop.inline.hpp,
// stackChunkFrameStream_x86.inline.hpp, stackChunkFrameStream_aarch64.inline.hpp. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_FROZEN_STACK_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_FROZEN_STACK_H_

#include <cstdint>

#include "harness/asgst/walk/layout.h"
#include "harness/base/trace.h"
#include "harness/jvm/structs/memory.h"

namespace walkhammer::asgst {

class FrozenStack {
 public:
  enum class Step {
    kFrame,  // `at` is that of a frame
    kEnd,    // no older frame is in the heap
    kLost,   // what was read makes no sense, or a collector may have moved it
  };

  // `layout` and `memory` must outlive the object.
  FrozenStack(const WalkLayout& layout, const MemoryReader& memory)
      : layout_(layout), memory_(memory) {}

  // Moves to the newest frozen frame of the continuation that was entered at `entry`. `may_move`:
  // the thread does not hold up safepoints, at which collectors move objects.
  Step Begin(uint64_t entry, bool may_move, Registers& at);
  // Moves from the frame at `at` to its caller. `frame_words`: of compiled code.
  Step Up(int32_t frame_words, Registers& at);
  void Leave() { low_ = end_ = 0; }
  // True while the walk is at a frozen frame.
  bool active() const { return end_ != 0; }
  // False if a collector may have moved the frame since Begin().
  bool Holds() const { return !active() || !MayHaveMoved(); }
  // Reads a word of the current chunk.
  bool Word(uint64_t address, uint64_t& word) const {
    return address - low_ < end_ - low_ && (address & 7) == 0 && memory_.ReadWord(address, word);
  }

 private:
  bool Reference(uint64_t object, int offset, uint64_t& found) const;
  bool FindContinuation(uint64_t entry, uint64_t& found) const;
  bool MayHaveMoved() const;
  Step Open(uint64_t chunk, Registers& at);
  Step MoveTo(uint64_t slots_end, uint64_t sp, Registers& at);

  const WalkLayout& layout_;
  const MemoryReader& memory_;
  uint64_t chunk_ = 0;
  uint64_t low_ = 0, end_ = 0;  // the words of its frames
  uint64_t last_ = 0;           // MoveTo()'s newest `slots_end` in this chunk: they ascend
  int chunks_ = 0;              // chunks so far
  bool may_move_ = false;
  uint64_t safepoints_ = 0;  // value of the JVM's counter at the start
};

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_FROZEN_STACK_H_
