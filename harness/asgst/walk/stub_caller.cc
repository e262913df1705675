// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/walk/stub_caller.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace walkhammer::asgst {
namespace {

// Most bytes between a caller's sp and its callee's frame, or the sp of an adapter that saves
// registers.
constexpr uint64_t kMostArguments = 512 * 8;
// Registers by their numbers in instructions.
constexpr int kRdx = 2, kSp = 4, kFp = 5, kSenderSp = 13, kThread = 15;

}  // namespace

// Moves to the caller of a stub that has called and whose frame size is not known, by simulation.
bool StubCaller::FromStubWithoutFrame() {
  return FromExit(CodeAt(at_.pc), StartAt(at_.pc, at_.sp, at_.fp));
}

// Registers of code that was interrupted at `pc`, or that has called from just before `pc`. After a
// call only sp, fp and the thread register are known: the callee may have changed the others. r13
// is taken for the caller's sp, unchanged, if it is less than kMostArguments bytes above sp.
StubStart StubCaller::StartAt(uint64_t pc, uint64_t sp, uint64_t fp) const {
  constexpr uint32_t kAll = 0xffff;
  StubStart start;
  start.pc = pc;
  std::copy(std::begin(start_.java.general), std::end(start_.java.general), start.general);
  // A walk that does not begin at a ucontext has no general registers.
  const bool is_context = pc == start_.registers.pc && start_.java.general[kSp] == sp && sp != 0;
  start.general[kSp] = sp;
  start.general[kFp] = fp;
  if (is_context) {
    start.known = kAll;
    return start;
  }
  start.called = true;
  start.known = 1U << kSp | 1U << kFp | 1U << kThread;
  start.general[kThread] = start_.thread;
  const uint64_t above = start.general[kSenderSp] - sp;
  if (above < kMostArguments && (above & 7) == 0) start.known |= 1U << kSenderSp;
  return start;
}

// Moves to the caller of code without a fixed frame layout. Such code jumps or returns to its
// caller or to what it was entered for: the registers and the stack at this exit, found by
// simulation, lead to the caller. Of the interpreter's code: only where its frame is gone or is
// still to be built.
bool StubCaller::FromExit(const FoundCode& code, const StubStart& start) {
  StubExit exit;
  uint64_t method = 0;
  MethodFacts facts;
  if (layout_.rules->run_to_exit == nullptr) return false;
  const bool has_exit = layout_.rules->run_to_exit(Code(), memory_, code, start, exit);
  if (exit.loses_sp && code.kind == CodeKind::kStub && code.frame_words <= 0) {
    if (ToContinuationEntry(start_.stack_high)) return true;
    at_barrier_ = true;
  }
  if (!has_exit) return false;
  GoOnInStub(exit);
  const uint64_t sp = start.general[kSp], fp = start.general[kFp];
  if (code.kind == CodeKind::kCodelet && fp >= sp && exit.sp > fp &&
      IsInterpretedFrameAt(fp, method, facts))
    return false;
  // [sp - 8] at the exit may be a return address, which a call has yet to replace by an exception
  // handler. Nothing is read below the sp of the interrupted code.
  uint64_t passed = 0;
  ReturnAddress(exit.sp - 8, passed);
  if (!exit.returns) return TakeExitByJump(code, exit, passed);
  return TakeCaller(exit.pc, exit.sp, exit, false) || ToFrameAt(exit.sp, exit.pc, exit.fp) ||
         (exit.pc == 0 && exit.called && TakeCaller(passed, exit.sp, exit, false));
}

