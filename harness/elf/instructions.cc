// SPDX-License-Identifier: Apache-2.0
#include "harness/elf/instructions.h"

#include "harness/elf/disassembler.h"
#include "harness/guard/arch.h"

namespace walkhammer {

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
