// SPDX-License-Identifier: Apache-2.0
// SweptFunction: one function's instructions by linear sweep, and what can be said of its flow from
// them alone: leaders, jump tables, where an indirect call's target was loaded from. Used by the
// block map. Signal-safe: no.
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
    kCell,  // to what stands at this address
    kSlot,  // to what stands at this offset of something: of a vtable, perhaps
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
  bool complete() const { return complete_; }  // instructions up to the symbol's end

  bool IsBoundary(uint64_t address) const;
  // Entry, targets of its own jumps, what stands behind a branch and is no padding.
  std::set<uint64_t> LeadersWithin() const;
  // Targets out of the jump tables that its code points to: instructions of its own, or of the part
  // that the compiler moved away as cold.
  const std::vector<uint64_t>& cases() const { return cases_; }
  // What may reach the register that the indirect call or jump `at` goes through.
  std::vector<IndirectTarget> TargetsOf(size_t at) const;

 private:
  // What may have written `wanted` last when `at` is reached, all ways considered.
  std::vector<const Instruction*> WritersOf(Instruction::Register wanted, size_t at) const;
  // What base + offset of `insn`, at index `at`, may be.
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
