// SPDX-License-Identifier: Apache-2.0
// JavaWalk: walks the Java frames of one thread, newest first, from registers and memory alone. It
// is a second opinion on HotSpot's own walker: JavaWalk shares no code with that walker, and checks
// every read.
// Signal-safe: yes. No allocation, no lock, a bounded number of steps for each frame.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_JAVA_WALK_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_JAVA_WALK_H_

#include <cstdint>

#include "harness/asgst/walk/debug_info.h"
#include "harness/asgst/walk/layout.h"
#include "harness/asgst/walk/method_facts.h"
#include "harness/asgst/walk/shared_cache.h"
#include "harness/asgst/walk/unwind_table.h"
#include "harness/base/trace.h"
#include "harness/base/walk_end.h"
#include "harness/jvm/structs/code_finder.h"
#include "harness/jvm/structs/memory.h"

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
  MethodFacts facts;
  uint64_t code = 0;  // first instruction of its compiled code; 0: none
  // This frame, or a newer one, was searched for instead of derived: it may be wrong, and callers
  // in between may be missing.
  bool guessed = false;
};

// The thread to walk, as it was interrupted.
struct WalkStart {
  Registers registers{};
  JavaRegisters java{};
  uint64_t thread = 0;       // JavaThread*
  uint64_t stack_high = 0;   // highest address of its stack, exclusive
  uint64_t stack_floor = 0;  // lowest address of its stack
  bool live = false;         // the thread is in this process: FindLiveCode may be used
  // Results of earlier walks of this process.
  struct Caches {
    SharedCache<MethodFacts, 12> methods;
    ScopeCache scopes;
  };
  Caches* caches = nullptr;
  const UnwindTables* unwind = nullptr;  // for C and C++ code; null: by frame pointers
  bool non_java = false;                 // also return frames of stubs, C and C++
};

// Whether a Begin function found a first frame; if not, why: the codes of JEP 435.
enum class WalkStatus : int32_t {
  kFound = 1,
  kNoJavaFrame = 0,
  kUnknownNotJava = -3,
  kNotWalkableNotJava = -4,
  kUnknownJava = -5,
  kUnknownState = -7,
  kDeoptimization = -9,
};

// Reads the committed part of a code heap by plain loads, all other memory through `other`.
class CodeMemory final : public MemoryReader {
 public:
  explicit CodeMemory(const MemoryReader& other) : other_(other) {}
  void SetHeap(uint64_t low, uint64_t high) {
    low_ = low;
    bytes_ = high - low;
  }
  bool ReadWord(uint64_t address, uint64_t& word) const override {
    if (address - low_ >= bytes_) return other_.ReadWord(address, word);
    word = *reinterpret_cast<const volatile uint64_t*>(address);
    return true;
  }

 private:
  const MemoryReader& other_;
  uint64_t low_ = 0, bytes_ = 0;  // multiples of the page size
};

class JavaWalk {
 public:
  JavaWalk(const WalkLayout& layout, const MemoryReader& memory, const WalkStart& start)
      : layout_(layout),
        memory_(memory),
        start_(start),
        c_(start.unwind, *layout.rules, memory),
        debug_(layout, memory, start.caches == nullptr ? nullptr : &start.caches->scopes),
        code_memory_(memory) {}

  // Starts at the newest Java frame, found by the thread's state, anchor and registers.
  WalkStatus Begin();
  // Starts at the newest Java frame, found by the registers alone, whatever the thread's state.
  WalkStatus BeginAtRegisters();
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
  // A physical frame. `pc` is in its code; `sp` is the address of its lowest word.
  struct Physical {
    uint64_t pc, sp, fp;
    bool is_top;  // interrupted here: its registers are live
    // True if the caller, `sender`, is already known, as for a frame that is not set up as usual.
    bool has_sender;
    Registers sender;
  };

  FoundCode CodeAt(uint64_t pc) {
    const FoundCode found =
        start_.live ? FindLiveCode(layout_.code, memory_, pc) : FindCode(layout_.code, memory_, pc);
    code_memory_.SetHeap(found.heap_low, found.heap_high);
    return found;  // named, so that it is not copied: a copy takes noticeable time
  }
  bool InCode(uint64_t pc) const {
    return start_.live ? InCodeCache(layout_.code, PlainMemory(), pc)
                       : InCodeCache(layout_.code, memory_, pc);
  }
  bool InStack(uint64_t address) const {
    return address >= low_ && address < start_.stack_high && (address & 7) == 0;
  }
  bool Word(uint64_t address, uint64_t& word) const {
    return InStack(address) && memory_.ReadWord(address, word);
  }

