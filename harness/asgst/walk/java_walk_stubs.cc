// JavaWalk in stubs: from what the JVM generates beside methods to the Java frame that it serves.
#include "harness/asgst/walk/java_walk.h"

namespace walkhammer {
namespace {

// Bytes between a caller's sp and its callee's frame, or an adapter's sp while it saves registers.
constexpr uint64_t kMostArguments = 512 * 8;
constexpr uint64_t kMostCallStub = 512;  // bytes of the call stub before and behind its call
constexpr int kMostEpilogues = 8;        // looked at behind a pc

}  // namespace

// The interpreter has removed the frame of a method that throws and asks who handles it there:
// below the call lie the return address and the exception, then the caller's frame. The call may
// have aligned the stack (TemplateInterpreterGenerator::generate_throw_exception).
void JavaWalk::LeaveRemovedActivation() {
  if (layout_.rules->has_link_register || CodeAt(at_.pc).kind != CodeKind::kCodelet) return;
  for (const uint64_t slot : {at_.sp, at_.sp + 8}) {
    uint64_t pc = 0;
    if (!ReturnAddress(slot, pc) || !IsReturn(pc)) continue;
    const FoundCode caller = CodeAt(pc);
    const uint64_t sp = slot + 16;
    if (caller.kind == CodeKind::kNmethod && !IsFrameAt(sp, caller)) continue;
    at_ = {pc, sp, at_.fp, false, false, {}};
    low_ = sp;
    return;
  }
}

// Between compiled and interpreted code the return address is taken off the stack, the caller's sp
// is noted in a register, room is made, and the address put back
// (SharedRuntime::generate_i2c2i_adapters).
bool JavaWalk::FromAdapter() {
  const Registers& r = start_.registers;
  const uint64_t pc = start_.java.return_pc, above = start_.java.sender_sp;
  uint64_t word = 0;
  const bool returns = IsReturn(pc);
  const auto take = [&](uint64_t sp) {
    at_ = {pc, sp, r.fp, false, false, {}};
    low_ = sp;
    return true;
  };
  if (returns && memory_.ReadWord(r.sp - 8, word) && word == pc) return take(r.sp);  // just taken
  if (above == r.sp + 8 && TakeReturnAt(r.sp, r.fp)) return true;
  if (above > r.sp && above - r.sp < kMostArguments && InStack(above - 8)) {
    // Not taken yet, while registers are saved for a call.
    if (ReturnAddress(above, word) && (!returns || word == pc) && TakeReturnAt(above, r.fp))
      return true;
    if (returns) return take(above);
  }
  return false;
}

// A stub has found the handler of an exception in a compiled method, has given its own frame up and
// goes there. What calls are linked to goes to their methods so, too, but with a return address.
bool JavaWalk::OnTheWayToHandler() {
  const Registers& r = start_.registers;
  uint64_t popped = 0, pc = 0;
  return layout_.rules->jumps_by_return != nullptr &&
         layout_.rules->jumps_by_return(Code(), r.pc, popped) &&
         !(ReturnAddress(r.sp + popped, pc) && IsReturn(pc)) &&
         ToFrameAt(r.sp + popped, start_.java.return_pc, r.fp);
}

// A stub that has pushed registers, or the frame pointer and nothing else: the frame pointer is its
// caller's still.
bool JavaWalk::FromStubThatPushes(const FoundCode& code) {
  const Registers& r = start_.registers;
  uint64_t words = 0, fp = 0;
  int pushed = 0, all = 0;
  if (!layout_.rules->has_link_register && Word(r.sp, fp) && fp == r.fp &&
      layout_.rules->sets_up_fp(Code(), r.pc - 1, pushed, all))
    return TakeReturnAt(r.sp + 8, fp);
  return layout_.rules->pushes_first != nullptr &&
         layout_.rules->pushes_first(Code(), code.begin, r.pc, words) &&
         TakeReturnAt(r.sp + 8 * words, r.fp);
}

// What compiled code has pushed, for a stub or for itself, lies below its frame, which ends in a
// return address.
void JavaWalk::PassArguments() {
  constexpr uint64_t kMostPushed = 4;
  const FoundCode code = CodeAt(at_.pc);
  if (layout_.rules->takes_back == nullptr || code.kind != CodeKind::kNmethod ||
      code.frame_words <= 0 || at_.has_sender)
    return;
  at_.sp += 8 * layout_.rules->takes_back(Code(), at_.pc);
  const uint64_t sp = at_.sp, end = sp + 8 * static_cast<uint64_t>(code.frame_words) - 8;
  uint64_t above = 0;
  if (!ReturnAddress(end, above) || !InCode(above))
    for (uint64_t pushed = kMostPushed; pushed > 0; pushed--)
      if (IsFrameAt(sp + 8 * pushed, code)) at_.sp = sp + 8 * pushed;  // the nearest
  low_ = at_.sp;
}

// In the stub through which native code calls Java, before the call or behind it: the frame is the
// one that a callee finds, which returns to native code.
bool JavaWalk::FromCallStub() {
  const Registers& r = start_.registers;
  uint64_t pc = 0, word = 0;
  if (r.pc - layout_.call_stub_return + kMostCallStub > 2 * kMostCallStub) return false;
  // While it sets its frame up, a register leads to its JavaCallWrapper, which begins with the
  // thread.
  const uint64_t wrapper = start_.java.first_argument;
  if (r.pc < layout_.call_stub_return && wrapper > r.sp && Word(wrapper, word) &&
      word == start_.thread && memory_.ReadWord(r.sp, word) && !InCode(word)) {
    UpByWrapper(wrapper, {});
    return true;
  }
  if (r.fp <= r.sp || !ReturnAddress(r.fp + 8, pc) || InCode(pc) ||
      !Word(r.fp + layout_.call_wrapper, word) || word <= r.fp || !InStack(word))
    return false;
  UpFromEntry();
  return true;
}

// A stub that finds who handles an exception has no frame at its beginning and none at its end: it
// is entered and left by a jump, and a register leads to the compiled method that threw, whose
// frame is on top (OptoRuntime::generate_exception_blob).
bool JavaWalk::FromExceptionPc(const FoundCode& code) {
  const Registers& r = start_.registers;
  if (layout_.rules->jumps_with_pc == nullptr ||
      !layout_.rules->jumps_with_pc(Code(), code.begin, r.pc))
    return false;
  // Its first instruction pushes that register.
  return ToFrameAt(r.sp, start_.java.exception_pc, r.fp) ||
         ToFrameAt(r.sp + 8, start_.java.exception_pc, r.fp);
}

// Stubs lie side by side in one piece of code, and nothing tells where each begins. What is still
// to be taken off the stack, the nearest epilogue tells: it must lead to a return address.
bool JavaWalk::FromStubByEpilogue(const FoundCode& code) {
  if (layout_.rules->next_epilogue == nullptr) return false;
  const Registers& r = start_.registers;
  Epilogue found{};
  uint64_t behind = r.pc, fp = 0;
  int pushed = 0, all = 0;
  // Entered just now, while the frame pointer is the caller's still.
  if (layout_.rules->sets_up_fp(Code(), r.pc, pushed, all)) return TakeReturnAt(r.sp, r.fp);
  if (layout_.rules->keeps_fp(Code(), code.begin, r.pc))
    return r.fp >= r.sp && TakeReturnOfStub(r.fp);
  for (int i = 0; i < kMostEpilogues; i++) {
    if (!layout_.rules->next_epilogue(Code(), r.pc, behind, code.end, found)) return false;
    fp = r.fp;
    if (found.fp_word >= 0 && !Word(r.sp + 8 * static_cast<uint64_t>(found.fp_word), fp)) continue;
    if (TakeReturnAt(r.sp + 8 * found.words, fp)) return true;
  }
  return false;
}

// The interpreter's own entries of Math.sin and its like have called a stub, and have no frame: the
// return address is on top, the caller's sp in a register that the stub leaves alone
// (TemplateInterpreterGenerator::generate_math_entry).
void JavaWalk::LeaveMathEntry() {
  const uint64_t above = start_.java.sender_sp;
  if (layout_.rules->leaves_entry == nullptr || CodeAt(at_.pc).kind != CodeKind::kCodelet ||
      !layout_.rules->leaves_entry(Code(), at_.pc) || !TakeReturnAt(at_.sp, at_.fp))
    return;
  if (above >= at_.sp && InStack(above - 8)) at_.sp = low_ = above;
}

}  // namespace walkhammer
