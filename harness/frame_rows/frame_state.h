// SPDX-License-Identifier: Apache-2.0
// FrameState: what is known before an instruction about registers and words of the stack, as far as
// they tell where the return address is. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_FRAME_ROWS_FRAME_STATE_H_
#define WALKHAMMER_HARNESS_FRAME_ROWS_FRAME_STATE_H_

#include <cstdint>

#include "harness/frame_rows/frame_rows.h"

namespace walkhammer {

// A value that is followed. Addresses are relative to a base.
struct FrameValue {
  enum class Kind : uint8_t {
    kAny,       // not known
    kEntry,     // address of the return address as the code was entered, + offset
    kFrame,     // frame pointer of an interpreted frame, + offset
    kMoved,     // stack pointer after its newest move by an unknown amount, + offset
    kSender,    // the caller's stack pointer as a register was entered with it, + offset
    kReturn,    // the return address
    kSaved,     // a copy of the return address, saved with other registers
    kCallerFp,  // the caller's frame pointer
    kOfThread   // a word of the thread, in code that is entered by FrameEntry::kPolled
  };
  static constexpr uint8_t kMostMoves = 4;

  Kind kind = Kind::kAny;
  int32_t offset = 0;
  uint8_t move = 0;  // kMoved: which move, below kMostMoves

  bool IsAddress() const { return kind >= Kind::kEntry && kind <= Kind::kSender; }
  bool HasBaseOf(const FrameValue& other) const { return kind == other.kind && move == other.move; }
  bool operator==(const FrameValue&) const = default;
};

class FrameState {
 public:
  static FrameState Entered(FrameEntry how, const FrameCode& code, const FrameRules& rules);

  bool operator==(const FrameState& other) const;
  bool reached() const { return reached_; }
  void Apply(const FrameEffect& effect, const FrameRules& rules);
  void Call(const FrameRules& rules);
  // Keeps what both states say; true: this state has changed. `target` of a join must be reached by
  // some path already, or becomes `from`.
  bool Join(const FrameState& from, const FrameRules& rules);
  bool HasSpOf(const FrameState& other, const FrameRules& rules) const {
    return registers_[rules.sp] == other.registers_[rules.sp];
  }
  // Where paths meet that have moved the stack pointer differently.
  void LoseSp(const FrameRules& rules);
  // Sets what the state tells: places, the caller's stack pointer, why and had_frame.
  void Tell(const FrameRules& rules, FrameRow& row) const;

 private:
  static constexpr int kMostSlots = 8;
  using Kind = FrameValue::Kind;
  struct Slot {
    FrameValue at, holds;
    bool operator==(const Slot&) const = default;
  };

  void Set(FrameRegister to, FrameValue value, const FrameRules& rules);
  bool Uses(uint8_t move) const;
  void MoveByUnknown(const FrameRules& rules);
  void Align(int32_t bytes, const FrameRules& rules);
  void Forget(FrameValue at, int32_t bytes);
  void ForgetFrames();
  void Store(FrameValue at, FrameValue value);
  FrameValue Load(FrameValue at) const;
  void Save(const FrameEffect& effect, const FrameRules& rules);
  void PushNewFrame(const FrameRules& rules);
  bool IsOnStack() const;
  bool Holds(const Slot& slot) const;
  FrameValue Sum(FrameRegister from, int32_t offset) const;
  void DropSlot(int i) { slots_[i] = slots_[--count_]; }
  bool FindFrom(FrameValue from, Kind kind, int32_t& distance) const;
  bool FindIn(FrameRegister base, Kind kind, int32_t& distance) const {
    return FindFrom(registers_[base], kind, distance);
  }
  bool LocateThroughMemory(const FrameRules& rules, FrameRow& row) const;
  FrameSender SenderOf(const FrameRules& rules) const;
  bool Locate(const FrameRules& rules, FrameRow& row) const;

  bool reached_ = false;
  bool had_frame_ = false;
  bool replaces_return_ = false, replaces_frames_ = false;  // as of FrameCode
  bool polled_ = false;     // a field of the thread has the return address
  bool aligned_ = false;    // the caller's stack pointer is a multiple of 16
  bool reframed_ = false;   // the caller's frame has been removed
  bool replaced_ = false;   // another return address is in place of the first, on some path
  bool disagrees_ = false;  // paths have disagreed on the way here
  int count_ = 0;
  FrameValue sender_;  // the caller's stack pointer, an address; kAny: not known
  FrameValue registers_[kFrameRegisters];
  Slot slots_[kMostSlots];
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_FRAME_ROWS_FRAME_STATE_H_
