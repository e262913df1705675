// How much of its frame generated code has set up at a pc, told from the instructions around it.
// Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_PROLOGUE_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_PROLOGUE_H_

#include <cstdint>

#include "harness/guard/arch.h"
#include "harness/jvm/structs/code_finder.h"
#include "harness/jvm/structs/memory.h"

namespace walkhammer {

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

// The end of a stub: what it takes off the stack before it returns.
struct Epilogue {
  uint64_t words = 0;  // below the return address
  int fp_word = -1;    // which of them is the caller's frame pointer; -1: none
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
  // True if code at `pc` jumps to the address in the return register, behind that many bytes that
  // it first takes off the stack. Null where nobody asks.
  bool (*jumps_by_return)(const MemoryReader& memory, uint64_t pc, uint64_t& popped) = nullptr;
  // True if code that begins at `begin` pushes registers first of all: how many words of them are
  // on the stack at `pc`, below the return address. Null where nobody asks.
  bool (*pushes_first)(const MemoryReader& memory, uint64_t begin, uint64_t pc,
                       uint64_t& words) = nullptr;
  // Words that code at `pc`, where it calls a stub or has called it, has pushed for it and takes
  // back behind the call. Null where nobody asks.
  uint64_t (*takes_back)(const MemoryReader& memory, uint64_t pc) = nullptr;
  // True if a stub whose code begins at `begin` has no frame at `pc`, being entered or left by a
  // jump, while the register holds the pc of an exception. Null where nobody asks.
  bool (*jumps_with_pc)(const MemoryReader& memory, uint64_t begin, uint64_t pc) = nullptr;
  // True if, in a piece of code that begins at `begin` and holds many stubs, the one at `pc` has
  // set its frame pointer up. Null where nobody asks.
  bool (*keeps_fp)(const MemoryReader& memory, uint64_t begin, uint64_t pc) = nullptr;
  // The next epilogue that ends behind `behind`, before `end`; what of it is before `pc` is done
  // and does not count. False if there is none near. `behind` is moved. Null where nobody asks.
  bool (*next_epilogue)(const MemoryReader& memory, uint64_t pc, uint64_t& behind, uint64_t end,
                        Epilogue& found) = nullptr;
  // True if code at `pc` leaves a method of the interpreter that has no frame: by the return
  // address on top of the stack, to the sp in a register. Null where nobody asks.
  bool (*leaves_entry)(const MemoryReader& memory, uint64_t pc) = nullptr;
  // The bits of a return address that are one: pointer authentication puts a signature above them.
  uint64_t address_mask;
  bool has_link_register;
  FrameSlots slots;
};

extern const CodeRules kX86_64Rules, kAarch64Rules;

// Of any code. `code` is as long as its frame only where it says so.
FrameShape ShapeAt(const CodeRules& rules, const MemoryReader& memory, const FoundCode& code,
                   uint64_t pc);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_PROLOGUE_H_
