// SPDX-License-Identifier: Apache-2.0
// The x86_64 part of FrameDecoder. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_FRAME_ROWS_FRAME_DECODER_X86_64_H_
#define WALKHAMMER_HARNESS_FRAME_ROWS_FRAME_DECODER_X86_64_H_

#include <capstone/capstone.h>

#include "harness/frame_rows/frame_instruction.h"

namespace walkhammer {

extern const FrameRules kFrameRulesX86;

// Sets flow, target, padding and effects of `out`.
void ReadFrameX86(const cs_insn& insn, FrameInstruction& out);

// Vector instructions that Capstone 4 does not know, as those of AVX-512: sets size and effects of
// `out`. False: `code` begins with no instruction with a VEX or EVEX prefix.
bool ReadVectorX86(std::span<const uint8_t> code, FrameInstruction& out);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_FRAME_ROWS_FRAME_DECODER_X86_64_H_
