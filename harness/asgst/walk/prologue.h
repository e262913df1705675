// SPDX-License-Identifier: Apache-2.0
// FrameShape: how much of its frame generated code has set up at a pc, found from the instructions
// around the pc.
// Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_PROLOGUE_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_PROLOGUE_H_

#include <cstdint>

#include "harness/asgst/walk/signal_frame.h"
#include "harness/guard/arch.h"
#include "harness/jvm/structs/code_finder.h"
#include "harness/jvm/structs/memory.h"

namespace walkhammer::asgst {

// Where the caller is (JavaWalk::SenderInTop): ret is the return address, a prime marks the
// caller's value, size is 8 * FoundCode::frame_words bytes.
enum class FrameShape : uint8_t {
  kWhole,       // ret = [sp + size - 8], fp' = [sp + size - 16], sp' = sp + size
  kNone,        // x86_64: ret = [sp], fp' = fp, sp' = sp + 8
  kFpPushed,    // ret = [sp + 8], fp' = [sp], sp' = sp + 16
  kFpNotSaved,  // x86_64: ret = [sp + size - 8], fp' = fp, sp' = sp + size
  kInLink,      // aarch64: ret = lr, fp' = fp, sp' = sp
  kSpMoved,     // aarch64: ret = lr, fp' = fp, sp' = sp + size
  kBeyondCall,  // x86_64: in a call's stub. If [sp] leads back into the nmethod: ret = [sp],
                // fp' = fp, sp' = sp + 8, where the nmethod's own frame is; else as kWhole
  kByFp,        // ret = [fp + 8], fp' = [fp], sp' = fp + 16: a stub that has set up fp
  kUnknown,     // none of the above: JavaWalk searches for the caller
};

// Where a simulation begins: in generated code without a fixed frame layout, at `pc`.
struct StubStart {
  bool called = false;   // the code has called from just before `pc`
  bool to_call = false;  // run up to the first call; false: up to a jump or return
  uint64_t pc = 0;
  uint64_t general[16] = {};  // registers by their numbers in instructions: 4 is rsp
  uint32_t known = 0;         // bit i: general[i] is known
  uint64_t flags = 0;         // rflags; 0: unknown
};

// How the code jumps or returns at its end, and the registers at that point. 0: unknown.
struct StubExit {
  bool returns = false;  // by a return; false: by a jump or, with to_call, at the first call
  bool called = false;   // the code has called before (StubStart::called included)
  // A mov rsp, reg after a call makes sp unknown, where each branch before it has a known
  // condition. The stub that thaws frames of a virtual thread switches to them so. Set even without
  // an exit.
  bool loses_sp = false;
  uint64_t pc = 0;   // target of the jump or return
  uint64_t sp = 0;   // after a return has popped its words; at a jump or call, before it
  uint64_t top = 0;  // [sp]
  uint64_t fp = 0;
  uint64_t sender_sp = 0;     // r13
  uint64_t exception_pc = 0;  // rdx
  uint64_t method = 0;        // rbx: the Method* that an adapter is entered for
  uint64_t return_pc = 0;     // with to_call: [sp + size - 8], of a frame of the code's stated size
  // The return address that the code has replaced by `pc`, as a blob does that returns past a poll.
  uint64_t replaced = 0;
  bool through_memory = false;  // the jump loads its target from memory, as the interpreter does
};

// What differs between architectures. Each set of rules runs on any host. Functions with a default
// are null on aarch64.
struct CodeRules {
  // Shape at `pc` of an nmethod that was interrupted there. For other code, only whether it has
  // left its frame (kWhole: it has not).
  FrameShape (*shape_at)(const MemoryReader& memory, const FoundCode& code, uint64_t pc);
  // True if the code at `begin` starts by setting up fp. `pushed`: bytes up to the end of the push
  // of the caller's fp; `all`: bytes up to the end of the whole set-up.
  bool (*sets_up_fp)(const MemoryReader& memory, uint64_t begin, int& pushed, int& all);
  // True if the instruction before `pc` is a call.
  bool (*follows_call)(const MemoryReader& memory, uint64_t pc);
  // True if the instruction at `pc` reads a polling page, as safepoint polls do.
  bool (*is_poll)(const MemoryReader& memory, uint64_t pc);
  // True if `pc` is where the interpreter resumes after a call: what it keeps in registers is then
  // only in its frame.
  bool (*goes_on)(const MemoryReader& memory, uint64_t pc);
  // Number of words that compiled code at `pc` has pushed so far and will pop, around a call or in
  // C1's copies of arrays; 0 also if the code does not tell.
  uint64_t (*takes_back)(const MemoryReader& memory, const FoundCode& code, uint64_t pc);
  // Bytes that code at `pc` adds to sp before its next branch, if it subtracted them before `pc` to
  // save registers around a call; 0 if it does not, or ends its frame.
  uint64_t (*gives_back)(const MemoryReader& memory, const FoundCode& code, uint64_t pc) = nullptr;
  // Bytes that the instruction at `pc`, an add or sub with an immediate, adds to sp; otherwise 0.
  uint64_t (*adds_to_sp)(const MemoryReader& memory, uint64_t pc) = nullptr;
  // Byte offset in the JavaThread from which one of the first instructions at `pc` loads sp; -1:
  // none does.
  int (*loads_sp_from)(const MemoryReader& memory, uint64_t pc) = nullptr;
  // Simulates `found` from `start` on, up to its jump or return (or first call). False if none is
  // found in a bounded number of steps, or if sp is unknown. `code` reads instructions, `memory`
  // data.
  bool (*run_to_exit)(const MemoryReader& code, const MemoryReader& memory, const FoundCode& found,
                      const StubStart& start, StubExit& exit) = nullptr;
  // The registers that a signal interrupted, if `pc` is where its handler returns to.
  bool (*read_signal_frame)(const MemoryReader& memory, uint64_t pc, uint64_t sp,
                            SignalFrame& frame);
  // Mask of a return address's own bits; pointer authentication puts a signature above them.
  uint64_t address_mask;
  bool has_link_register;
  FrameSlots slots;
};

extern const CodeRules kX86_64Rules, kAarch64Rules;
inline constexpr const CodeRules& kOwnRules = kHasLinkRegister ? kAarch64Rules : kX86_64Rules;

// CodeRules::run_to_exit for x86_64. No memory is written.
bool RunToExitX86(const MemoryReader& code, const MemoryReader& memory, const FoundCode& found,
                  const StubStart& start, StubExit& exit);

// Shape of any code at `pc`. Code that is not an nmethod has a known shape only if its blob states
// a frame size, and if `pc` is not before the place where the blob says that its frame is complete.
FrameShape ShapeAt(const CodeRules& rules, const MemoryReader& memory, const FoundCode& code,
                   uint64_t pc);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_PROLOGUE_H_
