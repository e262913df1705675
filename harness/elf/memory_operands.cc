// SPDX-License-Identifier: Apache-2.0
#include "harness/elf/memory_operands.h"

#include <capstone/capstone.h>
#include <elf.h>

#include <cctype>

namespace walkhammer {
namespace {

std::string NameOf(csh handle, unsigned reg) {
  const char* name = reg == 0 ? nullptr : cs_reg_name(handle, reg);
  std::string lower = name == nullptr ? "" : name;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// Capstone names x29 and x30 so, but the 32-bit half of an index as "w3".
std::string WholeArm(std::string name) {
  if (name == "fp") return "x29";
  if (name == "lr") return "x30";
  if (name.size() >= 2 && name[0] == 'w' && std::isdigit(static_cast<unsigned char>(name[1])) != 0)
    name[0] = 'x';
  return name;
}

void ReadX86(csh handle, const cs_insn& insn, std::vector<MemoryOperand>& out) {
  const cs_x86& x86 = insn.detail->x86;
  for (int i = 0; i < x86.op_count && insn.id != X86_INS_LEA && insn.id != X86_INS_NOP; i++) {
    const cs_x86_op& op = x86.operands[i];
    if (op.type != X86_OP_MEM || op.mem.segment == X86_REG_FS || op.mem.segment == X86_REG_GS)
      continue;
    MemoryOperand operand;
    operand.offset = op.mem.disp;
    if (op.mem.base == X86_REG_RIP) {
      operand.offset += static_cast<int64_t>(insn.address + insn.size);
    } else {
      operand.base = NameOf(handle, op.mem.base);
    }
    operand.index = NameOf(handle, op.mem.index);
    operand.scale = op.mem.scale;
    out.push_back(std::move(operand));
  }
  switch (insn.id) {
    case X86_INS_PUSH:
    case X86_INS_CALL:
      out.push_back({"rsp", "", 1, -8});
      break;
    case X86_INS_POP:
    case X86_INS_RET:
      out.push_back({"rsp", "", 1, 0});
      break;
    case X86_INS_LEAVE:
      out.push_back({"rbp", "", 1, 0});
      break;
    default:
      break;
  }
}

void ReadArm64(csh handle, const cs_insn& insn, std::vector<MemoryOperand>& out) {
  const cs_arm64& arm = insn.detail->arm64;
  for (int i = 0; i < arm.op_count; i++) {
    const cs_arm64_op& op = arm.operands[i];
    if (op.type != ARM64_OP_MEM) continue;
    const bool is_shifted = op.shift.type == ARM64_SFT_LSL && op.shift.value <= 4;
    MemoryOperand operand;
    operand.base = WholeArm(NameOf(handle, op.mem.base));
    operand.index = WholeArm(NameOf(handle, op.mem.index));
    operand.scale = is_shifted ? 1 << op.shift.value : 1;
    operand.offset = op.mem.disp;
    out.push_back(std::move(operand));
  }
}

}  // namespace

std::vector<MemoryOperand> MemoryOperands(uint16_t machine, std::span<const uint8_t> code,
                                          uint64_t address) {
  std::vector<MemoryOperand> operands;
  const bool is_x86 = machine == EM_X86_64;
  if (!is_x86 && machine != EM_AARCH64) return operands;
  csh handle = 0;
  if (cs_open(is_x86 ? CS_ARCH_X86 : CS_ARCH_ARM64, is_x86 ? CS_MODE_64 : CS_MODE_ARM, &handle) !=
      CS_ERR_OK)
    return operands;
  cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
  cs_insn* insn = nullptr;
  if (cs_disasm(handle, code.data(), code.size(), address, 1, &insn) == 1) {
    is_x86 ? ReadX86(handle, *insn, operands) : ReadArm64(handle, *insn, operands);
    cs_free(insn, 1);
  }
  cs_close(&handle);
  return operands;
}

}  // namespace walkhammer
