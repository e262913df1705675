// SPDX-License-Identifier: Apache-2.0
// Where instructions start in generated code, as the code is in memory now. Used to name addresses
// in code that a walker may encounter; the code must not be freed meanwhile. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_ELF_INSTRUCTIONS_H_
#define WALKHAMMER_HARNESS_ELF_INSTRUCTIONS_H_

#include <cstdint>
#include <vector>

namespace walkhammer {

struct InstructionStart {
  uint32_t offset;  // bytes from the begin of the code
  bool after_call;  // the instruction before is a call, which returns here
};

// Returns the starts of the instructions in [begin, end), in order. Data between the code is
// stepped over; starts right after data may be off by some bytes.
std::vector<InstructionStart> InstructionStarts(uint64_t begin, uint64_t end);
// As InstructionStarts, but of code longer than 2 * `bytes` only those in the first and in the last
// `bytes`. The first starts of the last bytes may be off by some bytes.
std::vector<InstructionStart> StartsAtEnds(uint64_t begin, uint64_t end, uint64_t bytes);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ELF_INSTRUCTIONS_H_
