// SPDX-License-Identifier: Apache-2.0
// JavaWalk: walks the Java frames of one thread, newest first, from registers and memory alone. It
// is a second opinion on HotSpot's own walker: JavaWalk shares no code with that walker, and checks
// every read.
// Signal-safe: yes. No allocation, no lock, a bounded number of steps for each frame.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_JAVA_WALK_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_JAVA_WALK_H_

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
  int8_t level;     // 0 interpreted or native, 1..3 C1, 4 C2; -1: kStub, kCpp
  int32_t bci;      // -1: none
  uint64_t method;  // Method*; 0: kStub, kCpp
  uint64_t pc, sp, fp;
  MethodFacts facts;  // only `id` is set in each frame of a method
  uint64_t code = 0;  // first instruction of its compiled code; 0: none
  // This frame, or a newer one, was searched for instead of derived: it may be wrong, and callers
  // in between may be missing. Of kCpp: this frame, or a newer one of kCpp, or its caller.
  bool guessed = false;
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
  bool broken() const { return broken_; }
  // Why the walk ended, also if a Begin function found no frame. kUntold: there may be more frames.
  WalkEnd end() const;
  // After a Begin function returned kFound: false if the walk has frames of C code only.
  bool has_java() const { return has_java_; }
  // After Next() returned a frame that is not inlined: pc, sp and fp of its caller. False: not
  // known.
  bool Caller(Registers& caller) const {
    caller = {at_.pc, at_.sp, at_.fp, 0};
    return !ended_;
  }

 private:
  static constexpr int kMostInlined = 256;  // in one frame: HotSpot's MaxForceInlineLevel is 100

  WalkStatus BeginByState();
  bool InDeoptimisedFrame();
  WalkStatus BeginInCode();
  WalkStatus FindFirst();
  WalkStatus BeginInC();
  WalkStatus BeginAtAnchor();
  WalkStatus WithCFrames(WalkStatus status);
  void BeginC(const Registers& at, bool top, uint64_t limit);
  bool EmitC(JavaFrame& frame);
  bool Emit(JavaFrame& frame);
  bool FromCallStub();
  void LeaveContinuation();
  bool SenderInTop(const FoundCode& code);

  void SetFrame(JavaFrame& frame, uint64_t method, int level, int32_t bci, uint64_t code) const;
  bool InterpretedFrame(JavaFrame& frame);
  bool CompiledFrame(const FoundCode& code, JavaFrame& frame);
  void EnterScopes(const FoundCode& code, uint64_t pc);
  bool HasRules() const { return start_.uses_rules && !at_.is_top && !at_.sender && !guessed_; }
  bool Holds(const PcRule& rule, uint64_t compile_id) const;
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
  bool stub_on_top_ = false;  // Next() first returns the interrupted stub, which `at_` has left
  // In a compiled frame: the scopes that Next() has yet to return.
  uint64_t scopes_blob_ = 0, scopes_code_ = 0;  // their nmethod, its first instruction
  uint32_t scopes_offset_ = 0;                  // bytes from there to where they are described
  int32_t scopes_level_ = 0, scopes_frame_words_ = 0;
  DebugInfo debug_;
  Scope scope_;
  int inlined_ = 0;  // inlined frames so far, in this activation
  // While the frames of an activation are copied from rules: the newest of these.
  bool in_rules_ = false;
  PcRule rule_;
  uint64_t rule_id_ = 0;  // compile id of the activation's code
  bool in_scopes_ = false, from_registers_ = false;
};

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_JAVA_WALK_H_
