// SPDX-License-Identifier: Apache-2.0
// CodeSections: which instructions of a compiled method run before its frame is complete, and which
// while it is torn down. Pure logic on what Capstone decoded. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_MATRIX_CODE_SECTIONS_H_
#define WALKHAMMER_HARNESS_SUPERVISE_MATRIX_CODE_SECTIONS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "harness/elf/disassembler.h"

namespace walkhammer {

enum class CodeSection : uint8_t { kPrologue, kBody, kEpilogue };

// The instructions of `bytes`, which lie at `begin`. `starts`: addresses, ascending, where
// instructions are known to start; decoding begins anew there when data between the code led it
// astray, which adds to `strayed`.
std::vector<Instruction> DecodeCode(const Disassembler& disassembler,
                                    std::span<const uint8_t> bytes, uint64_t begin,
                                    std::span<const uint64_t> starts, int& strayed);

// The section of each instruction. `complete`: address from which the frame is complete;
// UINT64_MAX: never.
std::vector<CodeSection> SectionsOf(std::span<const Instruction> code, uint64_t complete);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_MATRIX_CODE_SECTIONS_H_
