// SPDX-License-Identifier: Apache-2.0
// ElfData: what an ELF file will have in memory once it is loaded: bytes of its sections, and the
// pointers that relocations will put there. Reads the file only. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_ELF_ELF_DATA_H_
#define WALKHAMMER_HARNESS_ELF_ELF_DATA_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/elf/elf_file.h"

namespace walkhammer {

// Addresses are virtual addresses of the file throughout.
class ElfData {
 public:
  // Reads the file at `path`. Fails with kBadInput if it is not an ELF file that can be read.
  static Result<ElfData> Open(const std::string& path);

  const ElfFile& file() const { return *file_; }
  uint16_t machine() const { return file_->machine(); }  // e_machine

  // The file's bytes from `address` to the end of its section; empty where there are none.
  std::span<const uint8_t> Bytes(uint64_t address) const;
  bool IsCode(uint64_t address) const;
  // The pointer that is at `address` once the file is loaded, as an address of the file, or 0.
  uint64_t PointerAt(uint64_t address) const;

 private:
  struct Section {
    uint64_t begin;
    std::span<const uint8_t> bytes;
    bool code;
  };
  struct Pointer {
    uint64_t address, value;
  };
  static bool IsBefore(const Pointer& a, const Pointer& b) { return a.address < b.address; }

  ElfData() = default;
  void ReadRelocations(const ElfSection& section, Elf_Data* dynamic_symbols);
  const Section* SectionOf(uint64_t address) const;

  std::unique_ptr<ElfFile> file_;
  std::vector<Section> sections_;
  std::vector<Pointer> pointers_;  // by relocations, ordered by address
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ELF_ELF_DATA_H_
