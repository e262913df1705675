// SPDX-License-Identifier: Apache-2.0
// Disassembler: instructions of any supported architecture, reduced to what the block map must know
// about them. Capstone decodes; no code outside of disassembler.cc depends on the architecture.
// Signal-safe: no.
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

  uint64_t target = 0;     // of a direct jump, branch or call; 0 if it is indirect
  Register through = 0;    // indirect: target = this register,
  Register base = 0;       // or target = [base + offset];
  int64_t offset = 0;      // a load reads [base + offset], too
  Register writes = 0;     // the full-width register that a load, copy or address is written to
  Register copies = 0;     // writes = this register
  bool loads = false;      // writes = [base + offset]
  uint64_t points_to = 0;  // writes = this address
  uint64_t cell = 0;       // replaces base + offset, if the instruction holds the address

  uint64_t end() const { return address + size; }
  bool EndsBlock() const { return kind != Kind::kOther && kind != Kind::kCall; }
  bool FallsThrough() const { return kind != Kind::kJump && kind != Kind::kReturn; }
};

// An operand in memory: base + index * scale + offset. Names are the vendor's, in lower case, of
// the full register: "rax", "x0", "sp". An empty name counts as 0; the instruction pointer is a
// part of the offset already.
struct MemoryOperand {
  std::string base;
  std::string index;
  int scale = 1;  // 1 to 16
  int64_t offset = 0;
  int bytes = 8;  // that are read or written
  bool writes = false;
  bool reads = true;
};

class Disassembler {
 public:
  // Returns a disassembler for code of this e_machine; fails with kUnable if there is none.
  static Result<Disassembler> For(uint16_t machine);
  ~Disassembler();
  Disassembler(Disassembler&& other) noexcept;
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;
  Disassembler& operator=(Disassembler&&) = delete;

  // Decodes `code`, which begins at `address`, from instruction to instruction (linear sweep).
  // Stops early at bytes that are not instruction, at end() of the last instruction.
  std::vector<Instruction> Sweep(std::span<const uint8_t> code, uint64_t address) const;

  // Returns each instruction as text in the vendor's syntax: "mov rax, qword ptr [rdi]".
  struct Line {
    uint64_t address;
    std::string text;
  };
  std::vector<Line> Text(std::span<const uint8_t> code, uint64_t address) const;

  // Returns the memory operands of the first instruction of `code`, which is at `address`; of x86's
  // push, pop, call, return and leave the stack's, too. None if `code` is not an instruction, or if
  // the instruction has no such operand, or one relative to a segment.
  std::vector<MemoryOperand> MemoryOperands(std::span<const uint8_t> code, uint64_t address) const;

  // What the first instruction of `code` does to memory, without registers and addresses, so that
  // builds of one source compare: "reading 8 bytes at +0x10", "writing 4 bytes". Empty without a
  // memory operand.
  std::string Access(std::span<const uint8_t> code) const;

 private:
  struct Architecture;
  Disassembler() = default;
  const Architecture* architecture_ = nullptr;
  size_t handle_ = 0;  // csh
};

// Where instructions start in generated code, as it is in memory now; it must not be freed
// during the call.
struct InstructionStart {
  uint32_t offset;  // bytes from the begin of the code
  bool after_call;  // the instruction before is a call, which returns here
};

// Returns the starts of the instructions in [begin, end), in order. Data between the code is
// stepped over; starts right after data may be off by some bytes.
std::vector<InstructionStart> InstructionStarts(uint64_t begin, uint64_t end);
// As InstructionStarts, but of code longer than 2 * `bytes` only those in the first and in the last
// `bytes`. The first starts of the last bytes may be off by some bytes.
std::vector<InstructionStart> StartsAtEnds(uint64_t begin, uint64_t end, uint64_t bytes);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ELF_DISASSEMBLER_H_
