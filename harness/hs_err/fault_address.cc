// SPDX-License-Identifier: Apache-2.0
#include <elf.h>

#include <span>

#include "harness/elf/disassembler.h"
#include "harness/hs_err/parser.h"

namespace walkhammer {
namespace {

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
  const auto disassembler = Disassembler::For(is_x86 ? EM_X86_64 : EM_AARCH64);
  if (!disassembler.ok()) return disassembler.failure().message;
  const auto operands = disassembler.value().MemoryOperands(code, pc);
  if (operands.empty()) return "the instruction at the pc has no memory operand";
  std::optional<uint64_t> address;
  for (const MemoryOperand& operand : operands) {
    const auto candidate = AddressOf(report, operand);
    if (!candidate) continue;
    if (!address || (is_x86 && IsNonCanonical(*candidate) && !IsNonCanonical(*address)))
      address = candidate;
  }
  if (!address) return "a register of the instruction at the pc is unknown";
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
