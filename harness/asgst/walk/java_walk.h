// SPDX-License-Identifier: Apache-2.0
// JavaWalk: walks the Java frames of one thread, newest first, from registers and memory alone. It
// is a second opinion on HotSpot's own walker: JavaWalk shares no code with that walker, and checks
// every read.
// Signal-safe: yes. No allocation, no lock, a bounded number of steps for each frame.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_JAVA_WALK_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_JAVA_WALK_H_

#include <algorithm>
#include <cstdint>

#include "harness/asgst/walk/debug_info.h"
#include "harness/asgst/walk/interrupted_caller.h"
#include "harness/asgst/walk/unwind_table.h"
#include "harness/base/trace.h"
#include "harness/base/walk_end.h"

namespace walkhammer::asgst {

enum class FrameType : uint8_t {
  kJava = 1,     // a Java method with a physical frame
  kInlined = 2,  // a Java method that is inlined into the frame that follows
  kNative = 3,   // a native method
  kStub = 4,     // code that the JVM generated, of no method
  kCpp = 5,      // C and C++
};

struct JavaFrame {
  FrameType type;
  int8_t level;         // 0 interpreted or native, 1..3 C1, 4 C2; -1: kStub, kCpp
  int32_t bci;          // -1: none
  uint64_t method;      // Method*; 0: kStub, kCpp
  uint64_t pc, sp, fp;  // all 0: deoptimisation has yet to lay the frame out
  MethodFacts facts;    // only `id` is set in each frame of a method
  uint64_t code = 0;    // first instruction of its compiled code; 0: none
  // This frame, or a newer one, was searched for instead of derived: it may be wrong, and callers
  // in between may be missing. Of kCpp: this frame, or a newer one of kCpp, or its caller.
  bool guessed = false;
  bool frozen = false;  // of a virtual thread, and still in the heap: sp and fp are 0
};

// Whether a Begin function found a first frame; if not, why: the codes of JEP 435.
enum class WalkStatus : int32_t {
  kFound = 1,
  kNoJavaFrame = 0,
  kNotWalkableNotJava = -4,
  kUnknownJava = -5,
  kUnknownState = -7,
  kDeoptimization = -9,
};

class JavaWalk : private InterruptedCaller {
 public:
  JavaWalk(const WalkLayout& layout, const MemoryReader& memory, const WalkStart& start)
      : InterruptedCaller(layout, memory, start),
        c_(start.unwind, *layout.rules, memory),
        debug_(layout, memory, start.caches == nullptr ? nullptr : &start.caches->scopes) {}

  // Starts at the newest Java frame, found by the thread's state, anchor and registers.
  WalkStatus Begin();
  // Starts at the newest Java frame, found by the registers alone, whatever the thread's state.
  WalkStatus BeginAtRegisters();
  // Starts at the newest frame of C code of a thread that is not Java's, found by the registers
  // alone: `start.thread` is not read.
  WalkStatus BeginOutsideJava();
  // Starts at the caller that Caller() returned in an earlier walk. Its frame must still be there.
  void BeginAtCaller(const Registers& caller);
  // A pc of compiled code where methods are inlined, and what identifies that code later on.
  struct ScopePlace {
    uint64_t pc;
    uint64_t code;        // first instruction
    uint32_t offset;      // bytes from there to where the scopes of `pc` are described
    uint32_t compile_id;  // no other code at this address has the same
  };
  // Starts at the innermost of the frames at `place`, which need not be on the stack any more:
  // their sp and fp are 0. The frame that is not inlined is the last. False if the code is gone.
  bool BeginAtScopes(const ScopePlace& place);
  // After Next() returned an inlined frame: its place. False if nothing would identify it later on.
  bool PlaceOfScopes(ScopePlace& place) const;
  // Returns the next frame, newest first. False at the end, or where the stack makes no sense;
  // broken() is true in the second case.
  bool Next(JavaFrame& frame);
  // Does what Next() does for the usual frames of the current thread, several times as fast: calls
  // `put(frame)` for each of them, newest first, and returns how many, at most `most`. Ends at the
  // first frame that needs more, which Next() returns then. None of these frames is guessed.
  struct UsualFrame {
    uint64_t id;   // jmethodID; 0: it never got one
    uint16_t bci;  // PcRule::kNoBci: not known
    int8_t level;
    FrameType type;
  };
  template <typename Put>
  int TakeUsual(int most, Put put);
  // Leaves out the next frames of compiled code that end below `end`, which takes a tenth of the
  // time: what they run is not asked.
  void PassCompiled(uint64_t end);
  bool broken() const { return broken_; }
  // Why the walk ended, also if a Begin function found no frame. kUntold: there may be more frames.
  WalkEnd end() const;
  // After a Begin function returned kFound: false if the walk has frames of C code only.
  bool has_java() const { return has_java_; }
  // After Next() returned a frame that is not inlined: pc, sp and fp of its caller. False: not
  // known.
  bool Caller(Registers& caller) const {
    caller = {at_.pc, at_.sp, at_.fp, 0};
    return !ended_ && !frozen_.active() && unpacked_left_ == 0;
  }

