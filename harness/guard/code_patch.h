// SPDX-License-Identifier: Apache-2.0
// Writing trap instructions into code that runs. Signal-safe: ReadCode, WriteCode and RewriteCode
// yes; the rest no.
#ifndef WALKHAMMER_HARNESS_GUARD_CODE_PATCH_H_
#define WALKHAMMER_HARNESS_GUARD_CODE_PATCH_H_

#include <cstdint>
#include <vector>

#include "harness/base/result.h"
#include "harness/guard/arch.h"

namespace walkhammer {

CodeUnit ReadCode(uint64_t address);
// Writes with one store: a thread that runs there executes the old instruction or the new one.
void WriteCode(uint64_t address, CodeUnit code);

// WriteCode where code may be unwritable: its page becomes writable. False, and nothing is written,
// if the kernel forbids that, as it may where a mapping more is too many.
bool RewriteCode(uint64_t address, CodeUnit code);

// Makes the mappings of the addresses, which must be in ascending order, writable (private copies).
// Whole mappings: a library whose code lies in several ones is taken for several by profilers,
// which read the symbols of the first alone. Fails with kUnable if the kernel forbids it; the
// message ends in `without`, the user's way out.
Status MakeCodeWritable(const std::vector<uint64_t>& sorted_addresses, const char* without);

// Makes the mappings of the addresses, in ascending order, what code usually is: readable,
// executable, not writable. Under qemu, a writable mapping falls apart where its pages were run.
void MakeCodeUnwritable(const std::vector<uint64_t>& sorted_addresses);

// Takes SIGTRAP out of the masks of all installed signal handlers: a trap that is hit while SIGTRAP
// is blocked ends the process.
Status UnblockTraps();

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_GUARD_CODE_PATCH_H_
