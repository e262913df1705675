// SPDX-License-Identifier: Apache-2.0
#include "harness/elf/disassembler.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <utility>

#include "harness/elf/capstone.h"
#include "harness/guard/arch.h"

namespace walkhammer {
namespace {

using Kind = Instruction::Kind;

bool InGroup(csh handle, const cs_insn& insn, unsigned group) {
  return cs_insn_group(handle, &insn, group);
}

void ReadX86(csh handle, const cs_insn& insn, Instruction& out) {
  const cs_x86& x86 = insn.detail->x86;
  out.padding = insn.id == X86_INS_NOP || insn.id == X86_INS_INT3;
  const auto is = [&](int i, x86_reg reg) {
    return x86.op_count > i && x86.operands[i].type == X86_OP_REG && x86.operands[i].reg == reg;
  };
  out.restores_frame = insn.id == X86_INS_LEAVE || (insn.id == X86_INS_POP && is(0, X86_REG_RBP));
  out.frees_stack = insn.id == X86_INS_ADD && is(0, X86_REG_RSP);
  if (InGroup(handle, insn, CS_GRP_CALL)) out.kind = Kind::kCall;
  if (InGroup(handle, insn, CS_GRP_RET)) out.kind = Kind::kReturn;
  if (InGroup(handle, insn, CS_GRP_JUMP))
    out.kind = insn.id == X86_INS_JMP ? Kind::kJump : Kind::kBranch;
  const auto memory = [&](const cs_x86_op& op) {
    if (op.mem.index != X86_REG_INVALID || op.mem.segment != X86_REG_INVALID) return false;
    if (op.mem.base == X86_REG_RIP) {
      out.cell = out.end() + static_cast<uint64_t>(op.mem.disp);
    } else {
      out.base = static_cast<Instruction::Register>(op.mem.base);
      out.offset = op.mem.disp;
    }
    return true;
  };
  if (out.kind == Kind::kCall || out.kind == Kind::kJump || out.kind == Kind::kBranch) {
    if (x86.op_count == 0) return;
    const cs_x86_op& to = x86.operands[0];
    if (to.type == X86_OP_IMM) out.target = static_cast<uint64_t>(to.imm);
    if (to.type == X86_OP_REG) out.through = static_cast<Instruction::Register>(to.reg);
    if (to.type == X86_OP_MEM) memory(to);
    return;
  }
  if (x86.op_count < 1 || x86.operands[0].type != X86_OP_REG || x86.operands[0].size != 8 ||
      (x86.operands[0].access & CS_AC_WRITE) == 0)
    return;
  out.writes = static_cast<Instruction::Register>(x86.operands[0].reg);
  if (x86.op_count != 2) return;
  const cs_x86_op& from = x86.operands[1];
  if (insn.id == X86_INS_MOV && from.type == X86_OP_MEM) out.loads = memory(from);
  if (insn.id == X86_INS_MOV && from.type == X86_OP_REG)
    out.copies = static_cast<Instruction::Register>(from.reg);
  if (insn.id == X86_INS_LEA && from.mem.base == X86_REG_RIP)
    out.points_to = out.end() + static_cast<uint64_t>(from.mem.disp);
}

void ReadArm64(csh handle, const cs_insn& insn, Instruction& out) {
  const cs_arm64& arm = insn.detail->arm64;
  out.padding = insn.id == ARM64_INS_NOP ||
                (insn.id == ARM64_INS_HINT && arm.op_count == 1 && arm.operands[0].imm == 0);
  const auto is = [&](int i, arm64_reg reg) {
    return arm.op_count > i && arm.operands[i].type == ARM64_OP_REG && arm.operands[i].reg == reg;
  };
  out.restores_frame = insn.id == ARM64_INS_LDP && is(0, ARM64_REG_X29) && is(1, ARM64_REG_X30);
  out.frees_stack = insn.id == ARM64_INS_ADD && is(0, ARM64_REG_SP) && is(1, ARM64_REG_SP);
  // By instruction id, as Capstone 4's groups do not tell a call or return from a jump.
  switch (insn.id) {
    case ARM64_INS_BL:
    case ARM64_INS_BLR:
      out.kind = Kind::kCall;
      break;
    case ARM64_INS_RET:
      out.kind = Kind::kReturn;
      break;
    case ARM64_INS_B:
      out.kind = arm.cc == ARM64_CC_INVALID || arm.cc == ARM64_CC_AL ? Kind::kJump : Kind::kBranch;
      break;
    case ARM64_INS_BR:
      out.kind = Kind::kJump;
      break;
    default:
      if (InGroup(handle, insn, CS_GRP_JUMP)) out.kind = Kind::kBranch;  // cbz, tbnz, ...
  }
  if (out.kind == Kind::kReturn || arm.op_count == 0) return;
  if (out.kind != Kind::kOther) {
    const cs_arm64_op& to = arm.operands[arm.op_count - 1];
    if (to.type == ARM64_OP_IMM) out.target = static_cast<uint64_t>(to.imm);
    if (to.type == ARM64_OP_REG) out.through = static_cast<Instruction::Register>(to.reg);
    return;
  }
  const cs_arm64_op& result = arm.operands[0];
  const bool is_store = (result.access & CS_AC_WRITE) == 0;
  if (result.type != ARM64_OP_REG || is_store) return;
  out.writes = static_cast<Instruction::Register>(result.reg);
  if (arm.op_count != 2) return;
  const cs_arm64_op& from = arm.operands[1];
  if ((insn.id == ARM64_INS_LDR || insn.id == ARM64_INS_LDUR) && from.type == ARM64_OP_MEM &&
      from.mem.index == ARM64_REG_INVALID) {
    out.loads = true;
    out.base = static_cast<Instruction::Register>(from.mem.base);
    out.offset = from.mem.disp;
  }
  if (insn.id == ARM64_INS_MOV && from.type == ARM64_OP_REG)
    out.copies = static_cast<Instruction::Register>(from.reg);
  // Only adr: adrp needs its add to give an address. Switch tables hold bytes or halfwords on
  // aarch64, so the targets of jumps through them are not found: some leaders are missing, none is
  // wrong.
  if (insn.id == ARM64_INS_ADR) out.points_to = static_cast<uint64_t>(from.imm);
}

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

void MemoryOfX86(csh handle, const cs_insn& insn, std::vector<MemoryOperand>& out) {
  const cs_x86& x86 = insn.detail->x86;
  // Capstone 4 lets comparisons write.
  const bool compares = insn.id == X86_INS_CMP || insn.id == X86_INS_TEST;
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
    operand.bytes = op.size;
    operand.writes = (op.access & CS_AC_WRITE) != 0 && !compares;
    // Capstone 4 knows no access of some vector instructions.
    operand.reads = compares || (op.access & CS_AC_READ) != 0 || (op.access == 0 && i > 0);
    out.push_back(std::move(operand));
  }
  switch (insn.id) {
    case X86_INS_PUSH:
    case X86_INS_CALL:
      out.push_back({"rsp", "", 1, -8, 8, true, false});
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

// Capstone does not tell the size of an operand: the end of the name does (ldrb, strh, ldrsw), or
// the register that is loaded or stored, which stands before the memory: stxr has another one
// first.
int BytesOfArm64(csh handle, const cs_insn& insn, int memory) {
  const std::string_view name = insn.mnemonic;
  const cs_arm64_op& moved = insn.detail->arm64.operands[std::max(memory - 1, 0)];
  const std::string moved_name = moved.type == ARM64_OP_REG ? NameOf(handle, moved.reg) : "";
  const int pair = name.starts_with("ldp") || name.starts_with("stp") ? 2 : 1;
  if (name.ends_with("sw")) return pair * 4;
  if (name.ends_with('b')) return 1;
  if (name.ends_with('h')) return 2;
  switch (moved_name.empty() ? 'x' : moved_name[0]) {
    case 'b':
      return 1;
    case 'h':
      return 2;
    case 'w':
    case 's':
      return pair * (moved_name == "sp" ? 8 : 4);
    case 'q':
      return pair * 16;
    default:
      return pair * 8;
  }
}

void MemoryOfArm64(csh handle, const cs_insn& insn, std::vector<MemoryOperand>& out) {
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
    operand.bytes = BytesOfArm64(handle, insn, i);
    operand.writes = std::string_view(insn.mnemonic).starts_with("st");
    operand.reads = !operand.writes;
    out.push_back(std::move(operand));
  }
}

}  // namespace

struct Disassembler::Architecture {
  uint16_t machine;  // e_machine
  cs_arch arch;
  cs_mode mode;
  void (*read)(csh, const cs_insn&, Instruction&);
  void (*memory)(csh, const cs_insn&, std::vector<MemoryOperand>&);
  static constexpr int kCount = 2;
  static const Architecture kAll[kCount];
};

const Disassembler::Architecture Disassembler::Architecture::kAll[kCount] = {
    {EM_X86_64, CS_ARCH_X86, CS_MODE_64, ReadX86, MemoryOfX86},
    {EM_AARCH64, CS_ARCH_ARM64, CS_MODE_ARM, ReadArm64, MemoryOfArm64},
};

Result<Disassembler> Disassembler::For(uint16_t machine) {
  for (const Architecture& architecture : Architecture::kAll) {
    if (architecture.machine != machine) continue;
    Disassembler out;
    out.architecture_ = &architecture;
    ASSIGN_OR_RETURN(out.handle_, OpenCapstone(architecture.arch, architecture.mode));
    return out;
  }
  return Unable("no disassembler for ELF machine " + std::to_string(machine) +
                "; walkhammer knows x86_64 and aarch64");
}

Disassembler::~Disassembler() {
  csh handle = handle_;
  if (handle != 0) cs_close(&handle);
}

Disassembler::Disassembler(Disassembler&& other) noexcept
    : architecture_(other.architecture_), handle_(std::exchange(other.handle_, 0)) {}

std::vector<Instruction> Disassembler::Sweep(std::span<const uint8_t> code,
                                             uint64_t address) const {
  std::vector<Instruction> out;
  cs_insn* insn = cs_malloc(handle_);
  const uint8_t* at = code.data();
  size_t left = code.size();
  while (left > 0 && cs_disasm_iter(handle_, &at, &left, &address, insn)) {
    Instruction& next = out.emplace_back();
    next.address = insn->address;
    next.size = static_cast<uint8_t>(insn->size);
    architecture_->read(handle_, *insn, next);
  }
  cs_free(insn, 1);
  return out;
}

std::vector<Disassembler::Line> Disassembler::Text(std::span<const uint8_t> code,
                                                   uint64_t address) const {
  std::vector<Line> out;
  cs_insn* insn = cs_malloc(handle_);
  const uint8_t* at = code.data();
  size_t left = code.size();
  while (left > 0 && cs_disasm_iter(handle_, &at, &left, &address, insn)) {
    std::string line = insn->mnemonic;
    if (insn->op_str[0] != '\0') line.append(" ").append(insn->op_str);
    out.push_back({insn->address, std::move(line)});
  }
  cs_free(insn, 1);
  return out;
}

std::vector<MemoryOperand> Disassembler::MemoryOperands(std::span<const uint8_t> code,
                                                        uint64_t address) const {
  std::vector<MemoryOperand> operands;
  cs_insn* insn = cs_malloc(handle_);
  const uint8_t* at = code.data();
  size_t left = code.size();
  if (cs_disasm_iter(handle_, &at, &left, &address, insn))
    architecture_->memory(handle_, *insn, operands);
  cs_free(insn, 1);
  return operands;
}

std::string Disassembler::Access(std::span<const uint8_t> code) const {
  const std::vector<MemoryOperand> operands = MemoryOperands(code, 0);
  if (operands.empty()) return "";
  const MemoryOperand& operand = operands.front();
  std::string text = fmt::format("{} {} byte{}", operand.writes ? "writing" : "reading",
                                 operand.bytes, operand.bytes == 1 ? "" : "s");
  // Without a base, the offset is an address.
  if (operand.offset != 0 && !operand.base.empty())
    text += fmt::format(" at {}{:#x}", operand.offset < 0 ? "-" : "+", std::abs(operand.offset));
  return text;
}

std::vector<InstructionStart> InstructionStarts(uint64_t begin, uint64_t end) {
  constexpr uint64_t kStep = sizeof(CodeUnit);  // to skip what is not an instruction
  std::vector<InstructionStart> starts;
  auto disassembler = Disassembler::For(kElfMachine);
  if (begin >= end || !disassembler.ok()) return starts;
  bool after_call = false;
  const auto add = [&](uint64_t at) {
    starts.push_back({static_cast<uint32_t>(at - begin), after_call});
    after_call = false;
  };
  for (uint64_t at = begin; at < end;) {
    const auto* code = reinterpret_cast<const uint8_t*>(at);
    for (const Instruction& next : disassembler.value().Sweep({code, end - at}, at)) {
      add(next.address);
      after_call = next.kind == Instruction::Kind::kCall;
      at = next.end();
    }
    if (at + kStep > end) break;
    add(at);
    at += kStep;
  }
  return starts;
}

std::vector<InstructionStart> StartsAtEnds(uint64_t begin, uint64_t end, uint64_t bytes) {
  if (end - begin <= 2 * bytes) return InstructionStarts(begin, end);
  std::vector<InstructionStart> starts = InstructionStarts(begin, begin + bytes);
  const auto far = static_cast<uint32_t>(end - begin - bytes);
  for (const InstructionStart& start : InstructionStarts(begin + far, end))
    starts.push_back({start.offset + far, start.after_call});
  return starts;
}

}  // namespace walkhammer
