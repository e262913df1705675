// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/walk/java_walk.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace walkhammer::asgst {
namespace {

constexpr int kMostSkipped = 64;  // consecutive frames without a Java method
constexpr int kFirstFeatureWithUpcalls = 19;
constexpr int kInNative = 4, kInVm = 6, kInJava = 8;  // numbers of ThreadStates; + 1: in transition
constexpr int kBlocked = 10;
constexpr uint64_t kMostCallStub = 512;  // bytes of the call stub before, and after, its call

WalkEnd EndOf(WalkStatus status) {
  if (status == WalkStatus::kUnknownJava) return WalkEnd::kNoTop;
  if (status == WalkStatus::kUnknownState) return WalkEnd::kState;
  if (status == WalkStatus::kDeoptimization) return WalkEnd::kDeopt;
  return status == WalkStatus::kNoJavaFrame ? WalkEnd::kNoJava : WalkEnd::kAnchor;
}

}  // namespace

bool JavaWalk::End(WalkEnd why) {
  ended_ = true;
  broken_ = why != WalkEnd::kWhole;
  end_ = why;
  return false;
}

WalkEnd JavaWalk::end() const {
  if (!ended_ || in_c_ || in_scopes_ || in_rules_ || stub_on_top_.pc != 0 || unpacked_left_ > 0)
    return WalkEnd::kUntold;
  return end_ == WalkEnd::kWhole && guessed_ ? WalkEnd::kGuessed : end_;
}

void JavaWalk::BeginC(const Registers& at, bool top, uint64_t limit) {
  in_c_ = start_->non_java && !InCode(at.pc) && at.sp < limit;
  if (in_c_) c_.Begin(at, top, limit);
}

// Returns the next frame of C code that comes before the current Java frame. False: none is left.
// The frame counts as a guess if it, or its caller, was looked for without an unwind table.
bool JavaWalk::EmitC(JavaFrame& frame) {
  if (!in_c_) return false;
  const Registers at = c_.at();
  frame = {FrameType::kCpp, -1, -1, 0, at.pc, at.sp, at.fp, {}};
  in_c_ = c_.Up() && !InCode(c_.at().pc);
  guessed_frame_ |= c_.has_guessed();
  return true;
}

bool JavaWalk::Next(JavaFrame& frame) {
  guessed_frame_ = guessed_;
  const bool found = Emit(frame);
  // What was read of a frame in the heap may turn out on the way to its caller to have moved.
  frame.guessed = found && (guessed_frame_ || (frame.frozen && guessed_));
  return found;
}

bool JavaWalk::Emit(JavaFrame& frame) {
  if (in_c_ && EmitC(frame)) return true;
  if (stub_on_top_.pc != 0) {
    const Registers r = std::exchange(stub_on_top_, {});
    frame = {FrameType::kStub, -1, -1, 0, r.pc, r.sp, r.fp, {}};
    return true;
  }
  if (unpacked_left_ > 0) return EmitUnpacked(frame);
  if (in_scopes_) return EmitScope(frame);
  if (in_rules_) return EmitNextByRule(frame);
  for (int skipped = 0; !ended_ && skipped < kMostSkipped; skipped++) {
    guessed_frame_ = guessed_;
    if (layout_.code.InInterpreter(at_.pc)) return InterpretedFrame(frame);
    if (HasRules() && EmitByRule(frame, 0)) return true;
    // Tables lie behind the code, in the same heap.
    if (facts_pc_ != 0 && at_.pc == facts_pc_) last_pc_ = 0;
    const FoundCode code = CodeAt(at_.pc);
    switch (code.kind) {
      case CodeKind::kNone:
        return End(WalkEnd::kNoCaller);
      case CodeKind::kCodelet:
        return InterpretedFrame(frame);
      case CodeKind::kNmethod:
        return CompiledFrame(code, frame);
      case CodeKind::kStub:
        SetFrame(frame, 0, -1, -1, 0);
        frame.type = FrameType::kStub;
        frame.facts = {};
        if (!(IsUpcall(code) ? UpFromUpcall(code) : Up(code.frame_words)) && !start_->non_java)
          return false;
        if (start_->non_java) return true;
    }
  }
  return ended_ ? false : End(WalkEnd::kUnknownStub);
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
  frame.frozen = frozen_.active();
  frame.sp = frame.frozen ? 0 : at_.sp;
  frame.fp = frame.frozen ? 0 : at_.fp;
  frame.code = code;
  frame.guessed = false;
}

