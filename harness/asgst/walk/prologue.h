// SPDX-License-Identifier: Apache-2.0
// How much of its frame generated code has set up at a pc, told from the instructions around it.
// Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_PROLOGUE_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_PROLOGUE_H_

#include <cstdint>

#include "harness/guard/arch.h"
#include "harness/jvm/structs/code_finder.h"
#include "harness/jvm/structs/memory.h"

namespace walkhammer::asgst {

enum class FrameShape : uint8_t {
  kWhole,       // sp is the frame's own; the return address and the caller's fp are at its top
  kNone,        // x86_64: the return address is at sp
  kFpPushed,    // the caller's frame pointer is at sp, the return address above it
  kFpNotSaved,  // x86_64: whole, but fp is still the caller's
  kInLink,      // aarch64: the return address is in lr, sp and fp are the caller's
  kSpMoved,     // aarch64: the same, but sp is the frame's own
  kBeyondCall,  // x86_64: a call's way on to its callee; the return address is at sp
  kByFp,        // fp is the frame's own: the return address is behind it
  kUnknown,     // code that keeps no rule
};

// Generated code that keeps no rule about its frame, as it was interrupted at `pc`.
struct StubStart {
  bool called = false;   // it has called from before `pc`, and was not interrupted itself
  bool to_call = false;  // to be run up to its first call, and not to where it gives control away
  uint64_t pc = 0;
  uint64_t general[16] = {};  // as instructions number them
  uint32_t known = 0;         // a bit for each of them
};

// How it gives control away: by a jump or a return, with these in the registers. 0: not known.
struct StubExit {
  bool returns = false;
  bool called = false;  // it has called before that
  // Straight on, behind a call, a register that nobody knows becomes the stack pointer: how the
  // stub that brings frames of a virtual thread goes to them. Told also where no exit is found.
  bool loses_sp = false;
  uint64_t pc = 0;   // where it goes
  uint64_t sp = 0;   // behind what a return takes
  uint64_t top = 0;  // the word there
  uint64_t fp = 0;
  uint64_t sender_sp = 0;       // r13
  uint64_t exception_pc = 0;    // rdx
  bool through_memory = false;  // a jump to an address in memory: how the interpreter goes on
};

// What differs between architectures; each runs on any host.
struct CodeRules {
  // Of an nmethod that was interrupted at `pc`; of other code, whether it has left its frame.
  FrameShape (*shape_at)(const MemoryReader& memory, const FoundCode& code, uint64_t pc);
  // Bytes of code that begins by setting fp up: to behind the push of the caller's, and to behind
  // all of it. False if it begins otherwise.
  bool (*sets_up_fp)(const MemoryReader& memory, uint64_t begin, int& pushed, int& all);
  // True if the instruction before `pc` is a call.
  bool (*follows_call)(const MemoryReader& memory, uint64_t pc);
  // True if the interpreter goes on behind a call at `pc`: what it keeps in registers is still in
  // its frame alone. Null where registers are not asked for it.
  bool (*goes_on)(const MemoryReader& memory, uint64_t pc) = nullptr;
  // Words that code at `pc`, where it calls a stub or has called it, has pushed for it and takes
  // back behind the call. Null where nobody asks.
  uint64_t (*takes_back)(const MemoryReader& memory, uint64_t pc) = nullptr;
  // Bytes that code at `pc` gives back to the stack before its next branch, having taken them
  // before `pc`: where it keeps registers around a call, not where its frame ends. Null where
  // nobody asks.
  uint64_t (*gives_back)(const MemoryReader& memory, const FoundCode& code, uint64_t pc) = nullptr;
  // Bytes that the instruction at `pc` takes off the stack by adding to its pointer; else 0. Null
  // where nobody asks.
  uint64_t (*adds_to_sp)(const MemoryReader& memory, uint64_t pc) = nullptr;
  // Where in the thread the first instructions at `pc` load the stack pointer from, in bytes; -1 if
  // they do not. Null where nobody asks.
  int (*loads_sp_from)(const MemoryReader& memory, uint64_t pc) = nullptr;
  // Runs the code at `start` in thought up to where it gives control away (or calls). False if that
  // is not found in a bounded number of steps, or nothing tells the stack pointer there. Null where
  // nobody asks.
  bool (*run_to_exit)(const MemoryReader& code, const MemoryReader& memory, const FoundCode& found,
                      const StubStart& start, StubExit& exit) = nullptr;
  // The bits of a return address that are one: pointer authentication puts a signature above them.
  uint64_t address_mask;
  bool has_link_register;
  FrameSlots slots;
};

extern const CodeRules kX86_64Rules, kAarch64Rules;

// Of any code. `code` is as long as its frame only where it says so.
FrameShape ShapeAt(const CodeRules& rules, const MemoryReader& memory, const FoundCode& code,
                   uint64_t pc);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_PROLOGUE_H_
