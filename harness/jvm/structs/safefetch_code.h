// SPDX-License-Identifier: Apache-2.0
// SafeFetch by its code, for a libjvm whose local symbols are stripped. Its functions are HotSpot's
// own assembly, the same in all builds of an architecture. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_JVM_STRUCTS_SAFEFETCH_CODE_H_
#define WALKHAMMER_HARNESS_JVM_STRUCTS_SAFEFETCH_CODE_H_

#include <string>
#include <vector>

#include "harness/elf/elf_functions.h"

namespace walkhammer {

// What FindFunctions would find of both where they are not stripped.
inline constexpr char kSafeFetch32[] = "SafeFetch32_impl";
inline constexpr char kSafeFetchN[] = "SafeFetchN_impl";

// Both, from the executable segments of the file. Empty unless the code of the one, close behind it
// that of the other, stands there exactly once, and on any error.
std::vector<ElfFunction> FindSafeFetchCode(const std::string& path);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_STRUCTS_SAFEFETCH_CODE_H_
