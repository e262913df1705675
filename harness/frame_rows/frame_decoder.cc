// SPDX-License-Identifier: Apache-2.0
#include <elf.h>

#include <utility>

#include "harness/elf/capstone.h"
#include "harness/frame_rows/frame_decoder_x86_64.h"
#include "harness/frame_rows/frame_instruction.h"

namespace walkhammer {

struct FrameDecoder::Architecture {
  uint16_t machine;  // e_machine
  cs_arch arch;
  cs_mode mode;
  const FrameRules* rules;
  void (*read)(const cs_insn&, FrameInstruction&);
  bool (*read_unknown)(std::span<const uint8_t> code, FrameInstruction&);  // to Capstone
  static constexpr int kCount = 1;
  static const Architecture kAll[kCount];
};

const FrameDecoder::Architecture FrameDecoder::Architecture::kAll[kCount] = {
    {EM_X86_64, CS_ARCH_X86, CS_MODE_64, &kFrameRulesX86, ReadFrameX86, ReadVectorX86},
};

Result<FrameDecoder> FrameDecoder::For(uint16_t machine) {
  for (const Architecture& architecture : Architecture::kAll) {
    if (architecture.machine != machine) continue;
    FrameDecoder out;
    out.architecture_ = &architecture;
    ASSIGN_OR_RETURN(out.handle_, OpenCapstone(architecture.arch, architecture.mode));
    out.instruction_ = cs_malloc(out.handle_);
    return out;
  }
  return Unable("where return addresses are is worked out for x86_64 alone");
}

FrameDecoder::~FrameDecoder() {
  if (instruction_ != nullptr) cs_free(static_cast<cs_insn*>(instruction_), 1);
  csh handle = handle_;
  if (handle != 0) cs_close(&handle);
}

FrameDecoder::FrameDecoder(FrameDecoder&& other) noexcept
    : architecture_(other.architecture_),
      handle_(std::exchange(other.handle_, 0)),
      instruction_(std::exchange(other.instruction_, nullptr)) {}

const FrameRules& FrameDecoder::rules() const { return *architecture_->rules; }

bool FrameDecoder::Decode(std::span<const uint8_t> code, uint64_t address,
                          FrameInstruction& out) const {
  const uint8_t* at = code.data();
  size_t left = code.size();
  auto* insn = static_cast<cs_insn*>(instruction_);
  out = FrameInstruction();
  out.address = address;
  if (!cs_disasm_iter(handle_, &at, &left, &address, insn))
    return architecture_->read_unknown(code, out);
  out.size = static_cast<uint8_t>(insn->size);
  architecture_->read(*insn, out);
  return true;
}

}  // namespace walkhammer
