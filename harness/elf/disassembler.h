// SPDX-License-Identifier: Apache-2.0
// Disassembler: decodes x86_64 and aarch64 with Capstone, and reduces each instruction to what its
// callers need. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_ELF_DISASSEMBLER_H_
#define WALKHAMMER_HARNESS_ELF_DISASSEMBLER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace walkhammer {

struct Instruction {
  enum class Kind : uint8_t {
    kOther,
    kJump,    // always taken
    kBranch,  // taken or not
    kCall,
    kReturn,
  };
  // A register, by Capstone's number; 0: none.
  using Register = uint16_t;

  uint64_t address;
  uint8_t size;
  Kind kind = Kind::kOther;
  bool padding = false;         // a nop
  bool restores_frame = false;  // restores the caller's frame pointer: pop rbp, leave, ldp x29, x30
  bool frees_stack = false;     // adds to the stack pointer

  uint64_t target = 0;   // address that a direct jump, branch or call leads to; 0: indirect
  Register through = 0;  // an indirect one leads to this register's value,
  Register base = 0;     // or to the address that memory at base + offset holds
  int64_t offset = 0;    // in bytes; a load reads base + offset, too
  // The destination, if the first operand is a register that the instruction writes. x86_64: only
  // if the register has 64 bits.
  Register writes = 0;
  Register copies = 0;     // `writes` becomes this register's value
  bool loads = false;      // `writes` becomes the value in memory at base + offset
  uint64_t points_to = 0;  // `writes` becomes this address
  uint64_t cell = 0;       // x86_64, relative to rip: the address instead of base + offset

  uint64_t end() const { return address + size; }
  bool EndsBlock() const { return kind != Kind::kOther && kind != Kind::kCall; }
  bool FallsThrough() const { return kind != Kind::kJump && kind != Kind::kReturn; }
};

// An operand in memory, at base + index * scale + offset. Registers have the vendor's names of
// their full width, in lower case: "rax", "x0", "sp". An empty name stands for the value 0. If the
// operand is relative to rip, the offset is the whole address.
struct MemoryOperand {
  std::string base;
  std::string index;
  int scale = 1;       // 1 to 16
  int64_t offset = 0;  // bytes
  int bytes = 8;       // size of the access
  bool writes = false;
  bool reads = true;
};

class Disassembler {
 public:
  // Returns a disassembler for the ELF e_machine `machine`. Fails with kUnable if this build of
  // Capstone or walkhammer does not support it.
  static Result<Disassembler> For(uint16_t machine);
  ~Disassembler();
  Disassembler(Disassembler&& other) noexcept;
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;
  Disassembler& operator=(Disassembler&&) = delete;

  // Decodes `code`, which begins at `address`, by a linear sweep. Stops at the first bytes that are
  // not an instruction: there end() of the last instruction is before the end of `code`.
  std::vector<Instruction> Sweep(std::span<const uint8_t> code, uint64_t address) const;

  // As Sweep, but returns text in Capstone's syntax: "mov rax, qword ptr [rdi]".
  struct Line {
    uint64_t address;
    std::string text;
  };
  std::vector<Line> Text(std::span<const uint8_t> code, uint64_t address) const;

  // Returns the memory operands of the first instruction of `code`, which is at `address`. For
  // push, pop, call, ret and leave of x86_64 these include the stack slot. Operands relative to fs
  // or gs are left out. Empty if `code` does not begin with an instruction.
  std::vector<MemoryOperand> MemoryOperands(std::span<const uint8_t> code, uint64_t address) const;

  // Describes the first memory operand of the first instruction of `code`: "reading 8 bytes at
  // +0x10", "writing 4 bytes". Names no registers or addresses, so texts of different builds of one
  // source are comparable. Empty without a memory operand.
  std::string Access(std::span<const uint8_t> code) const;

 private:
  struct Architecture;
  Disassembler() = default;
  const Architecture* architecture_ = nullptr;
  size_t handle_ = 0;  // csh
};

// Where an instruction starts.
struct InstructionStart {
  uint32_t offset;  // bytes from the beginning of the code
  bool after_call;  // the preceding instruction is a call, which returns here
};

// Returns the starts of the instructions at [begin, end) of this process's memory, in order. The
// memory must stay readable during the call. Data in the code yields starts, too: one for each
// CodeUnit that cannot be decoded. Starts just after data may be off by some bytes.
std::vector<InstructionStart> InstructionStarts(uint64_t begin, uint64_t end);
// As InstructionStarts, but if the code is longer than 2 * `bytes`, only for its first and its last
// `bytes` bytes. The first few starts of the last part may be off by some bytes.
std::vector<InstructionStart> StartsAtEnds(uint64_t begin, uint64_t end, uint64_t bytes);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ELF_DISASSEMBLER_H_
