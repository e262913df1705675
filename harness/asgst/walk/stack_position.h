// SPDX-License-Identifier: Apache-2.0
// StackPosition: a frame on the stack of a thread, what is known of it, and moves to frames that
// memory proves. Its subclasses know where to look for those frames.
// Signal-safe: yes. No allocation, no lock.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_STACK_POSITION_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_STACK_POSITION_H_

#include <cstdint>
#include <optional>

#include "harness/asgst/walk/debug_info.h"
#include "harness/asgst/walk/frozen_stack.h"
#include "harness/asgst/walk/layout.h"
#include "harness/asgst/walk/method_facts.h"
#include "harness/asgst/walk/pc_rules.h"
#include "harness/asgst/walk/shared_cache.h"
#include "harness/asgst/walk/unwind_table.h"
#include "harness/jvm/structs/code_finder.h"
#include "harness/jvm/structs/memory.h"

namespace walkhammer::asgst {

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
    PcRules rules;
    CodeFactsCache code;
  };
  Caches* caches = nullptr;
  const UnwindTables* unwind = nullptr;  // for C and C++ code; null: by frame pointers
  bool non_java = false;                 // also return frames of stubs, C and C++
  // The words of the stack from here to stack_high are the current thread's own, above its guard
  // zones: they are read by plain loads, as is its JavaThread. UINT64_MAX: all reads go through the
  // reader.
  uint64_t plain_low = UINT64_MAX;
  // Of caches->rules and caches->code; the walk is of the current thread: see PcRule.
  bool uses_rules = false;
  bool from_context = false;  // the thread was interrupted at `registers`
  bool frozen = false;        // also return frames of a virtual thread that are in the heap
  // Also return frames that deoptimisation is about to lay out: they have no place on the stack
  // yet.
  bool unpacked = false;
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
  uint64_t low_ = 0, bytes_ = 0;  // multiples of 8
};

class StackPosition {
 protected:
  StackPosition(const WalkLayout& layout, const MemoryReader& memory, const WalkStart& start)
      : layout_(layout),
        memory_(memory),
        begun_(start),
        start_(&start),
        code_memory_(memory),
        frozen_(layout, memory) {}

  // A physical frame. `pc` is in its code; `sp` is the address of its lowest word.
  struct Physical {
    uint64_t pc = 0, sp = 0, fp = 0;
    bool is_top = false;  // interrupted here: its registers are live
    // The caller, if it is already known, as for a frame that is not set up as usual.
    std::optional<Registers> sender = {};
  };

  // Size of the frames of `code`.
  static uint64_t FrameBytes(const FoundCode& code) {
    return 8 * static_cast<uint64_t>(code.frame_words);
  }
  FoundCode CodeAt(uint64_t pc) { return LastCode(pc); }
  // As CodeAt, but the reference holds until other code is looked up. The code found last is not
  // looked up again.
  const FoundCode& LastCode(uint64_t pc) {
    if (pc == last_pc_) return last_code_;
    last_code_ = start_->live ? FindLiveCode(layout_.code, memory_, pc)
                              : FindCode(layout_.code, memory_, pc);
    last_pc_ = pc;
    code_memory_.SetHeap(last_code_.heap_low, last_code_.heap_high);
    return last_code_;
  }
  FoundCode InterruptedCode(uint64_t pc);
  void ReadFacts(const FoundCode& nmethod, uint64_t pc);
  // True if the nmethod `blob` is in use (a C++ bool) and has this compile id. Plain loads are
  // safe: the memory of a code heap stays committed.
  __attribute__((always_inline)) bool IsSameCode(uint64_t blob, uint64_t compile_id) const {
    const CodeLayout& l = layout_.code;
    uint32_t now = 0;
    uint8_t used = 0;
    return Peek(blob + static_cast<uint64_t>(layout_.compile_id), now) && now == compile_id &&
           Peek(blob - static_cast<uint64_t>(l.block_size - l.block_used), used) && used == 1;
  }
  // Reads a field of the thread. A current thread's JavaThread is there.
  template <typename T>
  bool ThreadField(int offset, T& value) const {
    const uint64_t at = start_->thread + static_cast<uint64_t>(offset);
    if (start_->plain_low == UINT64_MAX) return memory_.Read(at, value);
    value = *reinterpret_cast<const volatile T*>(at);
    return true;
  }
  // Reads a value that a live JVM never unmaps.
  template <typename T>
  bool Peek(uint64_t address, T& value) const {
    if (!start_->live) return memory_.Read(address, value);
    value = *reinterpret_cast<const volatile T*>(address);
    return true;
  }
  bool InCode(uint64_t pc) const {
    uint64_t low = 0, high = 0;
    return Peek(layout_.code.cache_low, low) && Peek(layout_.code.cache_high, high) && pc >= low &&
           pc < high;
  }
  bool InStack(uint64_t address) const {
    return address >= low_ && address < start_->stack_high && (address & 7) == 0;
  }
  bool Word(uint64_t address, uint64_t& word) const {
    if (!InStack(address)) return frozen_.Word(address, word);
    if (address < start_->plain_low) return memory_.ReadWord(address, word);
    word = *reinterpret_cast<const volatile uint64_t*>(address);
    return true;
  }

