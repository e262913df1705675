// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/walk/interrupted_caller.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace walkhammer::asgst {
namespace {

constexpr uint64_t kMostOfSignalStack = 256 << 10;  // bytes of a stack for signal handlers
constexpr int kMostHops = 64;         // frames of C code between the interrupted one and Java's
constexpr uint64_t kLeafWords = 256;  // of stack, searched for a caller
// Bytes from an interpreted frame's lowest fixed slot to its fp; with less, it is being built.
constexpr uint64_t kLeastInterpreted = 9 * 8;
constexpr uint64_t kLeastInterpreted8 = 8 * 8;  // JDK 8: no slot for the method's mirror
// Most bytes between a caller's sp and its callee's frame, or the sp of an adapter that saves
// registers.
constexpr uint64_t kMostArguments = 512 * 8;
// Bytes of test [reg], eax are at most 4; the simulated blob may go one byte too far.
constexpr uint64_t kMostOfPoll = 5;
// Registers by their numbers in instructions.
constexpr int kRdx = 2, kRbx = 3, kSp = 4, kFp = 5, kSenderSp = 13, kThread = 15;

}  // namespace

// The interpreter has left its frame, with the return address still on the stack. Skips the locals
// between that address and a compiled caller's frame. As only a register holds sp', this searches
// for sp', 16-byte aligned and with a return address at [sp' + size - 8], size of the caller's
// frame.
void InterruptedCaller::PassLocals() {
  const FoundCode caller = CodeAt(at_.pc);
  if (frozen_.active() || layout_.rules->has_link_register || at_.sender ||
      caller.kind != CodeKind::kNmethod || caller.frame_words <= 0)
    return;
  const uint64_t end = FrameBytes(caller) - 8;
  uint64_t above = 0;
  if (ReturnAddress(at_.sp + end, above) && InCode(above)) return;  // there are no locals
  for (uint64_t sp = (at_.sp + 15) & ~15ULL; sp < at_.sp + 8 * kLeafWords; sp += 16) {
    if (!IsFrameAt(sp, caller)) continue;
    at_.sp = low_ = sp;
    guessed_ = true;
    return;
  }
}

// The interpreter enters a method and has no frame of it yet, or returns and has left the frame:
// fp' = fp (of a compiled caller, some older frame's, or none), sp' = r13.
bool InterruptedCaller::BetweenInterpretedFrames() {
  const Registers r = start_->registers;
  if (layout_.rules->has_link_register) return FromCompiledCallerByLink();
  const uint64_t above = start_->java.sender_sp;
  // On return, once the return address was popped: ret = r13, sp' = sp.
  if (IsReturn(above)) {
    MoveTo(above, r.sp, r.fp);
    return true;
  }
  if (above < r.sp || !InStack(above)) return false;
  // While the interpreter makes room for locals, the return address is in a register: ret = rax.
  if (above == r.sp || !TakeReturnAt(r.sp, r.fp)) {
    if (!IsReturn(start_->java.return_pc)) return false;
    MoveTo(start_->java.return_pc, above, r.fp);
  }
  at_.sp = low_ = above;
  return true;
}

// BetweenInterpretedFrames() where ret = lr until a frame holds the return address. Generated code
// returns by lr: once a method has called, lr leads into the interpreter itself.
bool InterruptedCaller::FromCompiledCallerByLink() {
  const uint64_t pc = start_->registers.lr & layout_.rules->address_mask;
  uint64_t own = 0;
  if (CodeAt(pc).kind != CodeKind::kNmethod) return false;
  if (ReturnAddress(start_->registers.fp + 8, own) && own == pc) return false;  // the frame exists
  return FromLink({});
}

