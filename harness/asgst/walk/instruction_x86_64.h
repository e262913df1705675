// SPDX-License-Identifier: Apache-2.0
// One instruction of x86_64: its length, and what of it tells where the stack pointer goes. Any
// that compilers emit is measured; Capstone would say more, but allocates. Source: Intel's manual,
// volume 2, chapter 2 and appendix A. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_INSTRUCTION_X86_64_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_INSTRUCTION_X86_64_H_

#include <cstdint>

namespace walkhammer::asgst {

struct InstructionX86 {
  static constexpr int kMostBytes = 15, kNone = -1;

  int length = 0;
  // 0: one byte; 1, 2, 3: behind 0f, 0f 38, 0f 3a, or what a VEX or EVEX prefix says.
  int map = 0;
  uint8_t opcode = 0;
  bool vex = false;   // by a VEX or EVEX prefix: of vectors, but for a few
  bool wide = false;  // REX.W: 64 bits
  bool half = false;  // prefix 66: 16 bits, unless it is wide
  int low = 0;        // the register that the opcode's last bits name, where they do
  // By its ModRM byte: two operands, of which `rm` is a register (0 to 15) or in memory, at
  // base + index * scale + displacement. kNone: it has none of that.
  int reg = kNone, rm = kNone, base = kNone, index = kNone;
  int scale = 1;
  bool in_memory = false, by_pc = false;  // by_pc: relative to the next instruction
  bool by_thread = false;                 // relative to a segment that nobody knows
  int64_t displacement = 0;
  int64_t immediate = 0;  // sign-extended; a jump's distance from the next instruction
};

// The instruction at `code`, of which `size` bytes can be read. False if it is none, or is longer.
bool DecodeX86(const uint8_t* code, int size, InstructionX86& instruction);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_INSTRUCTION_X86_64_H_
