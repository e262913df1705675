// SPDX-License-Identifier: Apache-2.0
// StepMap: shows where a walker is blind, from the stepper's counts by instruction: the counts by
// region of code (codelet, stub, prologue, body, epilogue, method and level), and the exact ranges
// of instructions with errors or wrong stacks, with their disassembly. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_STEP_MAP_H_
#define WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_STEP_MAP_H_

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "harness/elf/disassembler.h"
#include "harness/request/walker_table.h"
#include "harness/store/stress_rows.h"
#include "harness/supervise/stress_runs/code_index.h"

namespace walkhammer {

// Adds the rows of `cell` to `regions` and `ranges`. Reads the code's bytes from process `pid`,
// which must still live: without the bytes, epilogues and disassembly are missing.
void StepMap(CodeIndex& index, pid_t pid, const WalkerInfo& walker, int64_t cell,
             std::vector<StepRegionRow>& regions, std::vector<StepRangeRow>& ranges);

// The parts of a compiled method: before its frame is complete, and while the frame is torn down.
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

#endif  // WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_STEP_MAP_H_
