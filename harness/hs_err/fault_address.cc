// SPDX-License-Identifier: Apache-2.0
#include <capstone/capstone.h>
#include <elf.h>

#include <cctype>
#include <span>

#include "harness/hs_err/parser.h"

namespace walkhammer {
namespace {

// base + index * scale + offset. Names are the vendor's, in lower case, of the full register:
// "rax", "x0", "sp". An empty name counts as 0; the instruction pointer is a part of the offset
// already.
struct MemoryOperand {
  std::string base;
  std::string index;
  int scale = 1;  // 1 to 16
  int64_t offset = 0;
};

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

// Returns the memory operands of the instruction at the begin of `code`, which is at `address`; of
// x86's push, pop, call and return the stack's, too. None if it is no instruction, or if it has no
// such operand, or one relative to a segment. `machine` is EM_X86_64 or EM_AARCH64.
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

constexpr int kSiKernel = 128;  // Linux

// True for an address that x86_64 refuses before it looks at page tables (48-bit addresses).
bool IsNonCanonical(uint64_t address) {
  const auto high = static_cast<int64_t>(address) >> 47;
  return high != 0 && high != -1;
}

bool IsWanted(const CrashReport& report) {
  const CrashSignal& signal = report.signal;
  const bool is_fault = signal.name.value == "SIGSEGV" || signal.name.value == "SIGBUS";
  if (!is_fault || !report.pc.known()) return false;
  // Somebody sent it: there is no address.
  if (signal.sender_pid.known() || (signal.code_number.known() && signal.code_number.value <= 0))
    return false;
  const bool by_kernel = signal.code_number.value == kSiKernel || signal.code.value == "SI_KERNEL";
  return !signal.address.known() || (by_kernel && signal.address.value == 0);
}

std::optional<uint64_t> AddressOf(const CrashReport& report, const MemoryOperand& operand) {
  uint64_t address = static_cast<uint64_t>(operand.offset);
  for (const auto& [name, scale] :
       {std::pair(&operand.base, 1), std::pair(&operand.index, operand.scale)}) {
    if (name->empty()) continue;
    const auto value = *name == "sp" || *name == "rsp" ? report.sp() : report.Register(*name);
    if (!value) return {};
    address += *value * static_cast<uint64_t>(scale);
  }
  return address;
}

// Returns why there is no address; empty: it is set.
std::string Compute(CrashReport& report) {
  const bool is_x86 = report.arch == CrashArch::kX86_64;
  if (!is_x86 && report.arch != CrashArch::kAarch64) return "the architecture is not decoded";
  const uint64_t pc = report.pc.value;
  if (!report.instructions || pc < report.instructions->begin ||
      pc - report.instructions->begin >= report.instructions->bytes.size())
    return "the text has no instruction at the pc";
  const std::span<const uint8_t> code =
      std::span(report.instructions->bytes).subspan(pc - report.instructions->begin);
  const auto operands = MemoryOperands(is_x86 ? EM_X86_64 : EM_AARCH64, code, pc);
  if (operands.empty()) return "the instruction at the pc has no memory operand";
  std::optional<uint64_t> address;
  for (const MemoryOperand& operand : operands) {
    const auto candidate = AddressOf(report, operand);
    if (!candidate) continue;
    if (!address || (is_x86 && IsNonCanonical(*candidate) && !IsNonCanonical(*address)))
      address = candidate;
  }
  if (!address) return "a register of the instruction at the pc is not told";
  report.signal.address = {*address, report.instructions->line};
  report.signal.address_computed = true;
  return "";
}

}  // namespace

void ComputeFaultAddress(CrashReport& report) {
  if (!IsWanted(report)) return;
  if (const std::string why = Compute(report); !why.empty())
    report.unread.push_back({"fault address", why, report.signal.address.line});
}

}  // namespace walkhammer