 private:
  static constexpr int kMostInlined = 256;  // in one frame: HotSpot's MaxForceInlineLevel is 100

  WalkStatus BeginByState();
  bool InDeoptimisedFrame();
  bool BeginUnpacked(uint64_t array, WalkStatus status);
  bool Unpacked(int32_t index, JavaFrame& frame) const;
  bool EmitUnpacked(JavaFrame& frame);
  WalkStatus BeginInCode();
  WalkStatus FindFirst();
  WalkStatus BeginInC();
  WalkStatus BelowSignal();
  WalkStatus BeginAtAnchor();
  WalkStatus WithCFrames(WalkStatus status);
  void BeginC(const Registers& at, bool top, uint64_t limit);
  bool EmitC(JavaFrame& frame);
  bool Emit(JavaFrame& frame);
  bool FromCallStub();
  void LeaveContinuation();
  bool SenderInTop(const FoundCode& code);

  void SetFrame(JavaFrame& frame, uint64_t method, int level, int32_t bci, uint64_t code) const;
  int32_t InterpretedBci(uint64_t fp, const MethodFacts& facts) const;
  bool FindInterpreted(Interpreted& found, MethodFacts& facts) const;
  bool Lose(WalkEnd why, JavaFrame& frame);
  bool InterpretedFrame(JavaFrame& frame);
  bool CompiledFrame(const FoundCode& code, JavaFrame& frame);
  bool ToOutermost();
  void EnterScopes(const FoundCode& code, uint64_t pc);
  bool HasRules() const { return start_->uses_rules && (at_.is_top || !at_.sender) && !guessed_; }
  bool FindRule(uint64_t pc, bool is_top, uint64_t n, PcRule& rule, uint64_t& id) const;
  void GoOnAfter(const PcRule& rule, uint64_t id, int n);
  uint64_t Described() const;
  bool HoldsMethod(const PcRule& rule) const;
  bool EmitByRule(JavaFrame& frame, int n);
  bool EmitNextByRule(JavaFrame& frame);
  void KeepRule(const JavaFrame& frame, uint64_t blob, uint64_t compile_id, int32_t frame_words,
                int32_t sender);
  bool EmitScope(JavaFrame& frame);
  // Moves to the caller of the current frame. False at the end of the stack.
  bool Up(int32_t frame_words);
  bool UpFromEntry();
  Registers CallerByFp() const;
  bool IsUpcall(const FoundCode& code) const;
  bool UpFromUpcall(const FoundCode& code);
  bool UpByAnchor(uint64_t anchor, const Registers& caller);
  bool End(WalkEnd why);
  WalkStatus Found(WalkStatus status);

