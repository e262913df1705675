// SPDX-License-Identifier: Apache-2.0
#include "stress/stepped_stack.h"

#include <algorithm>

namespace walkhammer::stress {
namespace {

using Caller = SteppedCall::Caller;

constexpr uint64_t kSlotBytes = 8;
constexpr uint64_t kMostAligned = 64;        // bytes by which an adapter without arguments moves sp
constexpr uint64_t kLargestFrame = 1 << 20;  // bytes of an interpreted frame, and more

bool IsInterpreter(SteppedCode code) {
  return code == SteppedCode::kByteCode || code == SteppedCode::kInterpreter;
}

bool IsStub(SteppedCode code) {
  return code == SteppedCode::kStub || code == SteppedCode::kReframing;
}

bool IsBehind(uint64_t pc, uint64_t next) { return next > pc && next - pc <= kLongestInstruction; }

}  // namespace

void SteppedStack::Reset() {
  has_before_ = false;
  count_ = 0;
}

void SteppedStack::Add(const SteppedCall& call) {
  if (count_ == kMostCalls) {
    constexpr int kForgotten = kMostCalls / 2;
    std::copy(calls_ + kForgotten, calls_ + kMostCalls, calls_);
    count_ -= kForgotten;
  }
  calls_[count_++] = call;
}

// Notes that there may be frames above the newest call that no call has made. They end, at the
// latest, where that call returns. Below the oldest call all is unknown anyway.
void SteppedStack::AddUnknown() {
  if (count_ > 0 && Top()->is_away) count_--;
  const SteppedCall* top = Top();
  if (top == nullptr || top->caller == Caller::kUnknown) return;
  SteppedCall unknown;
  unknown.caller = Caller::kUnknown;
  unknown.slot = top->slot;
  Add(unknown);
}

// True if the instruction before leads here. If not, it has faulted, and the handler of the fault
// has sent the thread elsewhere: to a stub that may build frames as if it had been called.
bool SteppedStack::IsExplained(const SteppedPoint& at) const {
  switch (before_.op) {
    case StepOp::kCall:
      return at.sp + kSlotBytes == before_.sp && IsBehind(before_.pc, at.top);
    case StepOp::kReturn:
      return at.sp > before_.sp && at.pc == before_.top;
    case StepOp::kJump:
    case StepOp::kJumpIndirect:
      return at.sp == before_.sp;
    default:
      return at.pc == before_.pc || IsBehind(before_.pc, at.pc);
  }
}

// True if an nmethod has jumped elsewhere before it has removed its frame, as with an exception on
// its way to a handler: that frame is nobody's caller by a call.
bool SteppedStack::LeavesFrame(const SteppedPoint& at) const {
  return before_.code == SteppedCode::kCompiled && count_ > 0 && at.sp < calls_[count_ - 1].slot &&
         !code_.InSameNmethod(before_.pc, at.pc);
}

void SteppedStack::Call(const SteppedPoint& at) {
  const SteppedCall* top = Top();
  // Nothing tells whether the return address in a register outlives this call.
  if (top != nullptr && top->is_away) AddUnknown();
  // A call of the next instruction is not a call: it pushes the address of this code, as the
  // handler of deoptimisation does for its frame.
  if (at.pc == at.top) return AddUnknown();
  const bool knows_fp = before_.code == SteppedCode::kByteCode ||
                        (top != nullptr && top->slot == before_.fp + kSlotBytes) ||
                        (top != nullptr && top->caller == Caller::kInterpreted &&
                         top->method != 0 && top->fp == before_.fp);
  const bool is_near = before_.fp % kSlotBytes == 0 && before_.fp >= before_.sp &&
                       before_.fp - before_.sp < kLargestFrame;
  SteppedCall call = code_.CallerAt(at.top, knows_fp && is_near ? before_.fp : 0);
  call.slot = at.sp;
  call.return_pc = at.top;
  call.sender = at.sp + kSlotBytes;
  call.fp = call.caller == Caller::kInterpreted ? before_.fp : 0;
  // Behind its code, an nmethod has stubs by which it calls interpreted methods. Recursion leads to
  // the begin of the nmethod.
  call.is_within =
      call.caller == Caller::kCompiled && at.pc > at.top && code_.InSameNmethod(at.pc, at.top);
  // The interpreter calls within itself: that is one frame.
  top = Top();
  if (call.caller == Caller::kInterpreted && top != nullptr &&
      top->caller == Caller::kInterpreted && top->fp == call.fp)
    call.caller = Caller::kNoJava;
  Add(call);
}

void SteppedStack::Push(const SteppedPoint& at) {
  SteppedCall* top = Top();
  if (at.sp + kSlotBytes != before_.sp || before_.code == SteppedCode::kNative) return;
  // It is back, maybe higher than before: MethodHandle.linkTo* takes an argument off the stack.
  if (top != nullptr && top->is_away && at.top == top->return_pc) {
    top->is_away = false;
    top->slot = at.sp;
    return;
  }
  // The interpreter leaves its return address and jumps instead of calling.
  if (IsInterpreter(before_.code) && code_.InInterpreter(at.top)) {
    Call(at);
    if (Top() != nullptr && Top()->slot == at.sp) Top()->is_pushed = true;
    return;
  }
  // An adapter aligns the stack, and puts the return address there once more. Far above is the slot
  // of an older call from the same place.
  if (before_.code == SteppedCode::kAdapter && top != nullptr && at.top == top->return_pc &&
      top->caller != Caller::kUnknown && top->slot - at.sp <= kMostAligned) {
    top->slot = at.sp;
    return;
  }
  if (code_.IsGenerated(at.top)) AddUnknown();
}

// An adapter or a method's entry takes the return address off the stack, to put it back further
// down, below the callee's locals; the interpreter does to return by a jump.
void SteppedStack::Pop(const SteppedPoint& at) {
  if (at.sp != before_.sp + kSlotBytes) return;
  while (count_ > 0 && Top()->caller == Caller::kUnknown && Top()->slot == before_.sp) count_--;
  if (count_ > 0 && Top()->slot == before_.sp) Top()->is_away = true;
}

void SteppedStack::Apply(const SteppedPoint& at) {
  if (!IsExplained(at)) return AddUnknown();
  SteppedCall* top = Top();
  switch (before_.op) {
    case StepOp::kCall:
      return Call(at);
    case StepOp::kReturn:
      // From a frame that no call has made. In C that says nothing about Java's frames.
      if (top != nullptr && top->slot != before_.sp && code_.IsGenerated(before_.pc)) AddUnknown();
      return;
    case StepOp::kJumpIndirect:
      if (top != nullptr) top->is_pushed = false;
      if (top != nullptr && top->is_away) Drop();
      if (LeavesFrame(at)) AddUnknown();
      return;
    case StepOp::kJump:
      if (LeavesFrame(at)) AddUnknown();
      return;
    case StepOp::kPush:
      return Push(at);
    case StepOp::kPop:
      return Pop(at);
    case StepOp::kSetsSp:
      if (IsStub(before_.code) && at.sp < before_.sp) AddUnknown();
      return;
    default:
      return;
  }
}

// Drops the calls that have returned, by whatever way. A return address that was taken off the
// stack is back once it lies on top again, no higher than before.
void SteppedStack::DropReturned(const SteppedPoint& at) {
  while (count_ > 0) {
    SteppedCall& top = *Top();
    if (top.is_away && at.sp <= top.slot && at.top == top.return_pc) {
      top.is_away = false;
      top.slot = at.sp;
    }
    if (top.is_away) {
      const SteppedCall* older = count_ > 1 ? &calls_[count_ - 2] : nullptr;
      if (older == nullptr || at.sp <= older->slot) return;
    } else if (at.sp <= top.slot) {
      return;
    }
    Drop();
  }
}

void SteppedStack::Drop() { dropped_ = calls_[--count_]; }

// True if the call's caller runs again.
bool SteppedStack::IsBackIn(const SteppedCall& call, uint64_t pc) const {
  switch (call.caller) {
    case Caller::kInterpreted:
      return code_.InInterpreter(pc);
    case Caller::kCompiled:
      return code_.InSameNmethod(call.return_pc, pc);
    default:
      return true;
  }
}

void SteppedStack::Step(const SteppedPoint& at) {
  if (has_before_) {
    dropped_ = {};
    Apply(at);
    DropReturned(at);
    // An exception on its way to a handler: the caller's frame is there, but runs no code of its
    // own, and no call tells of it.
    if (!IsBackIn(dropped_, at.pc)) AddUnknown();
  }
  if (at.code == SteppedCode::kReframing) AddUnknown();
  has_before_ = true;
  before_ = at;
}

}  // namespace walkhammer::stress
