// SPDX-License-Identifier: Apache-2.0
#include "harness/elf/elf_data.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace walkhammer {

// A relocation without a symbol is a RELATIVE relocation on every architecture: pointer = addend.
void ElfData::ReadRelocations(const ElfSection& section, Elf_Data* dynamic_symbols) {
  Elf_Data* data = elf_getdata(section.section, nullptr);
  if (data == nullptr) return;
  GElf_Rela rela;
  for (int i = 0; gelf_getrela(data, i, &rela) != nullptr; i++) {
    uint64_t base = 0;
    if (const auto index = GELF_R_SYM(rela.r_info); index != 0) {
      GElf_Sym symbol;
      if (dynamic_symbols == nullptr ||
          gelf_getsym(dynamic_symbols, static_cast<int>(index), &symbol) == nullptr ||
          symbol.st_value == 0)
        continue;  // another library's
      base = symbol.st_value;
    }
    pointers_.push_back({rela.r_offset, base + static_cast<uint64_t>(rela.r_addend)});
  }
}

Result<ElfData> ElfData::Open(const std::string& path) {
  ElfData out;
  out.file_ = std::make_unique<ElfFile>(path);
  if (out.file_->error() != 0)
    return BadInput("cannot read " + path + ": " + std::strerror(out.file_->error()));
  if (!out.file_->is_regular()) return BadInput(path + " is not a regular file");
  if (out.machine() == 0) return BadInput(path + " is not an ELF file");
  Elf_Data* dynamic = nullptr;
  std::vector<ElfSection> relocations;
  for (const ElfSection& s : out.file_->Sections()) {
    const bool loaded = (s.header.sh_flags & SHF_ALLOC) != 0;
    if (s.header.sh_type == SHT_DYNSYM) dynamic = elf_getdata(s.section, nullptr);
    if (s.header.sh_type == SHT_RELA && loaded) relocations.push_back(s);
    if (s.header.sh_type != SHT_PROGBITS || !loaded) continue;
    const Elf_Data* data = elf_rawdata(s.section, nullptr);
    if (data != nullptr && data->d_buf != nullptr)
      out.sections_.push_back({s.header.sh_addr,
                               {static_cast<const uint8_t*>(data->d_buf), data->d_size},
                               (s.header.sh_flags & SHF_EXECINSTR) != 0});
  }
  for (const ElfSection& s : relocations) out.ReadRelocations(s, dynamic);
  // If one address has several, the last one decides.
  if (!std::is_sorted(out.pointers_.begin(), out.pointers_.end(), IsBefore))
    std::stable_sort(out.pointers_.begin(), out.pointers_.end(), IsBefore);
  return out;
}

const ElfData::Section* ElfData::SectionOf(uint64_t address) const {
  for (const Section& s : sections_)
    if (address >= s.begin && address - s.begin < s.bytes.size()) return &s;
  return nullptr;
}

std::span<const uint8_t> ElfData::Bytes(uint64_t address) const {
  const Section* s = SectionOf(address);
  return s == nullptr ? std::span<const uint8_t>() : s->bytes.subspan(address - s->begin);
}

bool ElfData::IsCode(uint64_t address) const {
  const Section* s = SectionOf(address);
  return s != nullptr && s->code;
}

uint64_t ElfData::PointerAt(uint64_t address) const {
  const auto after =
      std::upper_bound(pointers_.begin(), pointers_.end(), Pointer{address, 0}, IsBefore);
  if (after != pointers_.begin() && std::prev(after)->address == address)
    return std::prev(after)->value;
  // Packed relative relocations (DT_RELR) add to the word that is already in place.
  const auto bytes = Bytes(address);
  uint64_t in_place = 0;
  if (bytes.size() >= sizeof in_place) std::memcpy(&in_place, bytes.data(), sizeof in_place);
  return in_place;
}

}  // namespace walkhammer
