// SPDX-License-Identifier: Apache-2.0
#include "harness/mutants/mutant.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include "harness/base/random.h"
#include "harness/coverage/block_map.h"
#include "harness/elf/capstone.h"
#include "harness/elf/elf_image.h"

namespace walkhammer {
namespace {

using Bytes = std::vector<uint8_t>;
using Code = std::span<const uint8_t>;

constexpr uint8_t kNop = 0x90, kRet = 0xc3;
constexpr uint8_t kEax0[] = {0x31, 0xc0};        // xor eax, eax
constexpr uint8_t kEax1[] = {0x6a, 0x01, 0x58};  // push 1; pop rax

// Finds the mutants of one instruction after the other.
class Mutator {
 public:
  Mutator(const ElfImage& image, csh handle) : image_(image), handle_(handle) {}

  void Add(const BlockFunction& function, const cs_insn& insn) {
    function_ = &function;
    insn_ = &insn;
    before_.assign(insn.bytes, insn.bytes + insn.size);
    if (cs_insn_group(handle_, &insn, CS_GRP_CALL))
      Replace(false);
    else if (insn.id == X86_INS_JMP)
      ReplaceTailCall();
    else if (cs_insn_group(handle_, &insn, CS_GRP_JUMP))
      InvertBranch();
    else
      Shift();
  }
  std::vector<Mutant> Take() { return std::move(mutants_); }

 private:
  const cs_x86& x86() const { return insn_->detail->x86; }

  void Add(MutationKind kind, Bytes after) {
    std::string text = insn_->mnemonic;
    if (insn_->op_str[0] != '\0') text += std::string(" ") + insn_->op_str;
    mutants_.push_back({kind, insn_->address, function_->name, insn_->address - function_->address,
                        before_, std::move(after), std::move(text)});
  }

  // jcc of 8 or 32 bits: the lowest bit of the condition negates it.
  void InvertBranch() {
    Bytes after = before_;
    if (after.size() == 2 && after[0] >= 0x70 && after[0] <= 0x7f) {
      after[0] ^= 1;
    } else if (after.size() == 6 && after[0] == 0x0f && after[1] >= 0x80 && after[1] <= 0x8f) {
      after[1] ^= 1;
    } else {
      return;  // jrcxz
    }
    Add(MutationKind::kBranch, std::move(after));
  }

  void ReplaceTailCall() {
    const cs_x86_op& to = x86().operands[0];
    if (before_.size() != 5 || to.type != X86_OP_IMM) return;
    const auto target = static_cast<uint64_t>(to.imm);
    const ElfImage::Symbol* callee = image_.FunctionAt(target);
    // A jump to or from a function's cold part is not a call.
    const bool calls = callee != nullptr && callee->address == target &&
                       target != function_->address &&
                       callee->name.find(".cold") == std::string_view::npos &&
                       function_->name.find(".cold") == std::string::npos;
    if (calls) Replace(true);
  }

  void Replace(bool and_return) {
    const auto with = [&](MutationKind kind, Code answer) {
      Bytes after(answer.begin(), answer.end());
      if (and_return) after.push_back(kRet);
      if (after.size() > before_.size()) return;
      after.resize(before_.size(), kNop);
      Add(kind, std::move(after));
    };
    with(MutationKind::kSkip, {});
    with(MutationKind::kAnswer0, kEax0);
    with(MutationKind::kAnswer1, kEax1);
  }

  void Shift() {
    switch (insn_->id) {
      case X86_INS_NOP:
      case X86_INS_PUSH:
      case X86_INS_RET:
        return;
      default:
        break;
    }
    const bool on_stack = x86().op_count > 0 && x86().operands[0].type == X86_OP_REG &&
                          x86().operands[0].reg == X86_REG_RSP;
    const cs_x86_encoding& encoding = x86().encoding;
    const bool has_constant =
        std::any_of(x86().operands, x86().operands + x86().op_count,
                    [](const cs_x86_op& operand) { return operand.type == X86_OP_IMM; });
    if (!on_stack && has_constant && encoding.imm_offset != 0)
      ShiftBytes(MutationKind::kConstant, encoding.imm_offset, encoding.imm_size, 1);
    for (int i = 0; i < x86().op_count; i++) {
      const cs_x86_op& operand = x86().operands[i];
      if (operand.type == X86_OP_MEM && IsField(operand) && encoding.disp_offset != 0)
        ShiftBytes(MutationKind::kOffset, encoding.disp_offset, encoding.disp_size,
                   std::clamp<int>(operand.size, 1, 8));
    }
  }

