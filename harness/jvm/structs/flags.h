// SPDX-License-Identifier: Apache-2.0
// Values of the running JVM's flags, read through vmStructs. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_JVM_STRUCTS_FLAGS_H_
#define WALKHAMMER_HARNESS_JVM_STRUCTS_FLAGS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "harness/jvm/structs/vm_structs.h"

namespace walkhammer {

// The storage of a flag, e.g. "TieredStopAtLevel" (intx), "UseCompiler" (bool); null if this JVM
// has no flag of that name.
const void* FindFlag(const VmStructs& structs, std::string_view name);

bool BoolFlag(const VmStructs& structs, std::string_view name, bool otherwise);
int64_t IntFlag(const VmStructs& structs, std::string_view name, int64_t otherwise);

// Number of pages at the low end of each stack that the JVM protects: the reserved, yellow and red
// pages, by their flags.
int64_t GuardPages(const VmStructs& structs);

// The flags that say which compilers there are.
struct CompilerFlags {
  bool use_compiler = true;  // false: -Xint
  bool tiered = true;
  int64_t tiered_stop_at_level = 4;  // 0: interpreter only; of no effect unless `tiered`
};
// True if a JVM with these flags can compile code at a level (1..3 C1, 4 C2).
bool CanCompile(const CompilerFlags& flags, int level);
bool CanCompile(const VmStructs& structs, int level);

// "G1", "Serial", "Parallel", "ZGC", "Shenandoah", "Epsilon", or "unknown".
std::string CollectorName(const VmStructs& structs);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_STRUCTS_FLAGS_H_
