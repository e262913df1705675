// How much of its frame generated code has set up at a pc, told from the instructions around it.
// Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_REFERENCE_PROLOGUE_H_
#define WALKHAMMER_HARNESS_REFERENCE_PROLOGUE_H_

#include <cstdint>

#include "harness/jvm/code_finder.h"
#include "harness/jvm/memory.h"

namespace walkhammer {

enum class FrameShape : uint8_t {
  kWhole,       // sp is the frame's own
  kNone,        // the return address is at sp
  kFpPushed,    // the caller's frame pointer is at sp, the return address above it
  kFpNotSaved,  // whole, but fp is still the caller's
  kUnknown,     // code that keeps no rule
};

// Of the code that was interrupted at `pc`.
FrameShape ShapeAt(const MemoryReader& memory, const FoundCode& code, uint64_t pc);

// True if the instruction before `pc` is a call.
bool FollowsCall(const MemoryReader& memory, uint64_t pc);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_REFERENCE_PROLOGUE_H_