  // Neither on the stack nor a variable of libjvm.
  static bool IsField(const cs_x86_op& operand) {
    switch (operand.mem.base) {
      case X86_REG_INVALID:
      case X86_REG_RIP:
      case X86_REG_RSP:
      case X86_REG_RBP:
        return false;
      default:
        return operand.mem.segment == X86_REG_INVALID;
    }
  }

  // Adds `by` to the little-endian number of `size` bytes at `at`; takes it off where the sum does
  // not fit.
  void ShiftBytes(MutationKind kind, size_t at, size_t size, int by) {
    if (size == 0 || size > 4 || at + size > before_.size()) return;
    uint32_t raw = 0;
    std::memcpy(&raw, &before_[at], size);
    const unsigned unused = 32 - 8 * static_cast<unsigned>(size);
    const int64_t value = static_cast<int32_t>(raw << unused) >> unused;
    const int64_t most = std::numeric_limits<int32_t>::max() >> unused;
    const auto shifted = static_cast<uint32_t>(value + by > most ? value - by : value + by);
    Bytes after = before_;
    std::memcpy(&after[at], &shifted, size);
    Add(kind, std::move(after));
  }

  const ElfImage& image_;
  csh handle_;
  const BlockFunction* function_ = nullptr;
  const cs_insn* insn_ = nullptr;
  Bytes before_;
  std::vector<Mutant> mutants_;
};

}  // namespace

const char* MutationWord(MutationKind kind) {
  static constexpr const char* kWords[kMutationKinds] = {"branch",   "skip",     "answer-0",
                                                         "answer-1", "constant", "offset"};
  return kWords[static_cast<int>(kind)];
}

std::string Mutant::Id() const { return fmt::format("{}-{:x}", MutationWord(kind), address); }

Result<std::vector<Mutant>> FindMutants(const std::string& libjvm,
                                        const std::set<uint64_t>& reached) {
  ASSIGN_OR_RETURN(const BlockMap map, FindBlocks(libjvm, {"AsyncGetCallTrace"}));
  ASSIGN_OR_RETURN(const ElfImage image, ElfImage::Open(libjvm));
  if (image.machine() != EM_X86_64)
    return Unable(libjvm + " is not for x86_64; mutants are made of x86_64 code alone");
  ASSIGN_OR_RETURN(csh handle, OpenCapstone(CS_ARCH_X86, CS_MODE_64));
  Mutator mutator(image, handle);
  for (const Block& block : map.blocks) {
    const Code code = image.Bytes(block.address).first(block.size);
    if (!reached.empty() && !reached.contains(block.address)) continue;
    cs_insn* insns = nullptr;
    const size_t count = cs_disasm(handle, code.data(), code.size(), block.address, 0, &insns);
    for (size_t i = 0; i < count; i++) mutator.Add(map.functions[block.function], insns[i]);
    if (count > 0) cs_free(insns, count);
  }
  cs_close(&handle);
  return mutator.Take();
}

std::vector<Mutant> ChooseMutants(std::vector<Mutant> all, uint64_t seed, size_t count) {
  Random random(seed);
  std::vector<Mutant> kinds[kMutationKinds], chosen;
  for (size_t left = all.size(); left > 0; left--) {  // Fisher and Yates
    std::swap(all[left - 1], all[random.Below(static_cast<uint32_t>(left))]);
    kinds[static_cast<size_t>(all[left - 1].kind)].push_back(std::move(all[left - 1]));
  }
  for (size_t round = 0; chosen.size() < std::min(count, all.size()); round++)
    for (std::vector<Mutant>& kind : kinds)
      if (round < kind.size() && chosen.size() < count) chosen.push_back(std::move(kind[round]));
  return chosen;
}

}  // namespace walkhammer
