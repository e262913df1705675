// SPDX-License-Identifier: Apache-2.0
// Finds SafeFetch by its code, for a libjvm whose local symbols are stripped. SafeFetch's two
// functions are HotSpot's own assembly, the same in all builds of an architecture. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_JVM_STRUCTS_SAFEFETCH_CODE_H_
#define WALKHAMMER_HARNESS_JVM_STRUCTS_SAFEFETCH_CODE_H_

#include <string>
#include <vector>

#include "harness/elf/elf_functions.h"

namespace walkhammer {

// The symbols of the two functions in a libjvm that is not stripped.
inline constexpr char kSafeFetch32[] = "SafeFetch32_impl";
inline constexpr char kSafeFetchN[] = "SafeFetchN_impl";

// Returns SafeFetch32 and SafeFetchN, in this order, from the executable segments of the file at
// `path`. Empty unless exactly one place holds SafeFetch32's code with SafeFetchN's code closely
// after it. Empty on any error.
std::vector<ElfFunction> FindSafeFetchCode(const std::string& path);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_STRUCTS_SAFEFETCH_CODE_H_
