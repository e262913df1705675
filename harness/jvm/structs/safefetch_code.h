// SPDX-License-Identifier: Apache-2.0
// Finds SafeFetch by its code: in a libjvm whose local symbols are stripped, and in the stubs of
// JDK 17.0.7 and before. SafeFetch's two functions are HotSpot's own assembly, the same in all
// builds of an architecture. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_JVM_STRUCTS_SAFEFETCH_CODE_H_
#define WALKHAMMER_HARNESS_JVM_STRUCTS_SAFEFETCH_CODE_H_

#include <string>
#include <vector>

#include "harness/elf/elf_functions.h"
#include "harness/jvm/structs/memory.h"

namespace walkhammer {

// The symbols of the two functions in a libjvm that is not stripped.
inline constexpr char kSafeFetch32[] = "SafeFetch32_impl";
inline constexpr char kSafeFetchN[] = "SafeFetchN_impl";

// Name of SafeFetchN's stub, as JVMTI reports it (StubGenerator::generate_safefetch of JDK 8 to
// 17.0.7).
inline constexpr char kSafeFetchStub[] = "SafeFetchN";

// Returns SafeFetch32 and SafeFetchN, in this order, from the executable segments of the file at
// `path`. Empty unless exactly one place holds SafeFetch32's code with SafeFetchN's code closely
// after it. Empty on any error.
std::vector<ElfFunction> FindSafeFetchCode(const std::string& path);
// Returns where SafeFetchN's code begins in the stub [begin, end), code for `machine` (e_machine of
// ELF); 0 if the stub holds anything else, or cannot be read.
uint64_t SafeFetchInStub(const MemoryReader& memory, uint16_t machine, uint64_t begin,
                         uint64_t end);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_STRUCTS_SAFEFETCH_CODE_H_
