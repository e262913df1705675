// SPDX-License-Identifier: Apache-2.0
#include "harness/elf/disassembler.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "harness/guard/arch.h"

namespace walkhammer {
// An operand in memory, as Access() tells it.
struct MemoryUse {
  bool writes = false;
  int bytes = 0;         // 0: unknown
  int64_t distance = 0;  // from the base register
};

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

std::optional<MemoryUse> MemoryOfX86(const cs_insn& insn) {
  const cs_x86& x86 = insn.detail->x86;
  if (insn.id == X86_INS_LEA || insn.id == X86_INS_NOP) return std::nullopt;
  for (const cs_x86_op& op : std::span(x86.operands, x86.op_count)) {
    if (op.type != X86_OP_MEM) continue;
    const bool absolute = op.mem.base == X86_REG_RIP || op.mem.base == X86_REG_INVALID;
    // Capstone 4 lets comparisons write.
    const bool compares = insn.id == X86_INS_CMP || insn.id == X86_INS_TEST;
    return MemoryUse{(op.access & CS_AC_WRITE) != 0 && !compares, op.size,
                     absolute ? 0 : op.mem.disp};
  }
  if (insn.id == X86_INS_PUSH || insn.id == X86_INS_CALL) return MemoryUse{true, 8, 0};
  if (insn.id == X86_INS_POP || insn.id == X86_INS_RET || insn.id == X86_INS_LEAVE)
    return MemoryUse{false, 8, 0};
  return std::nullopt;
}

// Capstone does not tell the size of the operand: it is that of the register, or the name's end
// says it (ldrb, strh).
std::optional<MemoryUse> MemoryOfArm64(const cs_insn& insn) {
  const cs_arm64& arm = insn.detail->arm64;
  for (const cs_arm64_op& op : std::span(arm.operands, arm.op_count)) {
    if (op.type != ARM64_OP_MEM) continue;
    const std::string_view name = insn.mnemonic;
    const auto is_wide = [](arm64_reg reg) {
      return (reg >= ARM64_REG_X0 && reg <= ARM64_REG_X28) || reg == ARM64_REG_FP ||
             reg == ARM64_REG_LR || reg == ARM64_REG_XZR;
    };
    int bytes = is_wide(arm.operands[0].reg) ? 8 : 4;
    if (name.ends_with('b')) bytes = 1;
    if (name.ends_with('h')) bytes = 2;
    if (name.ends_with("sw")) bytes = 4;
    if (name.starts_with("ldp") || name.starts_with("stp")) bytes *= 2;
    return MemoryUse{name.starts_with("st"), bytes, op.mem.disp};
  }
  return std::nullopt;
}

}  // namespace

struct Disassembler::Architecture {
  uint16_t machine;  // e_machine
  cs_arch arch;
  cs_mode mode;
  void (*read)(csh, const cs_insn&, Instruction&);
  std::optional<MemoryUse> (*memory)(const cs_insn&);
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
    csh handle = 0;
    if (cs_open(architecture.arch, architecture.mode, &handle) != CS_ERR_OK)
      return Unable("this Capstone was built without the architecture of the file");
    out.handle_ = handle;
    cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
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

std::string Disassembler::Access(std::span<const uint8_t> code) const {
  cs_insn* insn = cs_malloc(handle_);
  const uint8_t* at = code.data();
  size_t left = code.size();
  uint64_t address = 0;
  std::string text;
  if (cs_disasm_iter(handle_, &at, &left, &address, insn)) {
    if (const auto memory = architecture_->memory(*insn)) {
      text = memory->writes ? "writing" : "reading";
      if (memory->bytes != 0)
        text += fmt::format(" {} byte{}", memory->bytes, memory->bytes == 1 ? "" : "s");
      if (memory->distance != 0)
        text += fmt::format(" at {}{:#x}", memory->distance < 0 ? "-" : "+",
                            memory->distance < 0 ? -memory->distance : memory->distance);
    }
  }
  cs_free(insn, 1);
  return text;
}

std::vector<InstructionStart> InstructionStarts(uint64_t begin, uint64_t end) {
  constexpr uint64_t kStep = sizeof(CodeUnit);  // to skip what is no instruction
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
