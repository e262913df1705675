// SPDX-License-Identifier: Apache-2.0
#include "harness/jvm/structs/flags.h"

#include <cstring>

namespace walkhammer {

const void* FindFlag(const VmStructs& structs, std::string_view name) {
  const char* type = structs.SizeOf("JVMFlag") ? "JVMFlag" : "Flag";  // JDK 8
  auto name_at = structs.Offset(type, "_name");
  auto address_at = structs.Offset(type, "_addr");
  auto size = structs.SizeOf(type);
  auto* flags = static_cast<const char**>(structs.Static(type, "flags"));
  auto* count = static_cast<size_t*>(structs.Static(type, "numFlags"));
  if (!name_at || !address_at || !size || flags == nullptr || count == nullptr) return nullptr;
  for (size_t i = 0; i < *count; i++) {
    const char* entry = *flags + i * *size;
    const char* entry_name = *reinterpret_cast<const char* const*>(entry + *name_at);
    if (entry_name != nullptr && name == entry_name)
      return *reinterpret_cast<const void* const*>(entry + *address_at);
  }
  return nullptr;
}

bool BoolFlag(const VmStructs& structs, std::string_view name, bool otherwise) {
  const void* flag = FindFlag(structs, name);
  return flag == nullptr ? otherwise : *static_cast<const bool*>(flag);
}

int64_t IntFlag(const VmStructs& structs, std::string_view name, int64_t otherwise) {
  const void* flag = FindFlag(structs, name);
  return flag == nullptr ? otherwise : *static_cast<const int64_t*>(flag);
}

int64_t GuardPages(const VmStructs& structs) {
  return IntFlag(structs, "StackYellowPages", 2) + IntFlag(structs, "StackRedPages", 1) +
         IntFlag(structs, "StackReservedPages", 0);  // JDK 8 has none
}

bool CanCompile(const CompilerFlags& flags, int level) {
  if (!flags.use_compiler) return false;
  return flags.tiered ? level <= flags.tiered_stop_at_level : level == 4;
}

bool CanCompile(const VmStructs& structs, int level) {
  return CanCompile(
      {BoolFlag(structs, "UseCompiler", true), BoolFlag(structs, "TieredCompilation", true),
       IntFlag(structs, "TieredStopAtLevel", 4)},
      level);
}

std::string CollectorName(const VmStructs& structs) {
  for (const char* name : {"G1", "Serial", "Parallel", "Z", "Shenandoah", "Epsilon"})
    if (BoolFlag(structs, std::string("Use") + name + "GC", false))
      return std::strcmp(name, "Z") == 0 ? "ZGC" : name;
  return "unknown";
}

}  // namespace walkhammer