  // Reads the return address at `slot`, without its signature. False if `slot` is not in the stack
  // or cannot be read.
  bool ReturnAddress(uint64_t slot, uint64_t& pc) const {
    if (!Word(slot, pc)) return false;
    pc &= layout_.rules->address_mask;
    return true;
  }

  WalkStatus BeginByState();
  bool InDeoptimisedFrame();
  bool InDeoptHandler(const FoundCode& code);
  WalkStatus BeginInCode();
  WalkStatus FindFirst();
  WalkStatus BeginInC();
  WalkStatus BeginAtAnchor();
  WalkStatus WithCFrames(WalkStatus status);
  void BeginC(const Registers& at, bool top, uint64_t limit);
  bool EmitC(JavaFrame& frame);
  bool Emit(JavaFrame& frame);
  bool BetweenInterpretedFrames();
  bool FromFrameBeingBuilt();
  bool FromCompiledCallerByLink();
  bool FromLink(const FoundCode& top);
  bool FromLinkTo(const FoundCode& caller, uint64_t pc);
  StubStart StartAt(uint64_t pc, uint64_t sp, uint64_t fp) const;
  bool FromExit(const FoundCode& code, const StubStart& start);
  void GoOnInStub(StubExit& exit);
  bool FromFirstCall(const FoundCode& code);
  bool TakeExitByJump(const FoundCode& code, const StubExit& exit, uint64_t passed);
  bool TakeCaller(uint64_t pc, uint64_t sp, const StubExit& exit, bool into_interpreter);
  void LeaveEntry();
  bool IsFrameAt(uint64_t sp, const FoundCode& code);
  bool ToFrameAt(uint64_t sp, uint64_t pc, uint64_t fp);
  void PassArguments();
  bool FromCallStub();
  uint64_t ContinuationEntry() const;
  void LeaveContinuation();
  bool ToContinuationEntry(uint64_t most);
  bool FromLeafCall();
  bool FromLeafCallByTables();
  bool SenderInTop(const FoundCode& code);
  void PassLocals();
  bool IsReturn(uint64_t pc);
  bool TakeReturnAt(uint64_t slot, uint64_t fp);
  void PassLeafWords();

  void SetFrame(JavaFrame& frame, uint64_t method, int level, int32_t bci, uint64_t code) const;
  bool InterpretedFrame(JavaFrame& frame);
  bool SenderSp(uint64_t fp, uint64_t& sp) const;
  bool IsInterpretedFrameAt(uint64_t fp, uint64_t& method, MethodFacts& facts) const;
  bool CompiledFrame(const FoundCode& code, JavaFrame& frame);
  uint64_t HandlerOf(const FoundCode& code, int begin, int offset) const;
  void EnterScopes(const FoundCode& code, uint64_t pc);
  bool EmitScope(JavaFrame& frame);
  // Moves to the caller of the current frame. False at the end of the stack.
  bool Up(int32_t frame_words);
  bool FromStubWithoutFrame();
  bool TakeReturnOfStub(uint64_t fp);
  bool UpFromEntry();
  bool IsUpcall(const FoundCode& code) const;
  bool UpFromUpcall(const FoundCode& code);
  bool UpByAnchor(uint64_t anchor, const Registers& caller);
  bool UpFromInterpreted();
  bool End(WalkEnd why);
  WalkStatus Found(WalkStatus status);

  bool MethodAt(uint64_t method, MethodFacts& facts) const;
  // Reads the heap of the code that CodeAt() found last.
  const MemoryReader& Code() const {
    return start_.live ? static_cast<const MemoryReader&>(code_memory_) : memory_;
  }

  const WalkLayout& layout_;
  const MemoryReader& memory_;
  const WalkStart& start_;
  Physical at_{};
  uint64_t low_ = 0;  // no frame is below this address
  bool broken_ = false, ended_ = true, has_java_ = true;
  WalkEnd end_ = WalkEnd::kUntold;
  bool guessed_ = false;        // `at_` was searched for, or a newer frame was
  bool guessed_frame_ = false;  // the same of the frame that Next() returns
  bool at_barrier_ = false;     // the stub at `at_` brings frames of a virtual thread
  // Unwinds the frames of C code that come before the current Java frame.
  NativeUnwinder c_;
  bool in_c_ = false;
  bool stub_on_top_ = false;  // Next() first returns the interrupted stub, which `at_` has left
  // In a compiled frame: the scopes that Next() has yet to return.
  uint64_t scopes_code_ = 0;    // first instruction of their code
  uint32_t scopes_offset_ = 0;  // bytes from there to where they are described
  int32_t scopes_level_ = 0, scopes_frame_words_ = 0;
  DebugInfo debug_;
  Scope scope_;
  int inlined_ = 0;  // inlined frames so far, in this activation
  bool in_scopes_ = false, from_registers_ = false;
  CodeMemory code_memory_;
};

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_JAVA_WALK_H_