bool JavaWalk::FindInterpreted(Interpreted& found, MethodFacts& facts) const {
  if (!frozen_.active()) return InterpretedAt(at_.fp, found, facts);
  return Word(at_.fp + layout_.interpreter_method, found.method) && MethodAt(found.method, facts);
}

// Ends the walk at a frame that makes no sense. If that is in the heap, the walk goes on with what
// entered the virtual thread.
bool JavaWalk::Lose(WalkEnd why, JavaFrame& frame) {
  if (!frozen_.active()) return End(why);
  TakeFrozen(FrozenStack::Step::kLost, {});
  return Emit(frame);
}

bool JavaWalk::InterpretedFrame(JavaFrame& frame) {
  Interpreted found;
  uint64_t fp = 0;
  const MethodFacts& facts = frame.facts;
  // An abstract method never runs.
  if (!FindInterpreted(found, frame.facts) || (!facts.is_native && facts.code_size == 0))
    return Lose(WalkEnd::kNoMethod, frame);
  SetFrame(frame, found.method, 0, InterpretedBci(at_.fp, facts), 0);
  if (facts.is_native) frame.type = FrameType::kNative;
  if (frozen_.active())
    UpFrozen(0);
  else if (Word(at_.fp, fp))
    MoveTo(found.pc, found.sp, fp);
  else
    End(WalkEnd::kUnreadable);
  return true;
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
       pc < code.begin || pc >= code.end || !frozen_.Holds()))
    return Lose(WalkEnd::kUnreadable, frame);
  // Nothing is inlined before the frame is complete. Only native wrappers have level 0.
  const bool entering = at_.is_top && code.frame_complete >= 0 &&
                        pc < code.begin + static_cast<uint64_t>(code.frame_complete);
  const bool has_scopes = !entering && code.level > 0;
  if (has_scopes) debug_.Open(code, Code());
  if (const uint64_t described = at_.is_top ? Described() : pc;
      has_scopes && debug_.Innermost(described, scope_) && (!at_.sender || ToOutermost())) {
    EnterScopes(code, described);
    return EmitScope(frame);
  }
  const MethodFacts& facts = frame.facts;
  if (!Code().ReadWord(code.blob + l.code.method, method) || !MethodAt(method, frame.facts) ||
      (!facts.is_native && facts.code_size == 0))
    return Lose(WalkEnd::kNoMethod, frame);
  SetFrame(frame, method, code.level, 0, code.begin);
  if (facts.is_native) frame.type = FrameType::kNative;
  if (facts.is_native || !entering) frame.bci = -1;  // not known
  if (uint32_t id = 0; facts.is_native && pc == at_.pc &&
                       Code().Read(code.blob + static_cast<uint64_t>(l.compile_id), id))
    KeepRule(frame, code.blob, id, code.frame_words, 0);
  Up(code.frame_words);
  return true;
}

// Moves from scope_ to the scope of the compiled method itself. Without its frame, as on return,
// the method runs no inlined one: a description that names one is of code further on in memory.
bool JavaWalk::ToOutermost() {
  for (int n = 0; scope_.sender != 0; n++)
    if (n == kMostInlined || !debug_.At(scope_.sender, scope_)) return false;
  return true;
}

// The pc whose description is that of the code at `at_`. A description at a pc is of the code
// before this pc (DebugInformationRecorder's add_non_safepoint), so interrupted code is described
// after its pc. Polls are described where they begin, and so are C1's null checks; for these, what
// follows is taken, as by HotSpot's own walker (forte.cpp).
uint64_t JavaWalk::Described() const {
  const bool before = !at_.is_top || layout_.rules->is_poll(Code(), at_.pc);
  return before ? at_.pc : at_.pc + 1;
}

