// SPDX-License-Identifier: Apache-2.0
// ElfImage: what an ELF file says about its code: functions (local functions included), bytes,
// vtables, and the pointers that relocations will put into vtable slots. Used by the block map;
// reads the file only.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_ELF_ELF_IMAGE_H_
#define WALKHAMMER_HARNESS_ELF_ELF_IMAGE_H_

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "harness/base/result.h"
#include "harness/elf/elf_data.h"

namespace walkhammer {

class ElfImage {
 public:
  // A symbol with its extent. Addresses are virtual addresses of the file throughout.
  struct Symbol {
    std::string_view name;  // mangled; lives as long as the image
    uint64_t address, size;
    bool runs_on = false;  // its code may run on into the next function: the end is an estimate
    uint64_t end() const { return address + size; }
  };

  // Reads the file at `path`. Fails with kUnable if the file has no .symtab with functions.
  static Result<ElfImage> Open(const std::string& path);

  uint16_t machine() const { return data_.machine(); }  // e_machine

  // Functions by address: one function per address, and none reaches into the next. If symbols
  // overlap, as labels in assembly do, the earlier function ends where the later begins.
  const std::vector<Symbol>& functions() const { return functions_; }
  // The function that holds `address`, or null.
  const Symbol* FunctionAt(uint64_t address) const;
  // The function that has this mangled name, perhaps as one of several names, or null.
  const Symbol* FunctionNamed(const std::string& name) const;

  const std::vector<Symbol>& vtables() const { return vtables_; }  // _ZTV..., by address

  // The file's bytes from `address` to the end of its section; empty where there are none.
  std::span<const uint8_t> Bytes(uint64_t address) const { return data_.Bytes(address); }
  bool IsCode(uint64_t address) const { return data_.IsCode(address); }
  // The pointer that is at `address` once the file is loaded, as an address of the file, or 0.
  uint64_t PointerAt(uint64_t address) const { return data_.PointerAt(address); }

 private:
  explicit ElfImage(ElfData data) : data_(std::move(data)) {}
  void ReadSymbols(const ElfSection& table);
  void SettleFunctions();

  ElfData data_;
  std::vector<Symbol> functions_, vtables_;
  std::unordered_map<std::string_view, uint64_t> addresses_;  // of functions, by any name
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ELF_ELF_IMAGE_H_
