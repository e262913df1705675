// SPDX-License-Identifier: Apache-2.0
// ElfImage: what an ELF file says about its code: functions (local ones included), bytes, vtables
// and what relocations will put into their slots. Used by the block map; reads the file only.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_ELF_ELF_IMAGE_H_
#define WALKHAMMER_HARNESS_ELF_ELF_IMAGE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/base/result.h"
#include "harness/elf/elf_file.h"

namespace walkhammer {

class ElfImage {
 public:
  // A symbol with its extent. Addresses are virtual addresses of the file throughout.
  struct Symbol {
    std::string_view name;  // mangled; lives as long as the image
    uint64_t address, size;
    bool runs_on = false;  // its code may go on into the next one: its end was not in the file
    uint64_t end() const { return address + size; }
  };

  // Fails with kUnable where the file has no .symtab.
  static Result<ElfImage> Open(const std::string& path);

  uint16_t machine() const { return machine_; }  // e_machine

  // Functions by address; one an address, none reaching into the next: where symbols overlap, as
  // labels in assembly do, the one before ends there.
  const std::vector<Symbol>& functions() const { return functions_; }
  // The function that holds `address`, or null.
  const Symbol* FunctionAt(uint64_t address) const;
  // The function of that mangled name, under any of its names, or null.
  const Symbol* FunctionNamed(const std::string& name) const;

  const std::vector<Symbol>& vtables() const { return vtables_; }  // _ZTV..., by address

  // The file's bytes from `address` to the end of its section; empty where there are none.
  std::span<const uint8_t> Bytes(uint64_t address) const;
  bool IsCode(uint64_t address) const;
  // The pointer that stands at `address` once the file is loaded, or 0.
  uint64_t PointerAt(uint64_t address) const;

 private:
  struct Section {
    uint64_t begin;
    std::span<const uint8_t> bytes;
    bool code;
  };

  ElfImage() = default;
  void ReadSymbols(const ElfSection& table);
  void ReadRelocations(const ElfSection& section, Elf_Data* dynamic_symbols);
  void SettleFunctions();
  const Section* SectionOf(uint64_t address) const;

  std::unique_ptr<ElfFile> file_;
  uint16_t machine_ = 0;
  std::vector<Section> sections_;
  std::vector<Symbol> functions_, vtables_;
  std::unordered_map<std::string_view, uint64_t> addresses_;  // of functions, by any name
  std::unordered_map<uint64_t, uint64_t> pointers_;           // where relocations put which
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ELF_ELF_IMAGE_H_