// Continues in another stub, to which a stub may leave its frame: C1's stubs to forward_exception.
// That other stub calls or returns; an adapter does neither.
void StubCaller::GoOnInStub(StubExit& exit) {
  const FoundCode to = CodeAt(exit.pc);
  if (exit.returns || to.kind != CodeKind::kStub) return;
  StubStart start;
  start.pc = exit.pc;
  for (const auto& [number, word] : {std::pair{kSp, exit.sp},
                                     {kFp, exit.fp},
                                     {kRdx, exit.exception_pc},
                                     {kSenderSp, exit.sender_sp},
                                     {kThread, start_.thread}}) {
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
bool StubCaller::FromFirstCall(const FoundCode& code) {
  const Registers& r = start_.registers;
  StubStart start = StartAt(r.pc, r.sp, r.fp);
  StubExit exit;
  start.to_call = true;
  if (code.frame_words <= 0 || layout_.rules->run_to_exit == nullptr ||
      !layout_.rules->run_to_exit(Code(), memory_, code, start, exit) || !exit.called)
    return false;
  const uint64_t above = exit.sp + 8 * static_cast<uint64_t>(code.frame_words);
  const uint64_t pc = exit.return_pc & layout_.rules->address_mask;
  uint64_t fp = r.fp;
  if (above < r.sp || !InStack(above) || CodeAt(pc).kind != CodeKind::kNmethod) return false;
  if (above - 16 >= r.sp && !Word(above - 16, fp)) return false;  // saved already
  at_ = {pc, above, fp, false, false, {}};
  low_ = above;
  return true;
}

// Moves to the caller of code that exits by a jump. A stub jumps to a callee, with ret = [sp], or
// to an exception handler in the frame at sp; the interpreter jumps to its caller. `passed`:
// [sp - 8].
bool StubCaller::TakeExitByJump(const FoundCode& code, const StubExit& exit, uint64_t passed) {
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
      at_ = {exit.pc, exit.sp, exit.fp, true, true, {exit.top, above, exit.fp, 0}};
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
bool StubCaller::TakeCaller(uint64_t pc, uint64_t sp, const StubExit& exit, bool into_interpreter) {
  if (sp < low_ && low_ - sp < kMostArguments) sp = low_;  // the code has yet to push the rest
  if (!IsReturn(pc) || !InStack(sp)) return false;
  const FoundCode caller = CodeAt(pc);
  const uint64_t above = exit.sender_sp;
  if (caller.kind == CodeKind::kCodelet && exit.fp == 0) return false;
  if (caller.kind == CodeKind::kNmethod && above > sp && above - sp < kMostArguments &&
      into_interpreter && IsFrameAt(above, caller))
    sp = above;
  at_ = {pc, sp, exit.fp, false, false, {}};
  low_ = sp;
  return true;
}

// Leaves the interpreter where it has called from an entry without a frame (Math.sin and the like),
// or after it has removed a frame for an exception.
void StubCaller::LeaveEntry() {
  const FoundCode code = CodeAt(at_.pc);
  if (code.kind == CodeKind::kCodelet) FromExit(code, StartAt(at_.pc, at_.sp, at_.fp));
}

// Moves sp over words that compiled code has pushed below its frame, for a stub or for itself. At
// the frame's sp, [sp + size - 8] is a return address and, as C1 leaves fp alone,
// [sp + size - 16] = fp in C1's code.
void StubCaller::PassArguments() {
  constexpr uint64_t kMostPushed = 4;
  const FoundCode code = CodeAt(at_.pc);
  if (code.kind != CodeKind::kNmethod || code.frame_words <= 0 || at_.has_sender) return;
  // With a link register, PassLeafWords() has done so for callers.
  if (at_.is_top || !layout_.rules->has_link_register)
    at_.sp += 8 * layout_.rules->takes_back(Code(), at_.pc);
  if (layout_.rules->gives_back == nullptr) {
    low_ = at_.sp;
    return;
  }
  const uint64_t sp = at_.sp, words = static_cast<uint64_t>(code.frame_words);
  const bool by_c1 = code.level > 0 && code.level < 4;
  uint64_t word = 0;
  const auto gives_back = [&] {
    const uint64_t above = sp + layout_.rules->gives_back(Code(), code, at_.pc);
    if (above == sp || !IsFrameAt(above, code)) return false;
    at_.sp = low_ = above;
    return true;
  };
  // What was kept around a call may look like a return address.
  if (!at_.is_top && gives_back()) return;
  // Nothing was pushed if [sp + size - 8] leads to code: to a return address, or to the handler of
  // deoptimisation, which no call precedes.
  if (ReturnAddress(sp + 8 * words - 8, word) && InCode(word) &&
      (!by_c1 || (Word(sp + 8 * words - 16, word) && word == at_.fp))) {
    low_ = sp;
    return;
  }
  if (gives_back()) return;
  for (uint64_t at = sp + 8; at <= sp + 8 * kMostPushed && at_.sp == sp; at += 8) {
    if (!IsFrameAt(at, code) || (by_c1 && !(Word(at + 8 * words - 16, word) && word == at_.fp)))
      continue;
    at_.sp = at;
    guessed_ = true;
  }
  low_ = at_.sp;
}

}  // namespace walkhammer::asgst
