#include "harness/elf/instructions.h"

#include <capstone/capstone.h>
#include <elf.h>

#include "harness/guard/arch.h"

namespace walkhammer {
namespace {

struct Decoder {
  cs_arch arch;
  int mode;
  unsigned call, call_register;  // instruction ids
};

constexpr Decoder DecoderOf(int machine) {
  if (machine == EM_AARCH64) return {CS_ARCH_ARM64, CS_MODE_ARM, ARM64_INS_BL, ARM64_INS_BLR};
  return {CS_ARCH_X86, CS_MODE_64, X86_INS_CALL, X86_INS_LCALL};
}

}  // namespace

std::vector<InstructionStart> InstructionStarts(uint64_t begin, uint64_t end) {
  std::vector<InstructionStart> starts;
  constexpr Decoder kDecoder = DecoderOf(kElfMachine);
  csh handle;
  if (begin >= end ||
      cs_open(kDecoder.arch, static_cast<cs_mode>(kDecoder.mode), &handle) != CS_ERR_OK)
    return starts;
  cs_option(handle, CS_OPT_SKIPDATA, CS_OPT_ON);
  cs_insn* instruction = cs_malloc(handle);
  const auto* code = reinterpret_cast<const uint8_t*>(begin);
  size_t left = end - begin;
  uint64_t address = begin;
  bool after_call = false;
  while (cs_disasm_iter(handle, &code, &left, &address, instruction)) {
    starts.push_back({static_cast<uint32_t>(instruction->address - begin), after_call});
    after_call = instruction->id == kDecoder.call || instruction->id == kDecoder.call_register;
  }
  cs_free(instruction, 1);
  cs_close(&handle);
  return starts;
}

}  // namespace walkhammer