void JavaWalk::EnterScopes(const FoundCode& code, uint64_t pc) {
  in_scopes_ = true;
  scopes_blob_ = code.blob;
  scopes_code_ = code.begin;
  scopes_offset_ = static_cast<uint32_t>(pc - code.begin);
  scopes_level_ = code.level;
  scopes_frame_words_ = code.frame_words;
  inlined_ = 0;
}

bool JavaWalk::PlaceOfScopes(ScopePlace& place) const {
  if (in_rules_) {
    const uint64_t code = rule_blob_ + rule_begin_;
    place = {at_.pc, code, static_cast<uint32_t>(Described() - code),
             static_cast<uint32_t>(rule_id_)};
    return true;
  }
  place = {at_.pc, scopes_code_, scopes_offset_, 0};
  return in_scopes_ && debug_.CompileId(place.compile_id);
}

bool JavaWalk::BeginAtScopes(const ScopePlace& place) {
  at_ = {place.pc, 0, 0, false, Registers{}};
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
  if (scope_.sender != 0) frame.type = FrameType::kInlined;
  // The scopes of a frame to be deoptimised are those of another pc.
  if (uint32_t id = 0; scopes_code_ + scopes_offset_ == Described() && debug_.CompileId(id))
    KeepRule(frame, scopes_blob_, id, scopes_frame_words_, scope_.sender);
  if (scope_.sender != 0) {
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
  if (at_.sender) {
    MoveTo(at_.sender->pc, at_.sender->sp, at_.sender->fp);
    return true;
  }
  if (at_.pc == layout_.call_stub_return) return UpFromEntry();
  if (frozen_.active()) {
    UpFrozen(frame_words);
    return true;
  }
  if (frame_words <= 0) {
    at_barrier_ = false;
    if (!at_.is_top &&
        (ToContinuationEntry(kMostOfBarrier) || FromExit(CodeAt(at_.pc)) ||
         (layout_.rules->run_to_exit == nullptr && ToContinuationEntry(start_->stack_high))))
      return true;
    if (!TakeReturnOfStub(at_.fp))
      return End(at_barrier_ ? WalkEnd::kReturnBarrier : WalkEnd::kUnknownStub);
    // The simulation of code does not say that the stub keeps a frame pointer.
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
  MoveTo(pc, above, fp);
  return true;
}

void JavaWalk::PassCompiled(uint64_t end) {
  FoundCode code;
  for (uint64_t pc = 0; !ended_ && !at_.is_top && !at_.sender;) {
    if (frozen_.active() || in_c_ || stub_on_top_.pc != 0 || unpacked_left_ > 0 || in_scopes_ ||
        in_rules_)
      return;
    if (pc != at_.pc) code = CodeAt(pc = at_.pc);
    if (code.kind != CodeKind::kNmethod || code.frame_words <= 0 ||
        at_.sp + FrameBytes(code) >= end || !Up(code.frame_words))
      return;
  }
}

// Continuation.doYield returns in place of enterSpecial, which entered the continuation, and
// removes enterSpecial's frame: ret = [sp + size - 8], fp' = [sp + size - 16], sp' = sp + size of
// that frame. doYield's own frame has moved to the heap: for a moment the anchor has the new sp and
// still the old pc. Once doYield is about to remove enterSpecial's frame, the thread no longer has
// the entry.
void JavaWalk::LeaveContinuation() {
  uint64_t entered = 0, pc = 0, fp = 0, removed = 0;
  if (layout_.cont_return_at == 0 || at_.sender) return;
  const FoundCode top = CodeAt(at_.pc);
  if (top.kind != CodeKind::kNmethod) return;
  if (const uint64_t entry = ContinuationEntry(); entry == 0 || at_.sp != entry) {
    if (at_.is_top && at_.pc == facts_pc_) removed = facts_.adds_to_sp;
    if (removed == 0) return;
  }
  if (!memory_.ReadWord(layout_.cont_return_at, entered)) return;
  const FoundCode code = CodeAt(entered);
  const uint64_t frame = FrameBytes(code), above = at_.sp + frame;
  if (code.kind != CodeKind::kNmethod || code.frame_words <= 2 ||
      (removed != 0 && (removed + 16 != frame || top.begin == code.begin)) ||
      !ReturnAddress(above - 8, pc) || !Word(above - 16, fp))
    return;
  at_.sender = {pc, above, fp, 0};
}

// Moves from an entry frame, through which native code has called Java, to older Java frames:
// wrapper = [fp + call_wrapper] holds the thread's previous anchor. The native caller:
// ret = [fp + 8], fp' = [fp], sp' = fp + 16.
bool JavaWalk::UpFromEntry() {
  uint64_t wrapper = 0;
  if (!Word(at_.fp + layout_.call_wrapper, wrapper) || !InStack(wrapper))
    return End(WalkEnd::kUnreadable);
  return UpByAnchor(wrapper + layout_.wrapper_anchor, CallerByFp());
}

// The caller by the frame pointer; pc 0: not known.
Registers JavaWalk::CallerByFp() const {
  uint64_t pc = 0, fp = 0;
  if (!ReturnAddress(at_.fp + 8, pc) || !Word(at_.fp, fp)) return {};
  return {pc, at_.fp + 16, fp, 0};
}

// True for code through which C calls Java by the foreign function interface.
bool JavaWalk::IsUpcall(const FoundCode& code) const {
  constexpr char kName[] = "upcall_stub";  // followed by a signature in debug builds
  uint8_t text[sizeof kName - 1];
  return at_.pc != layout_.call_stub_return && !at_.sender &&
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
  if (layout_.upcall_data <= 0 ||
      !Code().Read(code.blob + static_cast<uint64_t>(layout_.upcall_data), offset) || offset < 0)
    return End(WalkEnd::kUpcall);
  return UpByAnchor(at_.sp + static_cast<uint64_t>(offset),
                    at_.fp >= at_.sp ? CallerByFp() : Registers{});
}

// Moves to the frame of the anchor at `anchor`, on the stack. `caller`: the C code that has called
// Java; pc 0: not known.
bool JavaWalk::UpByAnchor(uint64_t anchor, const Registers& caller) {
  uint64_t sp = 0, pc = 0, fp = 0;
  if (!Word(anchor + layout_.jvm.last_sp, sp) || !Word(anchor + layout_.jvm.last_pc, pc) ||
      !Word(anchor + layout_.jvm.last_fp, fp))
    return End(WalkEnd::kUnreadable);
  if (sp == 0) {  // the thread's first Java call
    if (caller.pc != 0) BeginC(caller, false, start_->stack_high);
    return End(WalkEnd::kWhole);
  }
  if (sp <= at_.sp || !InStack(sp)) return End(WalkEnd::kAnchor);
  if (caller.pc != 0) BeginC(caller, false, sp);
  low_ = sp - 8;
  if (pc == 0 && !ReturnAddress(sp - 8, pc)) return End(WalkEnd::kUnreadable);
  MoveTo(pc, sp, fp);
  return true;
}

// --- The start: from interrupted registers, or the thread's anchor, to the newest frame.

// Keeps why there is no first frame.
WalkStatus JavaWalk::Found(WalkStatus status) {
  if (status == WalkStatus::kFound) return status;
  ended_ = true;
  end_ = EndOf(status);
  return status;
}

WalkStatus JavaWalk::Begin() {
  const WalkStatus status = BeginByState();
  uint64_t unpacked = 0;
  if (status == WalkStatus::kFound) LeaveContinuation();
  first_pc_ = at_.pc;
  const bool is_known =
      layout_.unpacked_frames > 0 && ThreadField(layout_.unpacked_frames, unpacked);
  if (!is_known || unpacked == 0) return Found(status);
  const bool is_there = status == WalkStatus::kFound && !guessed_ && InDeoptimisedFrame();
  if (is_there || BeginUnpacked(unpacked, status)) return WalkStatus::kFound;
  return Found(WalkStatus::kDeoptimization);
}

// While a compiled frame is unpacked: true if the frame is still there, as the newest or as the
// caller (ret = [sp + size - 8]) of the blob that unpacks it.
bool JavaWalk::InDeoptimisedFrame() {
  const FoundCode code = CodeAt(at_.pc);
  uint64_t pc = 0;
  if (code.kind != CodeKind::kStub || code.frame_words <= 0) return code.kind == CodeKind::kNmethod;
  return ReturnAddress(at_.sp + FrameBytes(code) - 8, pc) && CodeAt(pc).kind == CodeKind::kNmethod;
}

WalkStatus JavaWalk::BeginByState() {
  int32_t state = 0;
  if (!ThreadField(layout_.jvm.thread_state, state)) return WalkStatus::kUnknownState;
  low_ = start_->registers.sp & ~7ULL;
  const ThreadStates& states = layout_.jvm.states;
  const uint8_t number = state == states.ValueOf(kInJava) ? kInJava : states.StateOf(state);
  switch (number & ~1) {
    case kInJava:
      // At some polls the JVM works in this state, with the anchor set.
      if (start_->registers.pc == 0 && BeginAtAnchor() == WalkStatus::kFound)
        return WalkStatus::kFound;
      return BeginInCode();
    case kInNative:
    case kInVm:
    case kBlocked:
      return WithCFrames(BeginInC());
    default:
      return WalkStatus::kUnknownState;
  }
}

WalkStatus JavaWalk::BeginAtRegisters() {
  low_ = start_->registers.sp & ~7ULL;
  from_registers_ = true;
  const WalkStatus status = Found(BeginInCode());
  // Registers that another walk returned for a frame that has called hold a return address as pc. A
  // frame that was interrupted right after a call is taken for such a frame.
  if (status == WalkStatus::kFound && at_.is_top && at_.pc == start_->registers.pc &&
      CodeAt(at_.pc).kind == CodeKind::kNmethod && IsReturn(at_.pc))
    at_.is_top = false;
  first_pc_ = at_.pc;
  return status;
}

// In native code or in the JVM, the anchor says where Java's frames begin. In a transition into
// Java or out of it the anchor is empty, though Java frames may be on the stack: unwind tables lead
// there.
WalkStatus JavaWalk::BeginInC() {
  const WalkStatus status = BeginAtAnchor();
  if (status != WalkStatus::kNoJavaFrame || start_->registers.pc == 0) return status;
  if (!FromLeafCallByTables()) return TakeSignal() ? BelowSignal() : status;
  ended_ = false;
  return WalkStatus::kFound;
}

// Where a signal interrupted Java code, whose handler was interrupted in turn.
WalkStatus JavaWalk::BelowSignal() {
  low_ = start_->registers.sp & ~7ULL;
  const WalkStatus status = FindFirst();
  return status == WalkStatus::kFound ? WithCFrames(status) : status;
}

// Interrupted in C code: the frames of C code, if wanted, come first.
WalkStatus JavaWalk::WithCFrames(WalkStatus status) {
  const Registers& r = begun_.registers;
  if (!start_->non_java || r.pc == 0) return status;
  if (status == WalkStatus::kFound) BeginC(r, true, frozen_.active() ? entered_.sp : at_.sp);
  if (status != WalkStatus::kNoJavaFrame) return status;
  BeginC(r, true, start_->stack_high);
  has_java_ = false;
  end_ = WalkEnd::kNoJava;
  return in_c_ ? WalkStatus::kFound : status;
}

WalkStatus JavaWalk::BeginOutsideJava() { return Found(WithCFrames(WalkStatus::kNoJavaFrame)); }

void JavaWalk::BeginAtCaller(const Registers& caller) {
  low_ = caller.sp & ~7ULL;
  at_ = {caller.pc, caller.sp, caller.fp};
  ended_ = false;
}

WalkStatus JavaWalk::BeginInCode() {
  const Registers& r = start_->registers;
  const WalkStatus status = FindFirst();
  if (start_->non_java && status == WalkStatus::kFound && at_.pc != r.pc && InCode(r.pc))
    stub_on_top_ = r;
  return status;
}

WalkStatus JavaWalk::FindFirst() {
  const Registers& r = start_->registers;
  const FoundCode code = InterruptedCode(r.pc);
  at_ = {r.pc, r.sp, r.fp, true};
  ended_ = false;
  if (r.sp < start_->stack_floor || r.sp >= start_->stack_high) {
    // A signal handler on a stack of its own may have been interrupted.
    const bool is_handler = code.kind == CodeKind::kNone && !FromLeafCallByTables() && TakeSignal();
    return is_handler ? BelowSignal() : WalkStatus::kUnknownJava;
  }
  if (code.kind != CodeKind::kNone && r.pc >= code.end) return WalkStatus::kUnknownJava;
  if (code.kind == CodeKind::kNone) {
    // The thread may be between Java and the JVM, where it has an anchor, or in a function that
    // Java calls as a leaf, which has a return address into generated code.
    if (!from_registers_ && BeginAtAnchor() == WalkStatus::kFound)
      return WithCFrames(WalkStatus::kFound);
    low_ = r.sp & ~7ULL;
    ended_ = false;
    at_ = {r.pc, r.sp, r.fp, true};
    if (!FromLeafCallByTables()) {
      if (TakeSignal()) return BelowSignal();
      // The thread is about to call Java for the first time, or has returned from there.
      if (IsWithoutJava()) return WithCFrames(WalkStatus::kNoJavaFrame);
      if (!FromLeafCall()) return WalkStatus::kUnknownJava;
      guessed_ = true;
    }
    LeaveEntry();
    PassArguments();
    return WithCFrames(WalkStatus::kFound);
  }
  if (code.kind == CodeKind::kNmethod || code.kind == CodeKind::kStub) {
    if (!SenderInTop(code)) return WalkStatus::kUnknownJava;
    if (code.kind == CodeKind::kStub && at_.pc != r.pc) LeaveEntry();
    PassArguments();
    return WalkStatus::kFound;
  }
  if (layout_.rules->goes_on(Code(), r.pc) && r.fp >= r.sp && IsInterpretedFrameAt(r.fp)) {
    at_.is_top = false;
    return WalkStatus::kFound;
  }
  if (FromExit(code)) return WalkStatus::kFound;
  // With a link register: first where that leads, as fp may be a compiled caller's, close to sp.
  if (layout_.rules->has_link_register && BetweenInterpretedFrames()) return WalkStatus::kFound;
  if (FromFrameBeingBuilt() || BetweenInterpretedFrames()) return WalkStatus::kFound;
  if (r.fp >= r.sp && IsInterpretedFrameAt(r.fp)) return WalkStatus::kFound;
  // The interpreter has not built its frame yet, or has left it.
  if (!SenderInTop(code)) return WalkStatus::kUnknownJava;
  PassLocals();
  return WalkStatus::kFound;
}

WalkStatus JavaWalk::BeginAtAnchor() {
  const int anchor = layout_.jvm.anchor;
  uint64_t sp = 0, pc = 0, fp = 0;
  if (!ThreadField(anchor + layout_.jvm.last_sp, sp)) return WalkStatus::kUnknownState;
  if (sp == 0) return WalkStatus::kNoJavaFrame;
  low_ = sp;
  if (!ThreadField(anchor + layout_.jvm.last_pc, pc) ||
      !ThreadField(anchor + layout_.jvm.last_fp, fp))
    return WalkStatus::kUnknownState;
  if (pc == 0) {
    // HotSpot calls such an anchor not walkable: pc = [sp - 8].
    low_ = sp - 8;
    if (!ReturnAddress(sp - 8, pc)) return WalkStatus::kNotWalkableNotJava;
  }
  if (!InStack(sp) || sp < start_->stack_floor || !InCode(pc))
    return WalkStatus::kNotWalkableNotJava;
  at_ = {pc, sp, fp};
  ended_ = false;
  return WalkStatus::kFound;
}

// Interrupted in generated code: finds the caller by how much of the frame there is (FrameShape).
bool JavaWalk::SenderInTop(const FoundCode& code) {
  const Registers& r = start_->registers;
  if (code.kind == CodeKind::kStub && (FromExit(code) || FromFirstCall(code) || FromCallStub()))
    return true;
  const bool is_nmethod = code.kind == CodeKind::kNmethod;
  if (is_nmethod && facts_.in_handler && InDeoptHandler(code)) return true;
  const FrameShape shape = is_nmethod ? static_cast<FrameShape>(facts_.shape)
                                      : ShapeAt(*layout_.rules, Code(), code, r.pc);
  uint64_t slot = 0, fp = r.fp, pc = 0;
  switch (shape) {
    case FrameShape::kWhole:
      return true;
    case FrameShape::kNone:
      slot = r.sp;
      break;
    case FrameShape::kBeyondCall:
      // The return address leads back into the same nmethod.
      if (ReturnAddress(r.sp, pc) && pc > code.begin && pc < code.end) TakeReturnAt(r.sp, r.fp);
      return true;
    case FrameShape::kFpPushed:
      slot = r.sp + 8;
      if (!Word(r.sp, fp)) return false;
      break;
    case FrameShape::kByFp:
      // The exception handler may have replaced the return address: pc = [fp + 8], fp' = [fp],
      // sp' = fp + 16. If not, the stub's size leads to the caller.
      if (!TakeReturnOfStub(r.fp) && Word(r.fp + 8, pc) && pc == start_->java.return_pc &&
          Word(r.fp, fp))
        ToFrameAt(r.fp + 16, pc, fp);
      return true;
    case FrameShape::kFpNotSaved:
      slot = r.sp + FrameBytes(code) - 8;
      break;
    case FrameShape::kInLink:
    case FrameShape::kSpMoved: {
      const uint64_t frame = shape == FrameShape::kSpMoved ? FrameBytes(code) : 0;
      at_.sender = {r.lr & layout_.rules->address_mask, r.sp + frame, r.fp, 0};
      return InCode(at_.sender->pc);
    }
    case FrameShape::kUnknown: {
      // Stubs: a leaf has ret = [sp], other stubs have a frame pointer.
      if (layout_.rules->has_link_register && FromLink(code)) return true;
      guessed_ = true;
      if (layout_.rules->has_link_register) return TakeReturnOfStub(r.fp) || FromLeafCall();
      if (TakeReturnAt(r.sp, r.fp) || TakeReturnOfStub(r.fp)) return true;
      const uint64_t above = start_->java.sender_sp;
      if (above > r.sp && TakeReturnAt(above - 8, r.fp)) return true;
      return FromLeafCall();
    }
  }
  if (!ReturnAddress(slot, pc) || !InCode(pc)) return false;
  if (code.kind == CodeKind::kNmethod) {
    // A method is a frame from its first instruction on.
    at_.sender = {pc, slot + 8, fp, 0};
    return true;
  }
  MoveTo(pc, slot + 8, fp);
  return true;
}

// In the stub through which native code calls Java, before or after the call: moves up from the
// entry frame that a callee finds, whose [fp + 8] leads to native code.
bool JavaWalk::FromCallStub() {
  const Registers& r = start_->registers;
  uint64_t pc = 0, word = 0;
  if (r.pc - layout_.call_stub_return + kMostCallStub > 2 * kMostCallStub) return false;
  // While the stub sets its frame up, a register holds the address of the JavaCallWrapper:
  // [wrapper] = thread.
  const uint64_t wrapper = start_->java.first_argument;
  if (r.pc < layout_.call_stub_return && wrapper > r.sp && Word(wrapper, word) &&
      word == start_->thread && memory_.ReadWord(r.sp, word) && !InCode(word)) {
    UpByAnchor(wrapper + layout_.wrapper_anchor, {});
    return true;
  }
  // At the stub's end fp may be C's already; the stub's frame is still below sp: fp = sp' - 16.
  StubExit exit;
  const bool ends = layout_.rules->run_to_exit != nullptr &&
                    layout_.rules->run_to_exit(Code(), memory_, CodeAt(r.pc), StartHere(), exit) &&
                    exit.returns;
  const uint64_t fp = ends ? exit.sp - 16 : r.fp, kept = low_;
  if (fp + 8 < r.sp || !ReturnAddress(fp + 8, pc) || InCode(pc)) return false;
  low_ = std::min(low_, fp + layout_.call_wrapper);
  if (Word(fp + layout_.call_wrapper, word) && word > fp && InStack(word)) {
    at_.fp = fp;
    UpFromEntry();
    return true;
  }
  low_ = kept;
  return false;
}

}  // namespace walkhammer::asgst
