// SPDX-License-Identifier: Apache-2.0
// What an x86_64 instruction does to the stack of return addresses. Decodes no more than that, and
// shares no code with any walker. Signal-safe: yes.
#ifndef WALKHAMMER_STRESS_STEP_INSTRUCTION_H_
#define WALKHAMMER_STRESS_STEP_INSTRUCTION_H_

#include <cstdint>

namespace walkhammer::stress {

enum class StepOp : uint8_t {
  kOther,         // goes on behind itself, and at most moves sp by a constant
  kCall,          // pushes the address behind itself
  kReturn,        // pops the address of the next instruction
  kJump,          // goes on elsewhere, or may, by an offset in the instruction
  kJumpIndirect,  // goes on where a register or a word of memory says
  kPush,          // pushes a word
  kPop,           // pops a word
  kSetsSp,        // adds a register to sp, subtracts one from sp, or copies one to sp
};

inline constexpr uint64_t kLongestInstruction = 15;  // bytes, as the processor has it

// The instruction at `code`, of which kLongestInstruction bytes are read at most, and none behind
// the instruction.
StepOp StepOpAt(const uint8_t* code);

// The target of the instruction at `pc`, whose bytes are at `code`, if it is jmp with an offset; 0:
// another instruction.
uint64_t JumpTarget(const uint8_t* code, uint64_t pc);

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_STEP_INSTRUCTION_H_
