// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/walk/interrupted_caller.h"

namespace walkhammer::asgst {
namespace {

constexpr int kMostHops = 64;         // frames of C code between the interrupted one and Java's
constexpr uint64_t kLeafWords = 256;  // of stack, searched for a caller
// Bytes from an interpreted frame's lowest fixed slot to its fp; with less, it is being built.
constexpr uint64_t kLeastInterpreted = 9 * 8;
constexpr uint64_t kLeastInterpreted8 = 8 * 8;  // JDK 8: no slot for the method's mirror

}  // namespace

// The interpreter has left its frame, with the return address still on the stack. Skips the locals
// between that address and a compiled caller's frame. As only a register holds sp', this searches
// for sp', 16-byte aligned and with a return address at [sp' + size - 8], size of the caller's
// frame.
void InterruptedCaller::PassLocals() {
  const FoundCode caller = CodeAt(at_.pc);
  if (layout_.rules->has_link_register || at_.has_sender || caller.kind != CodeKind::kNmethod ||
      caller.frame_words <= 0)
    return;
  const uint64_t end = 8 * static_cast<uint64_t>(caller.frame_words) - 8;
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
  const Registers r = start_.registers;
  if (layout_.rules->has_link_register) return FromCompiledCallerByLink();
  const uint64_t above = start_.java.sender_sp;
  // On return, once the return address was popped: ret = r13, sp' = sp.
  if (IsReturn(above)) {
    at_ = {above, r.sp, r.fp, false, false, {}};
    low_ = r.sp;
    return true;
  }
  if (above <= r.sp || !InStack(above - 8)) return false;
  // While the interpreter makes room for locals, the return address is in a register: ret = rax.
  if (!TakeReturnAt(r.sp, r.fp)) {
    if (!IsReturn(start_.java.return_pc)) return false;
    at_ = {start_.java.return_pc, above, r.fp, false, false, {}};
  }
  at_.sp = low_ = above;
  return true;
}

// BetweenInterpretedFrames() where ret = lr until a frame holds the return address. Generated code
// returns by lr: once a method has called, lr leads into the interpreter itself.
bool InterruptedCaller::FromCompiledCallerByLink() {
  const uint64_t pc = start_.registers.lr & layout_.rules->address_mask;
  uint64_t own = 0;
  if (CodeAt(pc).kind != CodeKind::kNmethod) return false;
  if (ReturnAddress(start_.registers.fp + 8, own) && own == pc) return false;  // the frame exists
  return FromLink({});
}

// Moves to the caller in lr, of code that has not called yet. False if lr leads into `top`.
bool InterruptedCaller::FromLink(const FoundCode& top) {
  const Registers& r = start_.registers;
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
  at_ = {pc, r.sp, r.fp, false, false, {}};
  return true;
}

// Moves to a compiled caller at `pc`. Arguments, or what a leaf has pushed, may be below its frame:
// sp' is the lowest address with a return address at [sp' + size - 8], size of the caller's frame.
bool InterruptedCaller::FromLinkTo(const FoundCode& caller, uint64_t pc) {
  const Registers& r = start_.registers;
  for (uint64_t sp = r.sp; sp < r.sp + 8 * kLeafWords; sp += 16) {  // sp is 16-byte aligned
    if (!IsFrameAt(sp, caller)) continue;
    at_ = {pc, sp, r.fp, false, false, {}};
    low_ = sp;
    guessed_ |= sp != r.sp;
    return true;
  }
  return false;
}

// Interrupted while the interpreter builds its frame: ret = [fp + 8], fp' = [fp]. Arguments and
// locals may be between the frame and sp', which is in a register (r13) until the frame holds sp'
// at [fp + sender_sp]; on aarch64 sp' = fp + 16.
bool InterruptedCaller::FromFrameBeingBuilt() {
  const Registers& r = start_.registers;
  uint64_t caller_fp = 0, sp = start_.java.sender_sp;
  const uint64_t least = layout_.feature < 9 ? kLeastInterpreted8 : kLeastInterpreted;
  if (r.fp < r.sp || r.fp - r.sp >= least || !Word(r.fp, caller_fp)) return false;
  if (sp <= r.fp || !InStack(sp - 8)) Word(r.fp + layout_.sender_sp, sp);
  const bool known = !layout_.rules->has_link_register && sp > r.fp && InStack(sp - 8);
  if (!TakeReturnAt(r.fp + 8, caller_fp)) return false;
  if (known) at_.sp = low_ = sp;
  return true;
}

// Moves from C code to its Java caller by unwind tables. False if no table describes the
// interrupted pc, as before the tables are made.
bool InterruptedCaller::FromLeafCallByTables() {
  NativeUnwinder c(start_.unwind, *layout_.rules, memory_);
  c.Begin(start_.registers, true, start_.stack_high);
  if (!c.Reported()) return false;
  for (int hop = 0; hop < kMostHops && c.Up(); hop++) {
    const Registers& r = c.at();
    if (!InCode(r.pc)) continue;
    if (!IsReturn(r.pc)) return false;
    at_ = {r.pc, r.sp, r.fp, false, false, {}};
    PassLeafWords();
    guessed_ |= c.has_guessed();
    return true;
  }
  return false;
}

// Moves to Java from a function of the JVM that Java has called without an anchor. Before the
// function has a frame: ret = [sp] (aarch64: lr); once fp is pushed: ret = [sp + 8]; with a frame:
// ret = [fp + 8], fp' = [fp], sp' = fp + 16.
bool InterruptedCaller::FromLeafCall() {
  const Registers r = start_.registers;
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
  // Without frame pointers: the nearest return address into generated code.
  for (uint64_t i = 0; i < kLeafWords; i++)
    if (TakeReturnAt(r.sp + 8 * i, r.fp)) return true;
  return false;
}

// Interrupted in an nmethod's handler of deoptimisation, which jumps to a blob with its own address
// as the return address: on the stack, or in lr. The frame is still there, and what it was in is
// found as for a return to the handler. x86_64: call next; next: sub [sp], 5; jmp
bool InterruptedCaller::InDeoptHandler(const FoundCode& code) {
  constexpr uint64_t kMost = 24;  // bytes of the handler
  const Registers& r = start_.registers;
  for (const uint64_t handler :
       {HandlerOf(code, layout_.mh_deopt_begin, layout_.mh_deopt_offset),
        HandlerOf(code, layout_.code.deopt_begin, layout_.code.deopt_offset)}) {
    uint64_t word = 0;
    if (handler == 0 || r.pc < handler || r.pc - handler >= kMost) continue;
    const bool pushed = !layout_.rules->has_link_register && r.pc > handler && Word(r.sp, word) &&
                        word - handler < kMost;
    at_ = {handler, r.sp + (pushed ? 8 : 0), r.fp, false, false, {}};
    low_ = at_.sp;
    return true;
  }
  return false;
}

}  // namespace walkhammer::asgst