// Moves to the caller in lr, of code that has not called yet. False if lr leads into `top`.
bool InterruptedCaller::FromLink(const FoundCode& top) {
  const Registers& r = start_->registers;
  const uint64_t pc = r.lr & layout_.rules->address_mask;
  if ((pc >= top.begin && pc < top.end) || !IsReturn(pc)) return false;
  // A frame at fp, or at sp if fp is not set yet, may hold lr already: ret = [frame + 8],
  // fp' = [frame], sp' = frame + 16.
  for (const uint64_t frame : {r.fp, r.sp}) {
    uint64_t saved = 0, fp = 0;
    if (frame < r.sp || !ReturnAddress(frame + 8, saved) || saved != pc || !Word(frame, fp))
      continue;
    return TakeReturnAt(frame + 8, fp);
  }
  const FoundCode caller = CodeAt(pc);
  if (caller.kind == CodeKind::kNmethod) return FromLinkTo(caller, pc);
  at_ = {pc, r.sp, r.fp};
  return true;
}

// Moves to a compiled caller at `pc`. Arguments, or what a leaf has pushed, may be below its frame:
// sp' is the lowest address with a return address at [sp' + size - 8], size of the caller's frame.
bool InterruptedCaller::FromLinkTo(const FoundCode& caller, uint64_t pc) {
  const Registers& r = start_->registers;
  for (uint64_t sp = r.sp; sp < r.sp + 8 * kLeafWords; sp += 16) {  // sp is 16-byte aligned
    if (!IsFrameAt(sp, caller)) continue;
    MoveTo(pc, sp, r.fp);
    guessed_ |= sp != r.sp;
    return true;
  }
  return false;
}

// Interrupted while the interpreter builds its frame: ret = [fp + 8], fp' = [fp]. Arguments and
// locals may be between the frame and sp', which is in a register (r13) until the frame holds sp'
// at [fp + sender_sp]; on aarch64 sp' = fp + 16.
bool InterruptedCaller::FromFrameBeingBuilt() {
  const Registers& r = start_->registers;
  uint64_t caller_fp = 0, sp = start_->java.sender_sp;
  const uint64_t least = layout_.feature < 9 ? kLeastInterpreted8 : kLeastInterpreted;
  if (r.fp < r.sp || r.fp - r.sp >= least || !Word(r.fp, caller_fp)) return false;
  if (sp <= r.fp || !InStack(sp - 8)) Word(r.fp + layout_.sender_sp, sp);
  const bool known = !layout_.rules->has_link_register && sp > r.fp && InStack(sp - 8);
  if (!TakeReturnAt(r.fp + 8, caller_fp)) return false;
  if (known) at_.sp = low_ = sp;
  return true;
}

// Moves from C code to its Java caller by unwind tables. False if no table describes the
// interrupted pc, as before the tables are made, if a signal interrupted Java code, or if there is
// no Java frame.
bool InterruptedCaller::FromLeafCallByTables() {
  NativeUnwinder c(start_->unwind, *layout_.rules, memory_);
  const uint64_t sp = start_->registers.sp, high = start_->stack_high;
  const bool is_own = sp >= start_->stack_floor && sp < high;
  c.Begin(start_->registers, true, is_own ? high : sp + kMostOfSignalStack, high);
  if (!c.Reported()) return false;
  for (int hop = 0; hop < kMostHops && c.Up(); hop++) {
    const Registers& r = c.at();
    if (!InCode(r.pc)) continue;
    if (SignalFrame frame; c.Interrupted(frame)) {
      if (!c.has_guessed()) StartBelow(frame);
      return false;
    }
    if (!is_own || !IsReturn(r.pc)) return false;
    at_ = {r.pc, r.sp, r.fp};
    PassLeafWords();
    guessed_ |= c.has_guessed();
    return true;
  }
  no_java_ = is_own && !c.has_guessed() && c.AtOldest();
  return false;
}

// The walk is to begin where a signal interrupted generated code. That is not C code, so a walk
// does so once.
void InterruptedCaller::StartBelow(const SignalFrame& frame) {
  if (below_signal_) return;
  WalkStart below = *start_;
  below.registers = frame.registers;
  below.java = frame.java;
  below_signal_ = below;
  start_ = &*below_signal_;
  found_signal_ = true;
}

