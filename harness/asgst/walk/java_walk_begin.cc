// SPDX-License-Identifier: Apache-2.0
// Start of a JavaWalk: from interrupted registers, or the thread's anchor, to the newest frame.
#include "harness/asgst/walk/java_walk.h"

namespace walkhammer::asgst {
namespace {

constexpr int kInNative = 4, kInVm = 6, kInJava = 8;  // numbers of ThreadStates; + 1: in transition
constexpr int kBlocked = 10;
constexpr int kMostHops = 64;         // frames of C code between the interrupted one and Java's
constexpr uint64_t kLeafWords = 256;  // of stack, searched for a caller
// Bytes from an interpreted frame's lowest fixed slot to its fp; with less, it is being built.
constexpr uint64_t kLeastInterpreted = 9 * 8;
constexpr uint64_t kLeastInterpreted8 = 8 * 8;  // JDK 8: no slot for the method's mirror

}  // namespace

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

}  // namespace walkhammer::asgst