  bool broken_ = false, ended_ = true, has_java_ = true;
  WalkEnd end_ = WalkEnd::kUntold;
  bool guessed_frame_ = false;  // guessed_ of the frame that Next() returns
  // Unwinds the frames of C code that come before the current Java frame.
  NativeUnwinder c_;
  bool in_c_ = false;
  // pc not 0: Next() first returns this stub, interrupted or about to lay frames out, which `at_`
  // has left.
  Registers stub_on_top_{};
  // vframeArray that frames are returned from, how many it has, how many are to be returned yet.
  uint64_t unpacked_ = 0;
  int32_t unpacked_count_ = 0, unpacked_left_ = 0;
  // In a compiled frame: the scopes that Next() has yet to return.
  uint64_t scopes_blob_ = 0, scopes_code_ = 0;  // their nmethod, its first instruction
  uint32_t scopes_offset_ = 0;                  // bytes from there to where they are described
  int32_t scopes_level_ = 0, scopes_frame_words_ = 0;
  DebugInfo debug_;
  Scope scope_;
  int inlined_ = 0;  // inlined frames so far, in this activation
  // While the frames of an activation are copied from rules: what those of the older ones share,
  // and where the next one is described.
  bool in_rules_ = false;
  uint64_t rule_blob_ = 0, rule_id_ = 0;  // nmethod and compile id
  uint32_t rule_begin_ = 0;
  int32_t rule_sender_ = 0;
  bool in_scopes_ = false, from_registers_ = false;
};

// A redefined method's jmethodID leads to the newest version. HotSpot never frees the memory of a
// jmethodID that is an address (ClassLoaderData::unload).
inline bool JavaWalk::HoldsMethod(const PcRule& rule) const {
  uint64_t method = 0;
  return layout_.ids_are_numbers || (Peek(rule.id, method) && method == rule.method);
}

// The rule of method `n`, counted from the innermost, 0, on, of the activation at `pc`; for n > 0
// the rule of a newer method has been taken. False if none holds. Inlined, as a call takes a tenth
// of a walk.
__attribute__((always_inline)) inline bool JavaWalk::FindRule(uint64_t pc, bool is_top, uint64_t n,
                                                              PcRule& rule, uint64_t& id) const {
  return MayHaveRules(pc) && start_->caches->rules.FindAny(RuleKey(pc, is_top, n), id, rule) &&
         (n == 0 ? IsSameCode(rule.blob, id) : id == rule_id_ && rule.blob == rule_blob_) &&
         HoldsMethod(rule);
}

// Keeps that Next() goes on after `rule`, of an inlined method.
inline void JavaWalk::GoOnAfter(const PcRule& rule, uint64_t id, int n) {
  rule_blob_ = rule.blob;
  rule_id_ = id;
  rule_begin_ = rule.begin;
  rule_sender_ = rule.sender;
  inlined_ = n;
}

// Bytecode of the interpreted frame at `fp`. The interpreter keeps its bytecode pointer in a
// register and saves the pointer at calls.
inline int32_t JavaWalk::InterpretedBci(uint64_t fp, const MethodFacts& facts) const {
  if (facts.is_native) return -1;
  const uint64_t begin = facts.const_method + layout_.const_bytes;
  uint64_t bcp = 0;
  if (at_.is_top && start_->java.byte_code - begin < facts.code_size)
    return static_cast<int32_t>(start_->java.byte_code - begin);
  if (!Word(fp + layout_.interpreter_bcp, bcp)) return 0;
  if (bcp - begin < facts.code_size) return static_cast<int32_t>(bcp - begin);
  // While JDK 8 collects garbage, a number takes the pointer's place (frame::gc_prologue).
  if (layout_.feature < 9 && bcp < facts.code_size) return static_cast<int32_t>(bcp);
  return 0;  // on entry
}

// The current frame stays in local variables: each frame depends on the one before, and what goes
// through memory takes several times as long.
template <typename Put>
int JavaWalk::TakeUsual(int most, Put put) {
  uint64_t code_low = 0, code_high = 0, id = 0;
  if (ended_ || in_c_ || stub_on_top_.pc != 0 || unpacked_left_ > 0 || in_scopes_ || in_rules_ ||
      frozen_.active() || !HasRules() || !Peek(layout_.code.cache_low, code_low) ||
      !Peek(layout_.code.cache_high, code_high))
    return 0;
  // Two words at an address in [low, high) are read by plain loads.
  const uint64_t low = std::max(start_->plain_low, low_), high = start_->stack_high - 8;
  const uint64_t address_mask = layout_.rules->address_mask;
  bool is_top = at_.is_top;
  uint64_t pc = at_.pc, sp = at_.sp, fp = at_.fp;
  const auto move = [&] {
    if (!is_top && sp != at_.sp) MoveTo(pc, sp, fp);
  };
  int count = 0;
  // As wide as in the key: the processor waits where it reads more than was just written.
  uint64_t n = 0;
  for (PcRule rule; count < most;) {
    if (layout_.code.InInterpreter(pc)) {
      Interpreted found;
      MethodFacts facts;
      uint64_t caller_fp = 0;
      move();
      if (is_top || !InterpretedAt(fp, found, facts) || !Word(fp, caller_fp) ||
          (!facts.is_native && facts.code_size == 0))
        break;
      put({facts.id, static_cast<uint16_t>(InterpretedBci(fp, facts)), 0,
           facts.is_native ? FrameType::kNative : FrameType::kJava});
      count++;
      pc = found.pc;
      sp = found.sp;
      fp = caller_fp;
      continue;
    }
    if (!FindRule(pc, is_top, n, rule, id)) break;
    put({rule.id, rule.bci, rule.level, static_cast<FrameType>(rule.type)});
    count++;
    if (rule.sender != 0) {
      GoOnAfter(rule, id, static_cast<int>(n++));
      continue;
    }
    n = 0;
    // As Up() does it, which takes what is unusual: [end - 8] = pc', [end - 16] = fp', sp' = end.
    const uint64_t end = sp + 8 * static_cast<uint64_t>(rule.frame_words), slot = end - 16;
    if (!is_top && slot >= sp && slot >= low && slot < high && slot % 8 == 0) {
      const auto* words = reinterpret_cast<const volatile uint64_t*>(slot);
      const uint64_t caller_fp = words[0];
      if (caller_fp - code_low >= code_high - code_low) {
        pc = words[1] & address_mask;
        sp = end;
        fp = caller_fp;
        continue;
      }
    }
    move();
    if (!Up(rule.frame_words) || frozen_.active()) return count;
    pc = at_.pc, sp = at_.sp, fp = at_.fp, is_top = at_.is_top;
  }
  move();
  in_rules_ = n > 0;
  return count;
}

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_JAVA_WALK_H_