// Moves to Java from a function of the JVM that Java has called without an anchor. Before the
// function has a frame: ret = [sp] (aarch64: lr); once fp is pushed: ret = [sp + 8]; with a frame:
// ret = [fp + 8], fp' = [fp], sp' = fp + 16.
bool InterruptedCaller::FromLeafCall() {
  const Registers r = start_->registers;
  uint64_t fp = r.fp, caller = 0, word = 0;
  if (layout_.rules->has_link_register
          ? FromLink({})
          : TakeReturnAt(r.sp, fp) ||
                (Word(r.sp, word) && word == fp && TakeReturnAt(r.sp + 8, fp)))
    return true;
  for (int hop = 0; hop < kMostHops && fp >= r.sp && Word(fp, caller); hop++) {
    if (TakeReturnAt(fp + 8, caller)) return true;
    if (caller <= fp) break;
    fp = caller;
  }
  return FromNearestReturn();
}

// False if `pc`, the return address at `slot`, leads into compiled code, and [sp' + size - 8] leads
// into no generated code, where sp' is above what the code has pushed for the call. It may lead to
// a handler of deoptimisation or to a return barrier.
bool InterruptedCaller::MayHaveFrameAbove(uint64_t slot, uint64_t pc) {
  const CodeRules& rules = *layout_.rules;
  const FoundCode code = CodeAt(pc);
  if (code.kind != CodeKind::kNmethod || code.frame_words <= 0) return true;
  uint64_t sp = slot + 8 + 8 * rules.takes_back(Code(), code, pc), word = 0;
  if (rules.gives_back != nullptr) sp += rules.gives_back(Code(), code, pc);
  return ReturnAddress(sp + FrameBytes(code) - 8, word) && InCode(word);
}

// Moves to the nearest return address above sp. One that frames have left behind leads into
// compiled code, too, but no frame of that code is there: it is taken only if there is no better.
bool InterruptedCaller::FromNearestReturn() {
  const Registers& r = start_->registers;
  uint64_t left = 0;
  for (uint64_t slot = r.sp; slot < r.sp + 8 * kLeafWords; slot += 8) {
    uint64_t pc = 0;
    if (!ReturnAddress(slot, pc) || !IsReturn(pc)) continue;
    if (MayHaveFrameAbove(slot, pc)) return TakeReturnAt(slot, r.fp);
    if (left == 0) left = slot;
  }
  return left != 0 && TakeReturnAt(left, r.fp);
}

// Interrupted in an nmethod's handler of deoptimisation, which jumps to a blob with its own address
// as the return address: on the stack, or in lr. The frame is still there, and what it was in is
// found as for a return to the handler. x86_64: call next; next: sub [sp], 5; jmp
bool InterruptedCaller::InDeoptHandler(const FoundCode& code) {
  const Registers& r = start_->registers;
  const uint64_t handler = DeoptHandlerAround(code, r.pc);
  if (handler == 0) return false;
  uint64_t word = 0;
  const bool pushed = !layout_.rules->has_link_register && r.pc > handler && Word(r.sp, word) &&
                      word - handler < kMostOfHandler;
  MoveTo(handler, r.sp + (pushed ? 8 : 0), r.fp);
  return true;
}

// --- From code that the JVM generates besides methods, by simulating it up to its exit.

// Registers of the code at `at_`, which was interrupted there, or has called from just before.
// After a call only sp, fp and the thread register are known: the callee may have changed the
// others. r13 is taken for the caller's sp, unchanged, if it is less than kMostArguments bytes
// above sp.
StubStart InterruptedCaller::StartHere() const {
  constexpr uint32_t kAll = 0xffff;
  StubStart start;
  start.pc = at_.pc;
  std::copy(std::begin(start_->java.general), std::end(start_->java.general), start.general);
  // A walk that does not begin at a ucontext has no general registers.
  const bool is_context =
      at_.pc == start_->registers.pc && start_->java.general[kSp] == at_.sp && at_.sp != 0;
  start.general[kSp] = at_.sp;
  start.general[kFp] = at_.fp;
  if (is_context) {
    start.known = kAll;
    start.flags = start_->java.flags;
    return start;
  }
  start.called = true;
  start.known = 1U << kSp | 1U << kFp | 1U << kThread;
  start.general[kThread] = start_->thread;
  const uint64_t above = start.general[kSenderSp] - at_.sp;
  if (above < kMostArguments && (above & 7) == 0) start.known |= 1U << kSenderSp;
  return start;
}

