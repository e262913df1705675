// JavaWalk: the Java frames of one thread, newest first, from registers and memory alone. A second
// opinion on HotSpot's own walker: it shares no code with it, and every read is checked.
// Signal-safe: yes. No allocation, no lock, a bounded number of steps for each frame.
#ifndef WALKHAMMER_HARNESS_REFERENCE_JAVA_WALK_H_
#define WALKHAMMER_HARNESS_REFERENCE_JAVA_WALK_H_

#include <cstdint>

#include "harness/jvm/code_finder.h"
#include "harness/jvm/memory.h"
#include "harness/reference/debug_info.h"
#include "harness/reference/layout.h"
#include "harness/reference/shared_cache.h"
#include "harness/walkers/trace.h"

namespace walkhammer {

enum class FrameType : uint8_t {
  kJava = 1,     // an activation of its own
  kInlined = 2,  // compiled into the frame that follows
  kNative = 3,   // of a native method
};

// What a walk reads of a method.
struct MethodFacts {
  uint64_t const_method = 0;  // ConstMethod*
  uint64_t id = 0;            // jmethodID; 0: it never got one
  uint16_t code_size = 0;     // bytes of byte code
  bool is_native = false;
};
// False if there is no Method at that address.
bool ReadMethod(const WalkLayout& layout, const MemoryReader& memory, uint64_t method,
                MethodFacts& facts);

struct JavaFrame {
  FrameType type;
  int8_t level;     // 0 interpreted, 1..3 C1, 4 C2
  int32_t bci;      // -1: none
  uint64_t method;  // Method*
  uint64_t pc, sp, fp;
  MethodFacts facts;
  bool is_top = false;  // interrupted here: its pc is no return address
  uint64_t code = 0;    // where the compiled code begins that it runs; 0: interpreted
};

// The interrupted thread.
struct WalkStart {
  Registers registers{};
  // What generated code keeps in callee-saved registers: the byte code pointer, and before a frame
  // is built the sp of the caller and the return address (x86_64: r13, r13, rax; aarch64: x22, x19,
  // lr); 0: not known.
  uint64_t bcp_register = 0, sender_sp_register = 0, return_register = 0;
  uint64_t thread = 0;       // JavaThread*
  uint64_t stack_high = 0;   // its stack's end, exclusive
  uint64_t stack_floor = 0;  // its stack's beginning
  bool live = false;         // in this process: code may be found by FindLiveCode
  // What earlier walks of this process have read.
  struct Caches {
    SharedCache<MethodFacts, 12> methods;
    ScopeCache scopes;
  };
  Caches* caches = nullptr;
};

// Why there is no first Java frame; the codes of JEP 435.
enum class WalkStatus : int32_t {
  kFound = 1,
  kNoJavaFrame = 0,
  kUnknownNotJava = -3,
  kNotWalkableNotJava = -4,
  kUnknownJava = -5,
  kUnknownState = -7,
};

// Reads what a code heap has committed plainly, and all else as `other` does.
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
  uint64_t low_ = 0, bytes_ = 0;  // multiples of pages
};

class JavaWalk {
 public:
  JavaWalk(const WalkLayout& layout, const MemoryReader& memory, const WalkStart& start)
      : layout_(layout),
        memory_(memory),
        start_(start),
        debug_(layout, memory, start.caches == nullptr ? nullptr : &start.caches->scopes),
        code_memory_(memory) {}

  // Goes to the newest Java frame.
  WalkStatus Begin();
  // The same from the registers alone, whatever the thread's state says.
  WalkStatus BeginAtRegisters();
  // At a frame that an earlier walk came to and that is still there, with the caller that it has.
  struct KnownFrame {
    uint64_t pc, sp, fp;
    bool is_top;
    Registers caller;
  };
  void BeginAtFrame(const KnownFrame& frame);
  // The next frame, newest first. False at the end, or where the stack makes no sense any more;
  // `broken` tells which.
  bool Next(JavaFrame& frame);
  bool broken() const { return broken_; }
  // Behind a frame that is not inlined: pc, sp and fp of its caller. False: not known.
  bool Caller(Registers& caller) const {
    caller = {at_.pc, at_.sp, at_.fp, 0};
    return !ended_;
  }

 private:
  // A physical frame. `pc` lies in its code; `sp` is its lowest word.
  struct Physical {
    uint64_t pc, sp, fp;
    bool is_top;  // interrupted here: its registers are live
    // The bottom of a frame that is not set up as usual, where it is known: its caller.
    bool has_sender;
    Registers sender;
  };

  FoundCode CodeAt(uint64_t pc) {
    if (!start_.live) return FindCode(layout_.code, memory_, pc);
    const FoundCode found = FindLiveCode(layout_.code, memory_, pc);
    code_memory_.SetHeap(found.heap_low, found.heap_high);
    return found;
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

  // A word that is an address to return to.
  bool ReturnAddress(uint64_t slot, uint64_t& pc) const {
    if (!Word(slot, pc)) return false;
    pc &= layout_.rules->address_mask;
    return true;
  }

  WalkStatus BeginInCode();
  WalkStatus BeginAtAnchor();
  bool FromLeafCall();
  bool SenderInTop(const FoundCode& code);
  bool IsReturn(uint64_t pc);
  bool TakeReturnAt(uint64_t slot, uint64_t fp);

  bool InterpretedFrame(JavaFrame& frame);
  bool IsInterpretedFrameAt(uint64_t fp, uint64_t& method, MethodFacts& facts) const;
  bool CompiledFrame(const FoundCode& code, JavaFrame& frame);
  uint64_t HandlerOf(const FoundCode& code, int begin, int offset) const;
  bool EmitScope(JavaFrame& frame);
  // To the caller of the frame at hand. False at the end of the stack.
  bool Up(const FoundCode& code);
  bool UpFromEntry();
  bool UpFromInterpreted();
  bool End(bool broken);

  bool MethodAt(uint64_t method, MethodFacts& facts) const;
  // What the heap of the code that was found last holds.
  const MemoryReader& Code() const {
    return start_.live ? static_cast<const MemoryReader&>(code_memory_) : memory_;
  }

  const WalkLayout& layout_;
  const MemoryReader& memory_;
  const WalkStart& start_;
  Physical at_{};
  uint64_t low_ = 0;  // no frame lies below
  bool broken_ = false, ended_ = true;
  // Inside of a compiled frame: the scopes still to come.
  FoundCode code_;
  DebugInfo debug_;
  Scope scope_;
  bool in_scopes_ = false, from_registers_ = false;
  CodeMemory code_memory_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_REFERENCE_JAVA_WALK_H_
