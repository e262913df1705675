// SPDX-License-Identifier: Apache-2.0
// Disassembler: instructions of any supported architecture, reduced to what the block map asks of
// them. Capstone decodes; nothing outside of disassembler.cc knows which architecture it was.
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
  bool padding = false;  // a nop
  bool restores_frame =
      false;  // gives the caller its frame pointer back: pop rbp, leave, ldp x29, x30
  bool frees_stack = false;  // adds to the stack pointer

  uint64_t target = 0;     // of a direct jump, branch or call; 0 in an indirect one
  Register through = 0;    // an indirect one goes to what this register holds,
  Register base = 0;       // or to what stands at base + offset;
  int64_t offset = 0;      // a load of a pointer reads there, too
  Register writes = 0;     // the full-width register that a load, copy or address ends up in
  Register copies = 0;     // it is a copy of that register
  bool loads = false;      // it is what stands at base + offset
  uint64_t points_to = 0;  // it is this address
  uint64_t cell = 0;  // in place of base + offset: this address, where the instruction tells it

  uint64_t end() const { return address + size; }
  bool EndsBlock() const { return kind != Kind::kOther && kind != Kind::kCall; }
  bool FallsThrough() const { return kind != Kind::kJump && kind != Kind::kReturn; }
};

class Disassembler {
 public:
  // For code of that e_machine. Fails with kUnable where none is known.
  static Result<Disassembler> For(uint16_t machine);
  ~Disassembler();
  Disassembler(Disassembler&& other) noexcept;
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;
  Disassembler& operator=(Disassembler&&) = delete;

  // Linear sweep. Ends early at bytes that are no instruction: the last one's end() tells.
  std::vector<Instruction> Sweep(std::span<const uint8_t> code, uint64_t address) const;

  // Each instruction in the syntax of the vendor: "mov rax, qword ptr [rdi]".
  struct Line {
    uint64_t address;
    std::string text;
  };
  std::vector<Line> Text(std::span<const uint8_t> code, uint64_t address) const;

 private:
  struct Architecture;
  Disassembler() = default;
  const Architecture* architecture_ = nullptr;
  size_t handle_ = 0;  // csh
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ELF_DISASSEMBLER_H_