// Moves to the caller of code without a fixed frame layout. Such code jumps or returns to its
// caller or to what it was entered for: the registers and the stack at this exit, found by
// simulation, lead to the caller. In the interpreter's code this is only where its frame is gone or
// is still to be built. True without a move in what a codelet calls of itself.
bool InterruptedCaller::FromExit(const FoundCode& code) {
  StubExit exit;
  if (layout_.rules->run_to_exit == nullptr) return false;
  const bool has_exit = layout_.rules->run_to_exit(Code(), memory_, code, StartHere(), exit);
  if (exit.loses_sp && code.kind == CodeKind::kStub && code.frame_words <= 0) {
    if (ToContinuationEntry(start_->stack_high)) return true;
    at_barrier_ = true;
  }
  if (!has_exit) return false;
  GoOnInStub(exit);
  if (code.kind == CodeKind::kCodelet && at_.fp >= at_.sp && IsInterpretedFrameAt(at_.fp)) {
    if (exit.sp > at_.fp) return false;
    // To call the JVM, a codelet calls code of its own, which returns into the same activation.
    if (exit.returns && exit.fp == at_.fp && layout_.rules->follows_call(Code(), exit.pc))
      return true;
  }
  // [sp - 8] at the exit may be a return address, which a call has yet to replace by an exception
  // handler. Nothing is read below the sp of the interrupted code.
  uint64_t passed = 0;
  ReturnAddress(exit.sp - 8, passed);
  if (!exit.returns) return TakeExitByJump(code, exit, passed);
  // The blob of a poll returns past that instruction, whose length it finds out by branches that
  // the simulation cannot decide. Debug information describes the poll.
  if (exit.pc - exit.replaced - 1 < kMostOfPoll && !IsReturn(exit.replaced) &&
      ToFrameAt(exit.sp, exit.replaced, exit.fp))
    return true;
  return TakeCaller(exit.pc, exit.sp, exit, false) || ToFrameAt(exit.sp, exit.pc, exit.fp) ||
         (exit.pc == 0 && exit.called && TakeCaller(passed, exit.sp, exit, false));
}

// Continues in another stub, to which a stub may leave its frame: C1's stubs to forward_exception.
// That other stub calls or returns. An adapter does neither, unless the method that it is entered
// for has compiled code by now: then it calls to have the call's target replaced.
void InterruptedCaller::GoOnInStub(StubExit& exit) {
  const FoundCode to = CodeAt(exit.pc);
  if (exit.returns || to.kind != CodeKind::kStub) return;
  StubStart start;
  start.pc = exit.pc;
  for (const auto& [number, word] : {std::pair{kSp, exit.sp},
                                     {kFp, exit.fp},
                                     {kRdx, exit.exception_pc},
                                     {kRbx, exit.method},
                                     {kSenderSp, exit.sender_sp},
                                     {kThread, start_->thread}}) {
    start.general[number] = word;
    if (word != 0) start.known |= 1U << number;
  }
  StubExit further;
  if (layout_.rules->run_to_exit(Code(), memory_, to, start, further) &&
      (further.called || further.returns))
    exit = further;
}

