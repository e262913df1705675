// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/walk/java_walk.h"

#include <cstring>

namespace walkhammer::asgst {
namespace {

constexpr int kMostSkipped = 64;         // consecutive frames without a Java method
constexpr uint64_t kMostOfBarrier = 64;  // bytes that the return barrier pushes before it calls
constexpr int kFirstFeatureWithUpcalls = 19;
constexpr int kMostInlined = 256;  // in one activation: HotSpot's MaxForceInlineLevel is 100

}  // namespace

// A cached entry holds if the method still has the jmethodID and the ConstMethod of the entry: a
// jmethodID passes to newer versions of a method, and these may get the memory of an older version.
bool JavaWalk::MethodAt(uint64_t method, MethodFacts& facts) const {
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

bool JavaWalk::End(WalkEnd why) {
  ended_ = true;
  broken_ = why != WalkEnd::kWhole;
  end_ = why;
  return false;
}

WalkEnd JavaWalk::end() const {
  if (!ended_ || in_c_ || in_scopes_ || stub_on_top_) return WalkEnd::kUntold;
  return end_ == WalkEnd::kWhole && guessed_ ? WalkEnd::kGuessed : end_;
}

void JavaWalk::BeginC(const Registers& at, bool top, uint64_t limit) {
  in_c_ = start_.non_java && !InCode(at.pc) && at.sp < limit;
  if (in_c_) c_.Begin(at, top, limit);
}

// Returns the next frame of C code that comes before the current Java frame. False: none is left.
bool JavaWalk::EmitC(JavaFrame& frame) {
  if (!in_c_) return false;
  const Registers at = c_.at();
  frame = {FrameType::kCpp, -1, -1, 0, at.pc, at.sp, at.fp, {}};
  in_c_ = c_.Up() && !InCode(c_.at().pc);
  return true;
}

bool JavaWalk::Next(JavaFrame& frame) {
  guessed_frame_ = guessed_;
  const bool found = Emit(frame);
  frame.guessed = found && guessed_frame_;
  return found;
}

bool JavaWalk::Emit(JavaFrame& frame) {
  if (EmitC(frame)) return true;
  if (stub_on_top_) {
    const Registers& r = start_.registers;
    stub_on_top_ = false;
    frame = {FrameType::kStub, -1, -1, 0, r.pc, r.sp, r.fp, {}};
    return true;
  }
  if (in_scopes_) return EmitScope(frame);
  for (int skipped = 0; !ended_ && skipped < kMostSkipped; skipped++) {
    const FoundCode code = CodeAt(at_.pc);
    guessed_frame_ = guessed_;
    switch (code.kind) {
      case CodeKind::kNone:
        return End(WalkEnd::kNoCaller);
      case CodeKind::kCodelet:
        return InterpretedFrame(frame);
      case CodeKind::kNmethod:
        return CompiledFrame(code, frame);
      case CodeKind::kStub:
        frame = {FrameType::kStub, -1, -1, 0, at_.pc, at_.sp, at_.fp, {}};
        if (!(IsUpcall(code) ? UpFromUpcall(code) : Up(code.frame_words)) && !start_.non_java)
          return false;
        if (start_.non_java) return true;
    }
  }
  return ended_ ? false : End(WalkEnd::kUnknownStub);
}

// sp of an interpreted frame's caller: sp' = [fp + sender_sp]. On aarch64 an interpreted caller's
// own sp leaves room for all that the caller may yet push, and its callee's frame is within that
// room: if [fp + sender_sp] <= fp, then sp' = fp + 16.
bool JavaWalk::SenderSp(uint64_t fp, uint64_t& sp) const {
  constexpr uint64_t kFrameRecord = 16;
  if (!Word(fp + layout_.sender_sp, sp)) return false;
  if (layout_.rules->has_link_register && sp <= fp && sp >= start_.stack_floor && (sp & 7) == 0)
    sp = fp + kFrameRecord;
  return sp > fp && InStack(sp - 8);
}

bool JavaWalk::IsInterpretedFrameAt(uint64_t fp, uint64_t& method, MethodFacts& facts) const {
  uint64_t sender_sp = 0, return_pc = 0;
  return SenderSp(fp, sender_sp) && ReturnAddress(fp + 8, return_pc) && InCode(return_pc) &&
         Word(fp + layout_.interpreter_method, method) && MethodAt(method, facts);
}

// All but `facts`, which is read in place. A frame that is made elsewhere and copied costs a fifth
// of the walk: the processor waits for what was just written in smaller words.
void JavaWalk::SetFrame(JavaFrame& frame, uint64_t method, int level, int32_t bci,
                        uint64_t code) const {
  frame.type = FrameType::kJava;
  frame.level = static_cast<int8_t>(level);
  frame.bci = bci;
  frame.method = method;
  frame.pc = at_.pc;
  frame.sp = at_.sp;
  frame.fp = at_.fp;
  frame.code = code;
  frame.guessed = false;
}

bool JavaWalk::InterpretedFrame(JavaFrame& frame) {
  uint64_t method = 0, bcp = 0;
  const MethodFacts& facts = frame.facts;
  if (!IsInterpretedFrameAt(at_.fp, method, frame.facts)) return End(WalkEnd::kNoMethod);
  SetFrame(frame, method, 0, -1, 0);
  if (facts.is_native) {
    frame.type = FrameType::kNative;
  } else {
    if (facts.code_size == 0) return End(WalkEnd::kNoMethod);  // an abstract method never runs
    const uint64_t begin = facts.const_method + layout_.const_bytes;
    // The interpreter keeps its byte code pointer in a register and saves the pointer at calls.
    if (at_.is_top && start_.java.byte_code - begin < facts.code_size)
      frame.bci = static_cast<int32_t>(start_.java.byte_code - begin);
    else if (Word(at_.fp + layout_.interpreter_bcp, bcp) && bcp - begin < facts.code_size)
      frame.bci = static_cast<int32_t>(bcp - begin);
    else
      frame.bci = 0;  // on entry
  }
  if (!UpFromInterpreted()) End(WalkEnd::kUnreadable);
  return true;
}

bool JavaWalk::UpFromInterpreted() {
  uint64_t pc = 0, fp = 0, sp = 0;
  if (!ReturnAddress(at_.fp + 8, pc) || !Word(at_.fp, fp) || !SenderSp(at_.fp, sp)) return false;
  at_ = {pc, sp, fp, false, false, {}};
  low_ = sp;
  return true;
}

// Address of a handler, which an nmethod holds as an address (at `begin`) or as an offset (at
// `offset`); 0: none.
uint64_t JavaWalk::HandlerOf(const FoundCode& code, int begin, int offset) const {
  uint64_t handler = 0;
  int32_t distance = 0;
  if (begin >= 0) return Code().ReadWord(code.blob + begin, handler) ? handler : 0;
  return offset >= 0 && Code().Read(code.blob + offset, distance) && distance > 0
             ? code.blob + distance
             : 0;
}

bool JavaWalk::CompiledFrame(const FoundCode& code, JavaFrame& frame) {
  const WalkLayout& l = layout_;
  uint64_t pc = at_.pc, method = 0;
  int32_t offset = 0;
  // The return address into a frame to be deoptimised is replaced by a handler; the frame's own
  // pc = [sp + offset], with offset = [blob + original_pc].
  if (!at_.is_top &&
      (pc == HandlerOf(code, l.code.deopt_begin, l.code.deopt_offset) ||
       pc == HandlerOf(code, l.mh_deopt_begin, l.mh_deopt_offset)) &&
      (!Code().Read(code.blob + l.code.original_pc, offset) || !Word(at_.sp + offset, pc) ||
       pc < code.begin || pc >= code.end))
    return End(WalkEnd::kUnreadable);
  // Nothing is inlined before the frame is complete. Only native wrappers have level 0.
  const bool entering = at_.is_top && code.frame_complete >= 0 &&
                        pc < code.begin + static_cast<uint64_t>(code.frame_complete);
  const bool has_scopes = !entering && code.level > 0;
  if (has_scopes) debug_.Open(code, Code());
  // A description at a pc is of the code before this pc (DebugInformationRecorder's
  // add_non_safepoint), so interrupted code is described after its pc. Polls and C1's null checks
  // are described where they begin; the instruction before is taken for what follows, as by
  // HotSpot's own walker (forte.cpp).
  if (const uint64_t described = at_.is_top ? pc + 1 : pc;
      has_scopes && debug_.Innermost(described, scope_)) {
    EnterScopes(code, described);
    return EmitScope(frame);
  }
  const MethodFacts& facts = frame.facts;
  if (!Code().ReadWord(code.blob + l.code.method, method) || !MethodAt(method, frame.facts) ||
      (!facts.is_native && facts.code_size == 0))
    return End(WalkEnd::kNoMethod);
  SetFrame(frame, method, code.level, 0, code.begin);
  if (facts.is_native) frame.type = FrameType::kNative;
  if (facts.is_native || !entering) frame.bci = -1;  // not known
  Up(code.frame_words);
  return true;
}

void JavaWalk::EnterScopes(const FoundCode& code, uint64_t pc) {
  in_scopes_ = true;
  scopes_code_ = code.begin;
  scopes_offset_ = static_cast<uint32_t>(pc - code.begin);
  scopes_level_ = code.level;
  scopes_frame_words_ = code.frame_words;
  inlined_ = 0;
}

bool JavaWalk::PlaceOfScopes(ScopePlace& place) const {
  place = {at_.pc, scopes_code_, scopes_offset_, 0};
  return in_scopes_ && debug_.CompileId(place.compile_id);
}

bool JavaWalk::BeginAtScopes(const ScopePlace& place) {
  at_ = {place.pc, 0, 0, false, true, {}};
  const FoundCode code = CodeAt(place.pc);
  if (code.kind != CodeKind::kNmethod || code.begin != place.code) return false;
  debug_.Open(code, Code());
  uint32_t id = 0;
  if (!debug_.CompileId(id) || id != place.compile_id ||
      !debug_.Innermost(place.code + place.offset, scope_))
    return false;
  EnterScopes(code, place.code + place.offset);
  return true;
}

bool JavaWalk::EmitScope(JavaFrame& frame) {
  const int32_t bci = scope_.bci < 0 ? 0 : scope_.bci;
  if (!MethodAt(scope_.method, frame.facts) || bci >= frame.facts.code_size) {
    in_scopes_ = false;
    return End(WalkEnd::kNoMethod);
  }
  debug_.Keep(scope_);  // the scope is plausible
  SetFrame(frame, scope_.method, scopes_level_, bci, scopes_code_);
  if (scope_.sender != 0) {
    frame.type = FrameType::kInlined;
    if (++inlined_ < kMostInlined && debug_.At(scope_.sender, scope_)) return true;
    in_scopes_ = false;
    End(WalkEnd::kNoMethod);
    return true;
  }
  in_scopes_ = false;
  Up(scopes_frame_words_);
  return true;
}

bool JavaWalk::Up(int32_t frame_words) {
  if (at_.has_sender) {
    const Registers sender = at_.sender;
    at_ = {sender.pc, sender.sp, sender.fp, false, false, {}};
    low_ = sender.sp;
    return true;
  }
  if (at_.pc == layout_.call_stub_return) return UpFromEntry();
  if (frame_words <= 0) {
    at_barrier_ = false;
    if (!at_.is_top &&
        (ToContinuationEntry(kMostOfBarrier) || FromStubWithoutFrame() ||
         (layout_.rules->run_to_exit == nullptr && ToContinuationEntry(start_.stack_high))))
      return true;
    if (!TakeReturnOfStub(at_.fp))
      return End(at_barrier_ ? WalkEnd::kReturnBarrier : WalkEnd::kUnknownStub);
    // Where code is simulated, it has not told that the stub keeps a frame pointer.
    guessed_ |= layout_.rules->run_to_exit != nullptr;
    return true;
  }
  const uint64_t above = at_.sp + 8 * static_cast<uint64_t>(frame_words);
  uint64_t pc = 0, fp = 0;
  if (above <= at_.sp || !ReturnAddress(above - 8, pc) || !Word(above - 16, fp))
    return End(WalkEnd::kUnreadable);
  // An entry barrier that gives its nmethod up puts the address of a stub there; the callee still
  // has fp' (BarrierSetNMethod::deoptimize).
  if (InCode(fp)) fp = at_.fp;
  at_ = {pc, above, fp, false, false, {}};
  low_ = above;
  return true;
}

// Stack address where the newest continuation was entered: [thread + cont_entry]; 0: none, or not
// known.
uint64_t JavaWalk::ContinuationEntry() const {
  uint64_t entry = 0;
  return layout_.cont_entry >= 0 &&
                 memory_.ReadWord(start_.thread + static_cast<uint64_t>(layout_.cont_entry), entry)
             ? entry
             : 0;
}

// Continuation.doYield returns in place of enterSpecial, which entered the continuation, and
// removes enterSpecial's frame: ret = [sp + size - 8], fp' = [sp + size - 16], sp' = sp + size of
// that frame. doYield's own frame has moved to the heap: for a moment the anchor has the new sp and
// still the old pc. Once doYield is about to remove enterSpecial's frame, the thread no longer has
// the entry.
void JavaWalk::LeaveContinuation() {
  uint64_t entered = 0, pc = 0, fp = 0, removed = 0;
  if (layout_.cont_return_at == 0 || at_.has_sender) return;
  const FoundCode top = CodeAt(at_.pc);
  if (top.kind != CodeKind::kNmethod) return;
  if (const uint64_t entry = ContinuationEntry(); entry == 0 || at_.sp != entry) {
    if (top.level == 0 && at_.is_top && layout_.rules->adds_to_sp != nullptr)
      removed = layout_.rules->adds_to_sp(Code(), at_.pc);
    if (removed == 0) return;
  }
  if (!memory_.ReadWord(layout_.cont_return_at, entered)) return;
  const FoundCode code = CodeAt(entered);
  const uint64_t frame = 8 * static_cast<uint64_t>(code.frame_words), above = at_.sp + frame;
  if (code.kind != CodeKind::kNmethod || code.frame_words <= 2 ||
      (removed != 0 && (removed + 16 != frame || top.begin == code.begin)) ||
      !ReturnAddress(above - 8, pc) || !Word(above - 16, fp))
    return;
  at_.has_sender = true;
  at_.sender = {pc, above, fp, 0};
}

// Moves to the frame of enterSpecial, which entered the newest continuation. A mounted virtual
// thread has only its newest frames on the stack: the oldest of these frames returns to a stub that
// brings more (StubRoutines::cont_returnBarrier), and enterSpecial's frame is above these frames.
// The stub calls from right below enterSpecial's frame, or from below the room that it has made for
// more frames. Other stubs, too, call from more than `most` bytes below: FromExit() distinguishes
// the stubs.
bool JavaWalk::ToContinuationEntry(uint64_t most) {
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
  at_ = {pc, entry, end, false, false, {}};
  low_ = entry;
  return true;
}

// Moves to the caller of a stub that has called and whose frame size is not known, by simulation.
bool JavaWalk::FromStubWithoutFrame() {
  return FromExit(CodeAt(at_.pc), StartAt(at_.pc, at_.sp, at_.fp));
}

// Moves to a stub's caller by the stub's frame pointer: ret = [fp + 8], fp' = [fp], sp' = fp + 16.
// The stub of the entry barrier pushes a cookie, room for another sp, before it sets up fp:
// ret = [fp + 16], sp' = fp + 24 (StubGenerator::generate_method_entry_barrier).
bool JavaWalk::TakeReturnOfStub(uint64_t fp) {
  constexpr uint64_t kCookie = ~uint64_t{0};
  uint64_t caller_fp = 0, word = 0;
  if (fp < low_ || !Word(fp, caller_fp)) return false;
  if (TakeReturnAt(fp + 8, caller_fp)) return true;
  return Word(fp + 8, word) && word == kCookie && TakeReturnAt(fp + 16, caller_fp);
}

// Moves from an entry frame, through which native code has called Java, to older Java frames:
// wrapper = [fp + call_wrapper] holds the thread's previous anchor. The native caller:
// ret = [fp + 8], fp' = [fp], sp' = fp + 16.
bool JavaWalk::UpFromEntry() {
  uint64_t wrapper = 0, caller_pc = 0, caller_fp = 0;
  Registers caller{};
  if (ReturnAddress(at_.fp + 8, caller_pc) && Word(at_.fp, caller_fp))
    caller = {caller_pc, at_.fp + 16, caller_fp, 0};
  if (!Word(at_.fp + layout_.call_wrapper, wrapper) || !InStack(wrapper))
    return End(WalkEnd::kUnreadable);
  return UpByAnchor(wrapper + layout_.wrapper_anchor, caller);
}

// True for code through which C calls Java by the foreign function interface.
bool JavaWalk::IsUpcall(const FoundCode& code) const {
  constexpr char kName[] = "upcall_stub";  // followed by a signature in debug builds
  uint8_t text[sizeof kName - 1];
  return at_.pc != layout_.call_stub_return && !at_.has_sender &&
         layout_.feature >= kFirstFeatureWithUpcalls &&
         memory_.ReadBytes(code.name, text, sizeof text) &&
         std::memcmp(text, kName, sizeof text) == 0;
}

// Moves from the frame of an upcall stub to older Java frames: [blob + upcall_data] is the distance
// from sp of the thread's previous anchor (UpcallStub::FrameData, whose first member it is). The
// stub does not state its frame's size, but keeps a frame pointer: ret = [fp + 8], fp' = [fp],
// sp' = fp + 16 of the native caller.
bool JavaWalk::UpFromUpcall(const FoundCode& code) {
  int32_t offset = 0;
  uint64_t pc = 0, fp = 0;
  if (layout_.upcall_data <= 0 ||
      !Code().Read(code.blob + static_cast<uint64_t>(layout_.upcall_data), offset) || offset < 0)
    return End(WalkEnd::kUpcall);
  Registers caller{};
  if (at_.fp >= at_.sp && ReturnAddress(at_.fp + 8, pc) && Word(at_.fp, fp))
    caller = {pc, at_.fp + 16, fp, 0};
  return UpByAnchor(at_.sp + static_cast<uint64_t>(offset), caller);
}

// Moves to the frame of the anchor at `anchor`, on the stack. `caller`: the C code that has called
// Java; pc 0: not known.
bool JavaWalk::UpByAnchor(uint64_t anchor, const Registers& caller) {
  uint64_t sp = 0, pc = 0, fp = 0;
  if (!Word(anchor + layout_.jvm.last_sp, sp) || !Word(anchor + layout_.jvm.last_pc, pc) ||
      !Word(anchor + layout_.jvm.last_fp, fp))
    return End(WalkEnd::kUnreadable);
  if (sp == 0) {  // the thread's first Java call
    if (caller.pc != 0) BeginC(caller, false, start_.stack_high);
    return End(WalkEnd::kWhole);
  }
  if (sp <= at_.sp || !InStack(sp)) return End(WalkEnd::kAnchor);
  if (caller.pc != 0) BeginC(caller, false, sp);
  low_ = sp - 8;
  if (pc == 0 && !ReturnAddress(sp - 8, pc)) return End(WalkEnd::kUnreadable);
  at_ = {pc, sp, fp, false, false, {}};
  low_ = sp;
  return true;
}

}  // namespace walkhammer::asgst
