// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/walk/stack_position.h"

#include <algorithm>

namespace walkhammer::asgst {
namespace {

// A copy of what was just written in smaller words would cost as much as a frame of the walk.
inline void SetCode(const CodeFacts& facts, FoundCode& code) {
  code.kind = CodeKind::kNmethod;
  code.blob = code.heap_low = facts.blob;
  code.name = 0;
  code.begin = facts.blob + facts.begin;
  code.end = facts.blob + facts.end;
  code.heap_high = (code.end + 7) & ~uint64_t{7};
  code.level = facts.level;
  code.frame_complete = facts.frame_complete;
  code.frame_words = facts.frame_words;
}

}  // namespace

bool StackPosition::UnknownMethodAt(uint64_t method, MethodFacts& facts) const {
  facts = {};
  if (!ReadMethod(layout_, memory_, method, facts)) return false;
  if (start_->caches != nullptr && facts.id != 0) start_->caches->methods.Put(method, 0, facts);
  return true;
}

// Code at an interrupted pc. What the instructions of an nmethod say there is in `facts_` then.
FoundCode StackPosition::InterruptedCode(uint64_t pc) {
  uint64_t id = 0;
  facts_pc_ = 0;
  if (!start_->uses_rules || !MayHaveRules(pc) || !start_->caches->code.FindAny(pc, id, facts_) ||
      !IsSameCode(facts_.blob, id)) {
    const FoundCode code = CodeAt(pc);
    if (code.kind == CodeKind::kNmethod) ReadFacts(code, pc);
    return code;
  }
  last_pc_ = facts_pc_ = pc;
  SetCode(facts_, last_code_);
  code_memory_.SetHeap(last_code_.heap_low, last_code_.heap_high);
  FoundCode code;
  SetCode(facts_, code);
  return code;
}

// What the instructions around `pc` say, to be found again by later walks.
void StackPosition::ReadFacts(const FoundCode& nmethod, uint64_t pc) {
  const CodeRules& rules = *layout_.rules;
  facts_ = {};
  facts_.blob = nmethod.blob;
  facts_.begin = static_cast<uint32_t>(nmethod.begin - nmethod.blob);
  facts_.end = static_cast<uint32_t>(nmethod.end - nmethod.blob);
  facts_.frame_words = nmethod.frame_words;
  facts_.frame_complete = nmethod.frame_complete;
  facts_.level = static_cast<int8_t>(nmethod.level);
  facts_.shape = static_cast<uint8_t>(ShapeAt(rules, Code(), nmethod, pc));
  facts_.takes_back = static_cast<uint8_t>(rules.takes_back(Code(), nmethod, pc));
  if (nmethod.level == 0 && rules.adds_to_sp != nullptr)
    facts_.adds_to_sp = static_cast<uint32_t>(rules.adds_to_sp(Code(), pc));
  facts_.in_handler = DeoptHandlerAround(nmethod, pc) != 0;
  facts_pc_ = pc;
  uint32_t id = 0;
  // A pc that no thread was interrupted at may be in code that is being installed.
  if (start_->uses_rules && start_->from_context && pc < nmethod.end &&
      Peek(nmethod.blob + static_cast<uint64_t>(layout_.compile_id), id))
    start_->caches->code.Put(pc, id, facts_);
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

// The handler of deoptimisation that `pc` is in; 0: none.
uint64_t StackPosition::DeoptHandlerAround(const FoundCode& nmethod, uint64_t pc) const {
  for (const uint64_t handler :
       {HandlerOf(nmethod, layout_.mh_deopt_begin, layout_.mh_deopt_offset),
        HandlerOf(nmethod, layout_.code.deopt_begin, layout_.code.deopt_offset)})
    if (handler != 0 && pc - handler < kMostOfHandler) return handler;
  return 0;
}

// Stack address where the newest continuation was entered: [thread + cont_entry]; 0: none, or not
// known.
uint64_t StackPosition::ContinuationEntry() const {
  uint64_t entry = 0;
  return layout_.cont_entry >= 0 && ThreadField(layout_.cont_entry, entry) ? entry : 0;
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
  const bool thaws = entry - at_.sp > kMostOfBarrier;
  const uint64_t end =
      entry +
      (layout_.cont_entry_size > 0 ? static_cast<uint64_t>(layout_.cont_entry_size) : frame - 16);
  MoveTo(pc, entry, end);
  if (start_->frozen) BeginFrozen(thaws);
  return true;
}

// Moves from enterSpecial's frame to the newest frame that is in the heap, if there is one.
// `thaws`: the stub has made room for frames on the stack, so it may have taken them from the heap.
// While doYield moves frames to the heap, they may be at both places. Only a thread in Java holds
// up safepoints for certain: ThreadInVMfromNative of JDK 21 and later sets in_vm, and then looks
// whether a safepoint has begun.
void StackPosition::BeginFrozen(bool thaws) {
  constexpr uint8_t kInJava = 8;  // number of ThreadStates
  const ThreadStates& states = layout_.jvm.states;
  int32_t state = 0;
  uint64_t newest = 0, last_sp = 0;
  if (!ThreadField(layout_.jvm.thread_state, state) ||
      !ThreadField(layout_.jvm.anchor + layout_.jvm.last_sp, last_sp))
    return;
  const bool holds_up = states.StateOf(state) == kInJava && states.StandsStill(kInJava, last_sp);
  entered_ = at_;
  Registers at{};
  const auto step = frozen_.Begin(at_.sp, !holds_up, at);
  guessed_ |= thaws && layout_.chunks.stack > 0;
  if (step == FrozenStack::Step::kEnd) return;
  const FoundCode first = first_pc_ == 0 ? FoundCode{} : CodeAt(first_pc_);
  const bool yields = first.kind == CodeKind::kNmethod && first.level == 0 &&
                      Code().ReadWord(first.blob + layout_.code.method, newest) &&
                      newest == layout_.chunks.yield;
  guessed_ |= yields;
  TakeFrozen(step, at);
}

// Moves to the frozen frame at `at` or, if there is none, to enterSpecial's frame.
void StackPosition::TakeFrozen(FrozenStack::Step step, const Registers& at) {
  if (step == FrozenStack::Step::kFrame && InCode(at.pc)) {
    at_ = {at.pc, at.sp, at.fp};
    return;
  }
  guessed_ |= step != FrozenStack::Step::kEnd;  // frames may be missing
  frozen_.Leave();
  at_ = entered_;
}

// Moves to the caller of a frame in the heap. `frame_words`: of compiled code.
void StackPosition::UpFrozen(int32_t frame_words) {
  Registers at = {at_.pc, at_.sp, at_.fp, 0};
  TakeFrozen(frozen_.Up(frame_words, at), at);
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
  if (layout_.rules->has_link_register)
    at_.sp += 8 * layout_.rules->takes_back(Code(), CodeAt(at_.pc), at_.pc);
  low_ = at_.sp;
}

}  // namespace walkhammer::asgst