// Moves to the caller of a blob that never returns to it, as blobs of deoptimisation: at its first
// call such a blob has a frame of its stated size. With sp at that call: ret = [sp + size - 8],
// fp' = [sp + size - 16] (fp if not saved yet), sp' = sp + size. With an exception, that blob is
// jumped to with no return address on the stack, pushes a 0, and puts the thread's exception pc
// there later on: only the simulation knows ret before.
bool InterruptedCaller::FromFirstCall(const FoundCode& code) {
  const Registers& r = start_->registers;
  StubStart start = StartHere();
  StubExit exit;
  start.to_call = true;
  if (code.frame_words <= 0 || layout_.rules->run_to_exit == nullptr ||
      !layout_.rules->run_to_exit(Code(), memory_, code, start, exit) || !exit.called)
    return false;
  const uint64_t above = exit.sp + FrameBytes(code);
  const uint64_t pc = exit.return_pc & layout_.rules->address_mask;
  uint64_t fp = r.fp;
  if (above < r.sp || !InStack(above) || CodeAt(pc).kind != CodeKind::kNmethod) return false;
  if (above - 16 >= r.sp && !Word(above - 16, fp)) return false;  // saved already
  MoveTo(pc, above, fp);
  return true;
}

// Moves to the caller of code that exits by a jump. A stub jumps to a callee, with ret = [sp], or
// to an exception handler in the frame at sp; the interpreter jumps to its caller. `passed`:
// [sp - 8].
bool InterruptedCaller::TakeExitByJump(const FoundCode& code, const StubExit& exit,
                                       uint64_t passed) {
  const FoundCode to = CodeAt(exit.pc);
  const auto thrown = [&] {
    return ToFrameAt(exit.sp, exit.exception_pc, exit.fp) ||
           TakeCaller(exit.exception_pc, exit.sp, exit, false);
  };
  if (code.kind == CodeKind::kCodelet) {
    // Compiled code replaces the interpreter in a loop: the interpreted frame is gone, the compiled
    // frame is not built yet.
    if (exit.through_memory && to.kind == CodeKind::kNmethod && IsReturn(exit.top)) {
      const uint64_t above = std::max(exit.sp + 8, low_);
      at_ = {exit.pc, exit.sp, exit.fp, true, Registers{exit.top, above, exit.fp, 0}};
      return true;
    }
    if (exit.through_memory || to.kind == CodeKind::kCodelet) return false;  // still interpreting
    return TakeCaller(exit.pc, exit.sp, exit, false) || thrown();
  }
  const uint64_t complete = to.frame_complete > 0 ? static_cast<uint64_t>(to.frame_complete) : 0;
  if (to.kind == CodeKind::kNmethod && exit.pc >= to.begin + complete) {
    if (ToFrameAt(exit.sp, exit.exception_pc, exit.fp)) return true;
    if (ToFrameAt(exit.sp, exit.pc, exit.fp)) {
      at_.is_top = true;  // it resumes there: the description at this pc is of a call before it
      return true;
    }
  }
  // A call will return the jump's target. C1's stub puts the target where its return address was.
  if (exit.pc == 0 && exit.called) {
    // A stub that resolves a call jumps to the callee, and rdx is an argument.
    const FoundCode caller = CodeAt(exit.top);
    const bool has_caller =
        caller.kind == CodeKind::kNmethod && IsReturn(exit.top) && IsFrameAt(exit.sp + 8, caller);
    if (has_caller && (passed == 0 || passed != exit.exception_pc))
      return TakeCaller(exit.top, exit.sp + 8, exit, false);
    if (thrown() || TakeCaller(passed, exit.sp, exit, false)) return true;
  }
  return TakeCaller(exit.top, exit.sp + 8, exit, to.kind == CodeKind::kCodelet) ||
         TakeCaller(exit.pc, exit.sp, exit, false) || thrown() ||
         TakeCaller(passed, exit.sp, exit, false);
}