  // Reads the return address at `slot`, without its signature. False if `slot` is not in the stack
  // or cannot be read.
  bool ReturnAddress(uint64_t slot, uint64_t& pc) const {
    if (!Word(slot, pc)) return false;
    pc &= layout_.rules->address_mask;
    return true;
  }

  // False if there is no method at `method`. A cached entry holds if the method still has the
  // jmethodID and the ConstMethod of the entry: a jmethodID passes to newer versions of a method,
  // and these may get the memory of an older version.
  bool MethodAt(uint64_t method, MethodFacts& facts) const {
    uint64_t now = 0, const_method = 0;
    if (start_->caches != nullptr && start_->caches->methods.Find(method, 0, facts) &&
        (facts.array_at == 0 || (memory_.ReadWord(facts.array_at, now) && now == facts.array)) &&
        memory_.ReadWord(facts.witness_at, now) && now == facts.witness &&
        memory_.ReadWord(method + layout_.jvm.method_const, const_method) &&
        const_method == facts.const_method && HasNumber(facts))
      return true;
    return UnknownMethodAt(method, facts);
  }
  bool HasNumber(const MethodFacts& facts) const {
    uint16_t number = 0;
    const auto at = facts.const_method + static_cast<uint64_t>(layout_.table.const_idnum);
    return !layout_.ids_are_numbers || (memory_.Read(at, number) && number == facts.number);
  }
  bool UnknownMethodAt(uint64_t method, MethodFacts& facts) const;
  // sp of an interpreted frame's caller: sp' = [fp + sender_sp]. On aarch64 an interpreted caller's
  // own sp leaves room for all that the caller may yet push, and its callee's frame is within that
  // room: if [fp + sender_sp] <= fp, then sp' = fp + 16.
  bool SenderSp(uint64_t fp, uint64_t& sp) const {
    constexpr uint64_t kFrameRecord = 16;
    if (!Word(fp + layout_.sender_sp, sp)) return false;
    if (layout_.rules->has_link_register && sp <= fp && sp >= start_->stack_floor && (sp & 7) == 0)
      sp = fp + kFrameRecord;
    return sp > fp && InStack(sp - 8);
  }
  // What an interpreted frame holds: its Method*, and pc and sp of its caller.
  struct Interpreted {
    uint64_t method = 0, pc = 0, sp = 0;
  };
  // False if there is no interpreted frame at `fp`.
  bool InterpretedAt(uint64_t fp, Interpreted& found, MethodFacts& facts) const {
    return SenderSp(fp, found.sp) && ReturnAddress(fp + 8, found.pc) && InCode(found.pc) &&
           Word(fp + layout_.interpreter_method, found.method) && MethodAt(found.method, facts);
  }
  bool IsInterpretedFrameAt(uint64_t fp) const {
    Interpreted found;
    MethodFacts facts;
    return InterpretedAt(fp, found, facts);
  }
  static constexpr uint64_t kMostOfHandler = 24;  // bytes of a handler of deoptimisation
  uint64_t HandlerOf(const FoundCode& code, int begin, int offset) const;
  uint64_t DeoptHandlerAround(const FoundCode& nmethod, uint64_t pc) const;
  // Moves to a frame that has called. No frame is below its sp.
  void MoveTo(uint64_t pc, uint64_t sp, uint64_t fp) {
    at_ = {pc, sp, fp};
    low_ = sp;
  }
  bool IsReturn(uint64_t pc);
  bool IsFrameAt(uint64_t sp, const FoundCode& code);
  bool ToFrameAt(uint64_t sp, uint64_t pc, uint64_t fp);
  bool TakeReturnAt(uint64_t slot, uint64_t fp);
  bool TakeReturnOfStub(uint64_t fp);
  void PassLeafWords();
  uint64_t ContinuationEntry() const;
  static constexpr uint64_t kMostOfBarrier = 64;  // bytes that the return barrier pushes at first
  bool ToContinuationEntry(uint64_t most);
  void BeginFrozen(bool thaws);
  void TakeFrozen(FrozenStack::Step step, const Registers& at);
  void UpFrozen(int32_t frame_words);
  // Reads the heap of the code that CodeAt() found last.
  const MemoryReader& Code() const {
    return start_->live ? static_cast<const MemoryReader&>(code_memory_) : memory_;
  }

  const WalkLayout& layout_;
  const MemoryReader& memory_;
  const WalkStart& begun_;  // where the thread was interrupted
  const WalkStart* start_;  // `begun_`, or below a signal handler that was interrupted there
  Physical at_;
  uint64_t low_ = 0;      // no frame is below this address
  bool guessed_ = false;  // `at_` was searched for, or a newer frame was
  CodeMemory code_memory_;
  FrozenStack frozen_;     // active while `at_` is in the heap
  Physical entered_;       // enterSpecial's frame, where the walk goes on after the frozen ones
  uint64_t first_pc_ = 0;  // of the newest frame; 0: not known
  uint64_t last_pc_ = 0;   // no code is at address 0
  FoundCode last_code_;
  uint64_t facts_pc_ = 0;  // `facts_` are of the code at this pc
  CodeFacts facts_;
};

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_STACK_POSITION_H_
