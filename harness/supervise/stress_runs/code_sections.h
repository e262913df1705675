// SPDX-License-Identifier: Apache-2.0
// CodeSections: which instructions of a compiled method run before its frame is complete, and which
// run while the frame is torn down. Pure logic on what Capstone decoded. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_CODE_SECTIONS_H_
#define WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_CODE_SECTIONS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "harness/elf/disassembler.h"

namespace walkhammer {

enum class CodeSection : uint8_t { kPrologue, kBody, kEpilogue };

// Decodes `bytes`, which are at address `begin`. `starts`: ascending addresses where instructions
// are known to start. Decoding starts anew at each of them; `strayed` counts those that it would
// have missed because of data between the code.
std::vector<Instruction> DecodeCode(const Disassembler& disassembler,
                                    std::span<const uint8_t> bytes, uint64_t begin,
                                    std::span<const uint64_t> starts, int& strayed);

// The section of each instruction of `code`. `complete`: address of the first instruction with a
// complete frame; UINT64_MAX: none.
std::vector<CodeSection> SectionsOf(std::span<const Instruction> code, uint64_t complete);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_CODE_SECTIONS_H_
