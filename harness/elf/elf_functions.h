// SPDX-License-Identifier: Apache-2.0
// Functions and variables of an ELF file by name, local symbols included. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_ELF_ELF_FUNCTIONS_H_
#define WALKHAMMER_HARNESS_ELF_ELF_FUNCTIONS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace walkhammer {

struct ElfFunction {
  std::string name;
  uint64_t address;  // virtual address in the file
  uint64_t size;     // bytes; 0 if the file does not state it
};

// Symbols with one of `names` in .symtab, or, if none is there, in .dynsym. Empty on any error.
std::vector<ElfFunction> FindFunctions(const std::string& path,
                                       const std::vector<std::string>& names);

// Functions of .symtab whose name begins with `prefix`. Empty on any error.
std::vector<ElfFunction> FindFunctionsLike(const std::string& path, std::string_view prefix);

// Load bias of the file that `inside` was loaded from, 0 if there is no such file: address in this
// process = virtual address of the file + bias.
uint64_t LoadBias(const void* inside);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ELF_ELF_FUNCTIONS_H_
