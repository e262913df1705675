// SPDX-License-Identifier: Apache-2.0
// Functions and variables of an ELF file by name, local ones included. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_ELF_ELF_FUNCTIONS_H_
#define WALKHAMMER_HARNESS_ELF_ELF_FUNCTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace walkhammer {

struct ElfFunction {
  std::string name;
  uint64_t address;  // virtual address in the file
  uint64_t size;     // bytes; 0 where the file does not tell
};

// Those of `names` that .symtab (or, where stripped, .dynsym) holds. Empty on any error.
std::vector<ElfFunction> FindFunctions(const std::string& path,
                                       const std::vector<std::string>& names);

// What to add to a virtual address of the file that `inside` was loaded from to have the address in
// this process; 0 if it lies in no file.
uint64_t LoadBias(const void* inside);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ELF_ELF_FUNCTIONS_H_
