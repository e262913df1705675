// SPDX-License-Identifier: Apache-2.0
// SweptFunction: the instructions of one function, by linear sweep, and what they alone say about
// its control flow: leaders, jump tables, where an indirect call's target was loaded from. Used by
// the block map. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_COVERAGE_SWEPT_FUNCTION_H_
#define WALKHAMMER_HARNESS_COVERAGE_SWEPT_FUNCTION_H_

#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "harness/elf/disassembler.h"
#include "harness/elf/elf_image.h"

namespace walkhammer {

// Where an indirect call or jump may lead.
struct IndirectTarget {
  enum class Kind : uint8_t {
    kCode,  // to this address
    kCell,  // to the address stored at this address
    kSlot,  // to the address stored at this offset of something, perhaps of a vtable
  };
  Kind kind;
  uint64_t value;
};

class SweptFunction {
 public:
  SweptFunction() = default;
  SweptFunction(const ElfImage& image, const Disassembler& disassembler,
                const ElfImage::Symbol& function);

  uint64_t begin() const { return begin_; }
  uint64_t end() const { return code_.empty() ? begin_ : code_.back().end(); }
  const std::vector<Instruction>& code() const { return code_; }
  bool complete() const { return complete_; }  // swept up to the symbol's end

  bool IsBoundary(uint64_t address) const;
  // The entry, and what follows each branch, jump or return; padding after a jump or return is
  // skipped. Targets of jumps and branches are not included.
  std::set<uint64_t> LeadersWithin() const;
  // Targets in the jump tables that the code points to: instructions of this function, or of the
  // part that the compiler moved away as cold.
  const std::vector<uint64_t>& cases() const { return cases_; }
  // Where the indirect call or jump code()[at] may lead.
  std::vector<IndirectTarget> TargetsOf(size_t at) const;

 private:
  // The instructions that may have written `wanted` last when code_[at] is reached, on any path.
  std::vector<const Instruction*> WritersOf(Instruction::Register wanted, size_t at) const;
  // Adds the targets that the word at base + offset of `insn`, an element of code_, may hold.
  void AddMemory(const Instruction& insn, std::vector<IndirectTarget>& out) const;
  void ReadJumpTables(const ElfImage& image, std::string_view name);
  size_t IndexOf(uint64_t address) const;  // code_.size(): no instruction begins there

  uint64_t begin_ = 0;
  bool complete_ = false;
  std::vector<Instruction> code_;
  std::vector<uint64_t> cases_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_COVERAGE_SWEPT_FUNCTION_H_
