// SPDX-License-Identifier: Apache-2.0
// Writing trap instructions into code that runs. Signal-safe: ReadCode and WriteCode yes; the rest
// no.
#ifndef WALKHAMMER_HARNESS_GUARD_CODE_PATCH_H_
#define WALKHAMMER_HARNESS_GUARD_CODE_PATCH_H_

#include <cstdint>
#include <vector>

#include "harness/base/result.h"
#include "harness/guard/arch.h"

namespace walkhammer {

CodeUnit ReadCode(uint64_t address);
// One store, so that a thread that runs here meets the old instruction or the new one.
void WriteCode(uint64_t address, CodeUnit code);

// Makes the pages of these addresses, in ascending order, writable (private copies). kUnable, with
// `without` as what to do then, where the kernel forbids it.
Status MakeCodeWritable(const std::vector<uint64_t>& sorted_addresses, const char* without);

// Takes SIGTRAP out of the masks of all installed signal handlers: a trap met while SIGTRAP is
// blocked ends the process.
Status UnblockTraps();

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_GUARD_CODE_PATCH_H_
