// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/walk/java_walk.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace walkhammer::asgst {
namespace {

constexpr int kMostSkipped = 64;         // consecutive frames without a Java method
constexpr uint64_t kMostOfBarrier = 64;  // bytes that the return barrier pushes before it calls
constexpr int kFirstFeatureWithUpcalls = 19;
constexpr int kMostInlined = 256;  // in one activation: HotSpot's MaxForceInlineLevel is 100
constexpr int kInNative = 4, kInVm = 6, kInJava = 8;  // numbers of ThreadStates; + 1: in transition
constexpr int kBlocked = 10;
constexpr int kMostHops = 64;         // frames of C code between the interrupted one and Java's
constexpr uint64_t kLeafWords = 256;  // of stack, searched for a caller
// Bytes from an interpreted frame's lowest fixed slot to its fp; with less, it is being built.
constexpr uint64_t kLeastInterpreted = 9 * 8;
constexpr uint64_t kLeastInterpreted8 = 8 * 8;  // JDK 8: no slot for the method's mirror
// Most bytes between a caller's sp and its callee's frame, or the sp of an adapter that saves
// registers.
constexpr uint64_t kMostArguments = 512 * 8;
constexpr uint64_t kMostCallStub = 512;  // bytes of the call stub before, and after, its call
// Registers by their numbers in instructions.
constexpr int kRdx = 2, kSp = 4, kFp = 5, kSenderSp = 13, kThread = 15;

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

// --- The start: from interrupted registers, or the thread's anchor, to the newest frame.

// Keeps why there is no first frame.
WalkStatus JavaWalk::Found(WalkStatus status) {
  if (status == WalkStatus::kFound) return status;
  ended_ = true;
  switch (status) {
    case WalkStatus::kUnknownJava:
      end_ = WalkEnd::kNoTop;
      break;
    case WalkStatus::kUnknownState:
      end_ = WalkEnd::kState;
      break;
    case WalkStatus::kDeoptimization:
      end_ = WalkEnd::kDeopt;
      break;
    case WalkStatus::kNoJavaFrame:
      end_ = WalkEnd::kNoJava;
      break;
    default:
      end_ = WalkEnd::kAnchor;
  }
  return status;
}

WalkStatus JavaWalk::Begin() {
  const WalkStatus status = BeginByState();
  uint64_t unpacked = 0;
  if (status == WalkStatus::kFound) LeaveContinuation();
  const bool is_known =
      layout_.unpacked_frames > 0 &&
      memory_.ReadWord(start_.thread + static_cast<uint64_t>(layout_.unpacked_frames), unpacked);
  const bool is_there = status == WalkStatus::kFound && !guessed_ && InDeoptimisedFrame();
  return Found(is_known && unpacked != 0 && !is_there ? WalkStatus::kDeoptimization : status);
}

// While a compiled frame is unpacked: true if the frame is still there, as the newest or as the
// caller (ret = [sp + size - 8]) of the blob that unpacks it.
bool JavaWalk::InDeoptimisedFrame() {
  const FoundCode code = CodeAt(at_.pc);
  uint64_t pc = 0;
  if (code.kind != CodeKind::kStub || code.frame_words <= 0) return code.kind == CodeKind::kNmethod;
  return ReturnAddress(at_.sp + 8 * static_cast<uint64_t>(code.frame_words) - 8, pc) &&
         CodeAt(pc).kind == CodeKind::kNmethod;
}

WalkStatus JavaWalk::BeginByState() {
  int32_t state = 0;
  if (!memory_.Read(start_.thread + layout_.jvm.thread_state, state))
    return WalkStatus::kUnknownState;
  low_ = start_.registers.sp & ~7ULL;
  switch (layout_.jvm.states.StateOf(state) & ~1) {
    case kInJava:
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
  low_ = start_.registers.sp & ~7ULL;
  from_registers_ = true;
  const WalkStatus status = Found(BeginInCode());
  // Registers that another walk returned for a frame that has called hold a return address as pc. A
  // frame that was interrupted right after a call is taken for such a frame.
  if (status == WalkStatus::kFound && at_.is_top && at_.pc == start_.registers.pc &&
      CodeAt(at_.pc).kind == CodeKind::kNmethod && IsReturn(at_.pc))
    at_.is_top = false;
  return status;
}

// In native code or in the JVM, the anchor says where Java's frames begin. In a transition into
// Java or out of it the anchor is empty, though Java frames may be on the stack: unwind tables lead
// there.
WalkStatus JavaWalk::BeginInC() {
  const WalkStatus status = BeginAtAnchor();
  if (status != WalkStatus::kNoJavaFrame || start_.registers.pc == 0 || !FromLeafCallByTables())
    return status;
  ended_ = false;
  return WalkStatus::kFound;
}

// Interrupted in C code: the frames of C code, if wanted, come first.
WalkStatus JavaWalk::WithCFrames(WalkStatus status) {
  const Registers& r = start_.registers;
  if (!start_.non_java || r.pc == 0) return status;
  if (status == WalkStatus::kFound) {
    BeginC(r, true, at_.sp);
  } else if (status == WalkStatus::kNoJavaFrame) {
    BeginC(r, true, start_.stack_high);
    has_java_ = false;
    end_ = WalkEnd::kNoJava;
    return in_c_ ? WalkStatus::kFound : status;
  }
  return status;
}

void JavaWalk::BeginAtCaller(const Registers& caller) {
  low_ = caller.sp & ~7ULL;
  at_ = {caller.pc, caller.sp, caller.fp, false, false, {}};
  ended_ = false;
}

WalkStatus JavaWalk::BeginInCode() {
  const Registers& r = start_.registers;
  const WalkStatus status = FindFirst();
  stub_on_top_ = start_.non_java && status == WalkStatus::kFound && at_.pc != r.pc && InCode(r.pc);
  return status;
}

WalkStatus JavaWalk::FindFirst() {
  const Registers& r = start_.registers;
  const FoundCode code = CodeAt(r.pc);
  at_ = {r.pc, r.sp, r.fp, true, false, {}};
  ended_ = false;
  if (r.sp < start_.stack_floor || r.sp >= start_.stack_high) return WalkStatus::kUnknownJava;
  if (code.kind != CodeKind::kNone && r.pc >= code.end) return WalkStatus::kUnknownJava;
  if (code.kind == CodeKind::kNone) {
    // The thread may be between Java and the JVM, where it has an anchor, or in a function that
    // Java calls as a leaf, which has a return address into generated code.
    if (!from_registers_ && BeginAtAnchor() == WalkStatus::kFound)
      return WithCFrames(WalkStatus::kFound);
    low_ = r.sp & ~7ULL;
    ended_ = false;
    at_ = {r.pc, r.sp, r.fp, true, false, {}};
    if (!FromLeafCallByTables()) {
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
  uint64_t method = 0;
  MethodFacts facts;
  if (layout_.rules->goes_on(Code(), r.pc) && r.fp >= r.sp &&
      IsInterpretedFrameAt(r.fp, method, facts)) {
    at_.is_top = false;
    return WalkStatus::kFound;
  }
  if (FromExit(code, StartAt(r.pc, r.sp, r.fp))) return WalkStatus::kFound;
  // With a link register: first where that leads, as fp may be a compiled caller's, close to sp.
  if (layout_.rules->has_link_register && BetweenInterpretedFrames()) return WalkStatus::kFound;
  if (FromFrameBeingBuilt() || BetweenInterpretedFrames()) return WalkStatus::kFound;
  if (r.fp >= r.sp && IsInterpretedFrameAt(r.fp, method, facts)) return WalkStatus::kFound;
  // The interpreter has not built its frame yet, or has left it.
  if (!SenderInTop(code)) return WalkStatus::kUnknownJava;
  PassLocals();
  return WalkStatus::kFound;
}

// The interpreter has left its frame, with the return address still on the stack. Skips the locals
// between that address and a compiled caller's frame. As only a register holds sp', this searches
// for sp', 16-byte aligned and with a return address at [sp' + size - 8], size of the caller's
// frame.
void JavaWalk::PassLocals() {
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
bool JavaWalk::BetweenInterpretedFrames() {
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
bool JavaWalk::FromCompiledCallerByLink() {
  const uint64_t pc = start_.registers.lr & layout_.rules->address_mask;
  uint64_t own = 0;
  if (CodeAt(pc).kind != CodeKind::kNmethod) return false;
  if (ReturnAddress(start_.registers.fp + 8, own) && own == pc) return false;  // the frame exists
  return FromLink({});
}

// Moves to the caller in lr, of code that has not called yet. False if lr leads into `top`.
bool JavaWalk::FromLink(const FoundCode& top) {
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
bool JavaWalk::FromLinkTo(const FoundCode& caller, uint64_t pc) {
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
bool JavaWalk::FromFrameBeingBuilt() {
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

WalkStatus JavaWalk::BeginAtAnchor() {
  const uint64_t anchor = start_.thread + layout_.jvm.anchor;
  uint64_t sp = 0, pc = 0, fp = 0;
  if (!memory_.ReadWord(anchor + layout_.jvm.last_sp, sp)) return WalkStatus::kUnknownState;
  if (sp == 0) return WalkStatus::kNoJavaFrame;
  low_ = sp;
  if (!memory_.ReadWord(anchor + layout_.jvm.last_pc, pc) ||
      !memory_.ReadWord(anchor + layout_.jvm.last_fp, fp))
    return WalkStatus::kUnknownState;
  if (pc == 0) {
    // HotSpot calls such an anchor not walkable: pc = [sp - 8].
    low_ = sp - 8;
    if (!ReturnAddress(sp - 8, pc)) return WalkStatus::kNotWalkableNotJava;
  }
  if (!InStack(sp) || sp < start_.stack_floor || !InCode(pc))
    return WalkStatus::kNotWalkableNotJava;
  at_ = {pc, sp, fp, false, false, {}};
  ended_ = false;
  return WalkStatus::kFound;
}

// True if `pc` may be a return address into generated code.
bool JavaWalk::IsReturn(uint64_t pc) {
  if (!InCode(pc)) return false;
  const FoundCode code = CodeAt(pc);
  if (code.kind == CodeKind::kNone || pc <= code.begin || pc >= code.end) return false;
  // The interpreter pushes the address of a codelet that runs after the call.
  return code.kind == CodeKind::kCodelet || layout_.rules->follows_call(Code(), pc);
}

// True if a frame of `code` may be at `sp`: `code` is compiled, and [sp + size - 8] is a return
// address.
bool JavaWalk::IsFrameAt(uint64_t sp, const FoundCode& code) {
  uint64_t pc = 0;
  return code.kind == CodeKind::kNmethod && code.frame_words > 0 &&
         ReturnAddress(sp + 8 * static_cast<uint64_t>(code.frame_words) - 8, pc) && IsReturn(pc);
}

// Moves to compiled code at `pc` whose frame is at `sp`; false if no frame can be there.
bool JavaWalk::ToFrameAt(uint64_t sp, uint64_t pc, uint64_t fp) {
  if (!IsFrameAt(sp, CodeAt(pc))) return false;
  at_ = {pc, sp, fp, false, false, {}};
  low_ = sp;
  return true;
}

// Moves to the caller: ret = [slot], fp' = fp, sp' = slot + 8. False if [slot] is no return
// address.
bool JavaWalk::TakeReturnAt(uint64_t slot, uint64_t fp) {
  uint64_t pc = 0;
  if (!ReturnAddress(slot, pc) || !IsReturn(pc)) return false;
  at_ = {pc, slot + 8, fp, false, false, {}};
  PassLeafWords();
  return true;
}

// Moves sp over the words that compiled code has pushed for the call that `at_` has made. On x86_64
// PassArguments() does so.
void JavaWalk::PassLeafWords() {
  if (layout_.rules->has_link_register) at_.sp += 8 * layout_.rules->takes_back(Code(), at_.pc);
  low_ = at_.sp;
}

// Moves from C code to its Java caller by unwind tables. False if no table describes the
// interrupted pc, as before the tables are made.
bool JavaWalk::FromLeafCallByTables() {
  NativeUnwinder c(start_.unwind, *layout_.rules, memory_);
  c.Begin(start_.registers, true, start_.stack_high);
  if (!c.Told()) return false;
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
bool JavaWalk::FromLeafCall() {
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
bool JavaWalk::InDeoptHandler(const FoundCode& code) {
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

// Interrupted in generated code: finds the caller by how much of the frame there is (FrameShape).
bool JavaWalk::SenderInTop(const FoundCode& code) {
  const Registers& r = start_.registers;
  if (code.kind == CodeKind::kStub &&
      (FromExit(code, StartAt(r.pc, r.sp, r.fp)) || FromFirstCall(code) || FromCallStub()))
    return true;
  if (code.kind == CodeKind::kNmethod && InDeoptHandler(code)) return true;
  const FrameShape shape = ShapeAt(*layout_.rules, Code(), code, r.pc);
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
      if (!TakeReturnOfStub(r.fp) && Word(r.fp + 8, pc) && pc == start_.java.return_pc &&
          Word(r.fp, fp))
        ToFrameAt(r.fp + 16, pc, fp);
      return true;
    case FrameShape::kFpNotSaved:
      slot = r.sp + 8 * static_cast<uint64_t>(code.frame_words) - 8;
      break;
    case FrameShape::kInLink:
    case FrameShape::kSpMoved: {
      const uint64_t frame =
          shape == FrameShape::kSpMoved ? 8 * static_cast<uint64_t>(code.frame_words) : 0;
      at_.has_sender = true;
      at_.sender = {r.lr & layout_.rules->address_mask, r.sp + frame, r.fp, 0};
      return InCode(at_.sender.pc);
    }
    case FrameShape::kUnknown: {
      // Stubs: a leaf has ret = [sp], other stubs have a frame pointer.
      if (layout_.rules->has_link_register && FromLink(code)) return true;
      guessed_ = true;
      if (layout_.rules->has_link_register) return TakeReturnOfStub(r.fp) || FromLeafCall();
      if (TakeReturnAt(r.sp, r.fp) || TakeReturnOfStub(r.fp)) return true;
      const uint64_t above = start_.java.sender_sp;
      if (above > r.sp && TakeReturnAt(above - 8, r.fp)) return true;
      return FromLeafCall();
    }
  }
  if (!ReturnAddress(slot, pc) || !InCode(pc)) return false;
  if (code.kind == CodeKind::kNmethod) {
    // A method is a frame from its first instruction on.
    at_.has_sender = true;
    at_.sender = {pc, slot + 8, fp, 0};
    return true;
  }
  at_ = {pc, slot + 8, fp, false, false, {}};
  low_ = slot + 8;
  return true;
}

// --- In stubs: from code that the JVM generates besides methods to the Java frame that the code
// serves.

// Registers of code that was interrupted at `pc`, or that has called from just before `pc`. After a
// call only sp, fp and the thread register are known: the callee may have changed the others. r13
// is taken for the caller's sp, unchanged, if it is less than kMostArguments bytes above sp.
StubStart JavaWalk::StartAt(uint64_t pc, uint64_t sp, uint64_t fp) const {
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
bool JavaWalk::FromExit(const FoundCode& code, const StubStart& start) {
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
void JavaWalk::GoOnInStub(StubExit& exit) {
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
bool JavaWalk::FromFirstCall(const FoundCode& code) {
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
bool JavaWalk::TakeExitByJump(const FoundCode& code, const StubExit& exit, uint64_t passed) {
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
bool JavaWalk::TakeCaller(uint64_t pc, uint64_t sp, const StubExit& exit, bool into_interpreter) {
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
void JavaWalk::LeaveEntry() {
  const FoundCode code = CodeAt(at_.pc);
  if (code.kind == CodeKind::kCodelet) FromExit(code, StartAt(at_.pc, at_.sp, at_.fp));
}

// Moves sp over words that compiled code has pushed below its frame, for a stub or for itself. At
// the frame's sp, [sp + size - 8] is a return address and, as C1 leaves fp alone,
// [sp + size - 16] = fp in C1's code.
void JavaWalk::PassArguments() {
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

// In the stub through which native code calls Java, before or after the call: moves up from the
// entry frame that a callee finds, whose [fp + 8] leads to native code.
bool JavaWalk::FromCallStub() {
  const Registers& r = start_.registers;
  uint64_t pc = 0, word = 0;
  if (r.pc - layout_.call_stub_return + kMostCallStub > 2 * kMostCallStub) return false;
  // While the stub sets its frame up, a register holds the address of the JavaCallWrapper:
  // [wrapper] = thread.
  const uint64_t wrapper = start_.java.first_argument;
  if (r.pc < layout_.call_stub_return && wrapper > r.sp && Word(wrapper, word) &&
      word == start_.thread && memory_.ReadWord(r.sp, word) && !InCode(word)) {
    UpByAnchor(wrapper + layout_.wrapper_anchor, {});
    return true;
  }
  // At the stub's end fp may be C's already; the stub's frame is still below sp: fp = sp' - 16.
  StubExit exit;
  const bool ends =
      layout_.rules->run_to_exit != nullptr &&
      layout_.rules->run_to_exit(Code(), memory_, CodeAt(r.pc), StartAt(r.pc, r.sp, r.fp), exit) &&
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
