// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/walk/frozen_stack.h"

#include <atomic>

namespace walkhammer::asgst {
namespace {

// ContinuationEntry::_parent and _cont, as found in JDK 21 to 28: a word that is not always set
// comes first.
constexpr uint64_t kParent = 8, kContinuation = 16;
constexpr uint64_t kMostOfStack = 1 << 30;  // bytes
constexpr int kMostChunks = 256;
constexpr int32_t kMostStackWords = 1 << 27;  // 1 GiB, the most that a stack may have
// Bytes of a frame's saved fp and return address, which lie below its caller's sp.
constexpr uint64_t kLinks = 16;
// frame::interpreter_frame_locals_offset, bytes from fp: the distance of the first local variable
// (frame_x86.hpp, frame_aarch64.hpp).
constexpr uint64_t kLocals = static_cast<uint64_t>(-7 * 8);

}  // namespace

// Reads the reference in an object's field; 0: null.
bool FrozenStack::Reference(uint64_t object, int offset, uint64_t& found) const {
  const ChunkLayout& l = layout_.chunks;
  const uint64_t field = object + static_cast<uint64_t>(offset);
  if (!l.is_narrow) return memory_.ReadWord(field, found);
  uint32_t narrow = 0;
  if (!memory_.Read(field, narrow)) return false;
  found = narrow == 0 ? 0 : l.narrow_base + (static_cast<uint64_t>(narrow) << l.narrow_shift);
  return true;
}

// The counter is odd while there is a safepoint.
bool FrozenStack::MayHaveMoved() const {
  uint64_t now = 0;
  if (!may_move_) return false;
  std::atomic_thread_fence(std::memory_order_acquire);
  return !memory_.ReadWord(layout_.chunks.safepoints_at, now) || now != safepoints_;
}

// Finds the object of the continuation that was entered at `entry`. An entry without a parent is
// its thread's oldest.
bool FrozenStack::FindContinuation(uint64_t entry, uint64_t& found) const {
  uint64_t parent = 0;
  return memory_.ReadWord(entry + kParent, parent) &&
         (parent == 0 || (parent > entry && parent - entry < kMostOfStack)) &&
         memory_.ReadWord(entry + kContinuation, found) && found != 0;
}

FrozenStack::Step FrozenStack::Begin(uint64_t entry, bool may_move, Registers& at) {
  const ChunkLayout& l = layout_.chunks;
  uint64_t continuation = 0, chunk = 0;
  Leave();
  chunks_ = 0;
  if (l.stack <= 0) return Step::kEnd;
  may_move_ = may_move;
  if (may_move) {
    if (l.safepoints_at == 0 || !memory_.ReadWord(l.safepoints_at, safepoints_)) return Step::kEnd;
    if (safepoints_ % 2 != 0) return Step::kLost;
    std::atomic_thread_fence(std::memory_order_acquire);
  }
  if (!FindContinuation(entry, continuation) || !Reference(continuation, l.tail, chunk))
    return Step::kLost;
  return Open(chunk, at);
}

// Moves to the newest frame of `chunk` or, if that has none, of an older chunk.
FrozenStack::Step FrozenStack::Open(uint64_t chunk, Registers& at) {
  const ChunkLayout& l = layout_.chunks;
  for (; chunks_ < kMostChunks; chunks_++) {
    int32_t size = 0, sp = 0, bottom = 0;
    const auto field = [&](int offset, int32_t& value) {
      return memory_.Read(chunk + static_cast<uint64_t>(offset), value);
    };
    if (chunk == 0) return MayHaveMoved() ? Step::kLost : Step::kEnd;
    if (!field(l.size, size) || !field(l.sp, sp) || !field(l.bottom, bottom)) return Step::kLost;
    if (size < 0 || size > kMostStackWords || sp < 0 || sp > size || bottom < 0 || bottom > size)
      return Step::kLost;
    if (sp < bottom) {
      chunk_ = chunk;
      low_ = chunk + static_cast<uint64_t>(l.stack);
      end_ = low_ + 8 * static_cast<uint64_t>(bottom);
      last_ = 0;
      const uint64_t top = low_ + 8 * static_cast<uint64_t>(sp);
      return MoveTo(top, top, at);
    }
    if (!Reference(chunk, l.parent, chunk)) return Step::kLost;
  }
  return Step::kLost;
}

// Moves to the frame at `sp`, whose callee has its links below `slots_end`:
// pc = [slots_end - 8]; interpreted: fp = slots_end - 16 + 8 * [slots_end - 16].
FrozenStack::Step FrozenStack::MoveTo(uint64_t slots_end, uint64_t sp, Registers& at) {
  uint64_t pc = 0, link = 0;
  const uint64_t slots = slots_end - kLinks;
  // The newest frame's links may be below the words of its chunk's frames, never below the object.
  if (slots < chunk_ || slots_end <= last_ || slots_end > end_ ||
      !memory_.ReadWord(slots + 8, pc) || !memory_.ReadWord(slots, link) || MayHaveMoved())
    return Step::kLost;
  last_ = slots_end;
  at = {pc & layout_.rules->address_mask, sp, 0, 0};
  if (!layout_.code.InInterpreter(at.pc)) return Step::kFrame;
  at.fp = slots + 8 * link;
  return at.fp > slots && at.fp < end_ ? Step::kFrame : Step::kLost;
}

// Compiled: sp' = sp + size. Interpreted: sp' = fp + 8 * [fp + sender_sp], and the links are at fp.
// The oldest frame of a chunk ends at the chunk's end.
FrozenStack::Step FrozenStack::Up(int32_t frame_words, Registers& at) {
  uint64_t sp = at.sp + 8 * static_cast<uint64_t>(frame_words), slots_end = sp, word = 0;
  bool is_last = sp + kLinks >= end_;
  if (layout_.code.InInterpreter(at.pc)) {
    if (!Word(at.fp + kLocals, word)) return Step::kLost;
    is_last = at.fp + 8 * word + 8 >= end_;
    if (!Word(at.fp + static_cast<uint64_t>(static_cast<int64_t>(layout_.sender_sp)), word))
      return Step::kLost;
    sp = at.fp + 8 * word;
    slots_end = at.fp + kLinks;
  } else if (frame_words <= 0) {
    return Step::kLost;
  }
  if (!is_last) return MoveTo(slots_end, sp, at);
  uint64_t parent = 0;
  if (!Reference(chunk_, layout_.chunks.parent, parent) || MayHaveMoved()) return Step::kLost;
  chunks_++;
  Leave();
  return Open(parent, at);
}

}  // namespace walkhammer::asgst
