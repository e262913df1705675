// SPDX-License-Identifier: Apache-2.0
// InstructionX86: length of an x86_64 instruction, and its parts that say how sp changes. Covers
// every instruction that compilers emit; Capstone would say more, but allocates. Source: Intel's
// manual, volume 2, chapter 2 and appendix A. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_INSTRUCTION_X86_64_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_INSTRUCTION_X86_64_H_

#include <cstdint>

namespace walkhammer::asgst {

struct InstructionX86 {
  static constexpr int kMostBytes = 15, kNone = -1;

  int length = 0;
  // Opcode map. 0: one-byte opcodes; 1, 2, 3: after 0f, 0f 38, 0f 3a, or as a VEX or EVEX prefix
  // says.
  int map = 0;
  uint8_t opcode = 0;
  bool vex = false;   // has a VEX or EVEX prefix: vector instructions, and a few others
  bool wide = false;  // REX.W: 64 bits
  bool half = false;  // prefix 66: 16 bits, unless `wide`
  int low = 0;        // register in the opcode's last 3 bits, if the opcode has one
  // Operands of the ModRM byte: `reg` is a register (0 to 15); `rm` is a register or, with
  // `in_memory`, the operand is in memory at base + index * scale + displacement. kNone: not
  // present.
  int reg = kNone, rm = kNone, base = kNone, index = kNone;
  int scale = 1;
  bool in_memory = false, by_pc = false;  // by_pc: relative to the next instruction
  bool by_thread = false;                 // address unknown: relative to fs or gs, or of 32 bits
  int64_t displacement = 0;
  int64_t immediate = 0;  // sign-extended; a jump's distance from the next instruction
};

// Decodes the instruction at `code`, of which `size` bytes can be read. False if the bytes are not
// an instruction, or the instruction is longer than `size`.
bool DecodeX86(const uint8_t* code, int size, InstructionX86& instruction);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_INSTRUCTION_X86_64_H_
