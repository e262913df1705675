// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/walk/stack_position.h"

#include <algorithm>

namespace walkhammer::asgst {

// A cached entry holds if the method still has the jmethodID and the ConstMethod of the entry: a
// jmethodID passes to newer versions of a method, and these may get the memory of an older version.
bool StackPosition::MethodAt(uint64_t method, MethodFacts& facts) const {
  uint64_t now = 0, const_method = 0;
  if (start_.caches != nullptr && start_.caches->methods.Find(method, 0, facts) &&
      (facts.array_at == 0 || (memory_.ReadWord(facts.array_at, now) && now == facts.array)) &&
      memory_.ReadWord(facts.witness_at, now) && now == facts.witness &&
      memory_.ReadWord(method + layout_.jvm.method_const, const_method) &&
      const_method == facts.const_method)
    return true;
  facts = {};
  if (!ReadMethod(layout_, memory_, method, facts)) return false;
  if (start_.caches != nullptr && facts.id != 0) start_.caches->methods.Put(method, 0, facts);
  return true;
}

// sp of an interpreted frame's caller: sp' = [fp + sender_sp]. On aarch64 an interpreted caller's
// own sp leaves room for all that the caller may yet push, and its callee's frame is within that
// room: if [fp + sender_sp] <= fp, then sp' = fp + 16.
bool StackPosition::SenderSp(uint64_t fp, uint64_t& sp) const {
  constexpr uint64_t kFrameRecord = 16;
  if (!Word(fp + layout_.sender_sp, sp)) return false;
  if (layout_.rules->has_link_register && sp <= fp && sp >= start_.stack_floor && (sp & 7) == 0)
    sp = fp + kFrameRecord;
  return sp > fp && InStack(sp - 8);
}

// False if there is no interpreted frame at `fp`.
bool StackPosition::InterpretedAt(uint64_t fp, Interpreted& found, MethodFacts& facts) const {
  return SenderSp(fp, found.sp) && ReturnAddress(fp + 8, found.pc) && InCode(found.pc) &&
         Word(fp + layout_.interpreter_method, found.method) && MethodAt(found.method, facts);
}

// Address of a handler, which an nmethod holds as an address (at `begin`) or as an offset (at
// `offset`); 0: none.
uint64_t StackPosition::HandlerOf(const FoundCode& code, int begin, int offset) const {
  uint64_t handler = 0;
  int32_t distance = 0;
  if (begin >= 0) return Code().ReadWord(code.blob + begin, handler) ? handler : 0;
  return offset >= 0 && Code().Read(code.blob + offset, distance) && distance > 0
             ? code.blob + distance
             : 0;
}

// Stack address where the newest continuation was entered: [thread + cont_entry]; 0: none, or not
// known.
uint64_t StackPosition::ContinuationEntry() const {
  uint64_t entry = 0;
  return layout_.cont_entry >= 0 &&
                 memory_.ReadWord(start_.thread + static_cast<uint64_t>(layout_.cont_entry), entry)
             ? entry
             : 0;
}

// Moves to the frame of enterSpecial, which entered the newest continuation. A mounted virtual
// thread has only its newest frames on the stack: the oldest of these frames returns to a stub that
// brings more (StubRoutines::cont_returnBarrier), and enterSpecial's frame is above these frames.
// The stub calls from right below enterSpecial's frame, or from below the room that it has made for
// more frames. Other stubs, too, call from more than `most` bytes below: FromExit() distinguishes
// the stubs.
bool StackPosition::ToContinuationEntry(uint64_t most) {
  uint64_t pc = 0;
  const uint64_t entry = ContinuationEntry();
  if (layout_.cont_return_at == 0 || entry == 0 || entry < at_.sp ||
      (entry - at_.sp > most && IsReturn(at_.pc)) || !InStack(entry) ||
      !memory_.ReadWord(layout_.cont_return_at, pc) || !InCode(pc))
    return false;
  // enterSpecial's frame: sp = entry, fp = entry + cont_entry_size (or size - 16), ret = [fp + 8],
  // fp' = [fp].
  const uint64_t frame = 8 * static_cast<uint64_t>(std::max(CodeAt(pc).frame_words, 2));
  const uint64_t end =
      entry +
      (layout_.cont_entry_size > 0 ? static_cast<uint64_t>(layout_.cont_entry_size) : frame - 16);
  MoveTo(pc, entry, end);
  return true;
}

// Moves to a stub's caller by the stub's frame pointer: ret = [fp + 8], fp' = [fp], sp' = fp + 16.
// The stub of the entry barrier pushes a cookie, room for another sp, before it sets up fp:
// ret = [fp + 16], sp' = fp + 24 (StubGenerator::generate_method_entry_barrier).
bool StackPosition::TakeReturnOfStub(uint64_t fp) {
  constexpr uint64_t kCookie = ~uint64_t{0};
  uint64_t caller_fp = 0, word = 0;
  if (fp < low_ || !Word(fp, caller_fp)) return false;
  if (TakeReturnAt(fp + 8, caller_fp)) return true;
  return Word(fp + 8, word) && word == kCookie && TakeReturnAt(fp + 16, caller_fp);
}

// True if `pc` may be a return address into generated code.
bool StackPosition::IsReturn(uint64_t pc) {
  if (!InCode(pc)) return false;
  const FoundCode code = CodeAt(pc);
  if (code.kind == CodeKind::kNone || pc <= code.begin || pc >= code.end) return false;
  // The interpreter pushes the address of a codelet that runs after the call.
  return code.kind == CodeKind::kCodelet || layout_.rules->follows_call(Code(), pc);
}

// True if a frame of `code` may be at `sp`: `code` is compiled, and [sp + size - 8] is a return
// address.
bool StackPosition::IsFrameAt(uint64_t sp, const FoundCode& code) {
  uint64_t pc = 0;
  return code.kind == CodeKind::kNmethod && code.frame_words > 0 &&
         ReturnAddress(sp + FrameBytes(code) - 8, pc) && IsReturn(pc);
}

// Moves to compiled code at `pc` whose frame is at `sp`; false if no frame can be there.
bool StackPosition::ToFrameAt(uint64_t sp, uint64_t pc, uint64_t fp) {
  if (!IsFrameAt(sp, CodeAt(pc))) return false;
  MoveTo(pc, sp, fp);
  return true;
}

// Moves to the caller: ret = [slot], fp' = fp, sp' = slot + 8. False if [slot] is not a return
// address.
bool StackPosition::TakeReturnAt(uint64_t slot, uint64_t fp) {
  uint64_t pc = 0;
  if (!ReturnAddress(slot, pc) || !IsReturn(pc)) return false;
  at_ = {pc, slot + 8, fp};
  PassLeafWords();
  return true;
}

// Moves sp over the words that compiled code has pushed for the call that `at_` has made. On x86_64
// PassArguments() does so.
void StackPosition::PassLeafWords() {
  if (layout_.rules->has_link_register) at_.sp += 8 * layout_.rules->takes_back(Code(), at_.pc);
  low_ = at_.sp;
}

}  // namespace walkhammer::asgst
