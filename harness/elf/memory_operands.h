// SPDX-License-Identifier: Apache-2.0
// Memory operands: which addresses one instruction reads or writes, in terms of registers. Used to
// tell the address of a fault that the kernel did not tell. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_ELF_MEMORY_OPERANDS_H_
#define WALKHAMMER_HARNESS_ELF_MEMORY_OPERANDS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace walkhammer {

// base + index * scale + offset. Names are the vendor's, in lower case, of the full register:
// "rax", "x0", "sp". An empty name counts as 0; the instruction pointer is a part of the offset
// already.
struct MemoryOperand {
  std::string base;
  std::string index;
  int scale = 1;  // 1 to 16
  int64_t offset = 0;
};

// Returns the memory operands of the instruction at the begin of `code`, which is at `address`; of
// x86's push, pop, call and return the stack's, too. None if it is no instruction, or if it has no
// such operand, or one relative to a segment. `machine` is EM_X86_64 or EM_AARCH64.
std::vector<MemoryOperand> MemoryOperands(uint16_t machine, std::span<const uint8_t> code,
                                          uint64_t address);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ELF_MEMORY_OPERANDS_H_