// Moves to the caller: ret = pc, fp' = exit.fp, sp' = sp. If an adapter has made room between `sp`
// and the caller's frame, sp' = exit.sender_sp (r13), which is always set on the way into the
// interpreter.
bool InterruptedCaller::TakeCaller(uint64_t pc, uint64_t sp, const StubExit& exit,
                                   bool into_interpreter) {
  if (sp < low_ && low_ - sp < kMostArguments) sp = low_;  // the code has yet to push the rest
  if (!IsReturn(pc) || !InStack(sp)) return false;
  const FoundCode caller = CodeAt(pc);
  const uint64_t above = exit.sender_sp;
  if (caller.kind == CodeKind::kCodelet && exit.fp == 0) return false;
  if (caller.kind == CodeKind::kNmethod && above > sp && above - sp < kMostArguments &&
      into_interpreter && IsFrameAt(above, caller))
    sp = above;
  MoveTo(pc, sp, exit.fp);
  return true;
}

// Leaves the interpreter where it has called from an entry without a frame (Math.sin and the like),
// or after it has removed a frame for an exception.
void InterruptedCaller::LeaveEntry() {
  if (frozen_.active()) return;
  const FoundCode code = CodeAt(at_.pc);
  if (code.kind == CodeKind::kCodelet) FromExit(code);
}

// Moves sp over words that compiled code has pushed below its frame, for a stub or for itself. At
// the frame's sp, [sp + size - 8] is a return address and, as C1 leaves fp alone,
// [sp + size - 16] = fp in C1's code. C1 asks for the thread where a class may be initialised only
// now (PatchingStub): 10 words, alignment and 2 words (MacroAssembler::get_thread). In JDK 8 it
// also saves all registers before it calls sin, cos and the like: 80 words and the argument's
// (MacroAssembler::fp_runtime_fallback).
void InterruptedCaller::PassArguments() {
  constexpr uint64_t kMostPushed = 4, kMostPushedByC1 = 13, kMostSavedByC1 = 96;
  const FoundCode& found = LastCode(at_.pc);
  if (frozen_.active() || found.kind != CodeKind::kNmethod || found.frame_words <= 0 || at_.sender)
    return;
  const uint64_t bytes = FrameBytes(found);
  const bool by_c1 = found.level > 0 && found.level < 4;
  // Only code that has called may have pushed words, not a caller that polls. With a link register,
  // PassLeafWords() has done so for callers.
  if (at_.is_top || (!layout_.rules->has_link_register && IsReturn(at_.pc)))
    at_.sp += 8 * (at_.pc == facts_pc_ ? facts_.takes_back
                                       : layout_.rules->takes_back(Code(), CodeAt(at_.pc), at_.pc));
  if (layout_.rules->gives_back == nullptr) {
    low_ = at_.sp;
    return;
  }
  const uint64_t sp = at_.sp;
  uint64_t word = 0;
  const auto gives_back = [&] {
    const FoundCode code = CodeAt(at_.pc);
    const uint64_t above = sp + layout_.rules->gives_back(Code(), code, at_.pc);
    if (above == sp || !IsFrameAt(above, code)) return false;
    at_.sp = low_ = above;
    return true;
  };
  // What was kept around a call may look like a return address.
  if (!at_.is_top && gives_back()) return;
  // Nothing was pushed if [sp + size - 8] leads to code: to a return address, or to the handler of
  // deoptimisation, which no call precedes.
  if (ReturnAddress(sp + bytes - 8, word) && InCode(word) &&
      (!by_c1 || (Word(sp + bytes - 16, word) && word == at_.fp))) {
    low_ = sp;
    return;
  }
  if (gives_back()) return;
  const FoundCode code = CodeAt(at_.pc);
  const uint64_t most = !by_c1                ? kMostPushed
                        : layout_.feature < 9 ? kMostSavedByC1
                        : at_.is_top          ? kMostPushedByC1
                                              : kMostPushed;
  const uint64_t last = sp + 8 * most;
  for (uint64_t at = sp + 8; at <= last && at_.sp == sp; at += 8) {
    if (!IsFrameAt(at, code) || (by_c1 && !(Word(at + bytes - 16, word) && word == at_.fp)))
      continue;
    at_.sp = at;
    guessed_ = true;
  }
  low_ = at_.sp;
}

}  // namespace walkhammer::asgst
