// SPDX-License-Identifier: Apache-2.0
#include "harness/elf/elf_image.h"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace walkhammer {

void ElfImage::ReadSymbols(const ElfSection& table) {
  file_->EachSymbol(table, [&](const GElf_Sym& symbol, const char* name) {
    if (symbol.st_value == 0 || symbol.st_shndx == SHN_UNDEF) return;
    const Symbol read{name, symbol.st_value, symbol.st_size, false};
    const int type = GELF_ST_TYPE(symbol.st_info);
    if (type == STT_FUNC && IsCode(read.address)) {
      functions_.push_back(read);
      addresses_.emplace(read.name, read.address);
    } else if (type == STT_OBJECT && read.name.starts_with("_ZTV")) {
      vtables_.push_back(read);
    }
  });
}

// In slots of vtables, a relocation without a symbol is a RELATIVE relocation on every
// architecture: pointer = addend.
void ElfImage::ReadRelocations(const ElfSection& section, Elf_Data* dynamic_symbols) {
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
    pointers_[rela.r_offset] = base + static_cast<uint64_t>(rela.r_addend);
  }
}

void ElfImage::SettleFunctions() {
  // Of several symbols at one address, the largest is kept; among equally large symbols the name
  // decides, so that the order of symbols in the file does not.
  const auto before = [](const Symbol& a, const Symbol& b) {
    return std::tuple(a.address, b.size, a.name) < std::tuple(b.address, a.size, b.name);
  };
  std::sort(functions_.begin(), functions_.end(), before);
  std::sort(vtables_.begin(), vtables_.end(), before);
  const auto same = [](const Symbol& a, const Symbol& b) { return a.address == b.address; };
  functions_.erase(std::unique(functions_.begin(), functions_.end(), same), functions_.end());
  for (size_t i = 0; i < functions_.size(); i++) {
    Symbol& f = functions_[i];
    uint64_t limit = f.address + Bytes(f.address).size();
    if (i + 1 < functions_.size()) limit = std::min(limit, functions_[i + 1].address);
    if (f.size == 0 || f.end() > limit) {
      f.size = limit - f.address;  // assembly often states no size
      f.runs_on = true;
    }
  }
}

Result<ElfImage> ElfImage::Open(const std::string& path) {
  ElfImage image;
  image.file_ = std::make_unique<ElfFile>(path);
  if (image.file_->error() != 0)
    return BadInput("cannot read " + path + ": " + std::strerror(image.file_->error()));
  if (!image.file_->is_regular()) return BadInput(path + " is no regular file");
  image.machine_ = image.file_->machine();
  if (image.machine_ == 0) return BadInput(path + " is no ELF file");

  std::vector<ElfSection> symbols, dynamic_symbols, relocations;
  for (const ElfSection& s : image.file_->Sections()) {
    const bool loaded = (s.header.sh_flags & SHF_ALLOC) != 0;
    if (s.header.sh_type == SHT_SYMTAB) symbols.push_back(s);
    if (s.header.sh_type == SHT_DYNSYM) dynamic_symbols.push_back(s);
    if (s.header.sh_type == SHT_RELA && loaded) relocations.push_back(s);
    if (s.header.sh_type != SHT_PROGBITS || !loaded) continue;
    const Elf_Data* data = elf_rawdata(s.section, nullptr);
    if (data != nullptr && data->d_buf != nullptr)
      image.sections_.push_back({s.header.sh_addr,
                                 {static_cast<const uint8_t*>(data->d_buf), data->d_size},
                                 (s.header.sh_flags & SHF_EXECINSTR) != 0});
  }
  for (const ElfSection& table : symbols) image.ReadSymbols(table);
  if (image.functions_.empty())
    return Unable(path +
                  " is stripped: it has no .symtab, by which coverage finds functions; take a JDK "
                  "whose libjvm keeps it (Debian's and Temurin's do), or run without coverage");
  image.SettleFunctions();
  Elf_Data* dynamic =
      dynamic_symbols.empty() ? nullptr : elf_getdata(dynamic_symbols.back().section, nullptr);
  for (const ElfSection& s : relocations) image.ReadRelocations(s, dynamic);
  return image;
}

const ElfImage::Symbol* ElfImage::FunctionAt(uint64_t address) const {
  auto after = std::upper_bound(functions_.begin(), functions_.end(), address,
                                [](uint64_t a, const Symbol& f) { return a < f.address; });
  if (after == functions_.begin()) return nullptr;
  const Symbol& f = *std::prev(after);
  return address < f.end() ? &f : nullptr;
}

const ElfImage::Symbol* ElfImage::FunctionNamed(const std::string& name) const {
  const auto found = addresses_.find(name);
  return found == addresses_.end() ? nullptr : FunctionAt(found->second);
}

const ElfImage::Section* ElfImage::SectionOf(uint64_t address) const {
  for (const Section& s : sections_)
    if (address >= s.begin && address - s.begin < s.bytes.size()) return &s;
  return nullptr;
}

std::span<const uint8_t> ElfImage::Bytes(uint64_t address) const {
  const Section* s = SectionOf(address);
  return s == nullptr ? std::span<const uint8_t>() : s->bytes.subspan(address - s->begin);
}

bool ElfImage::IsCode(uint64_t address) const {
  const Section* s = SectionOf(address);
  return s != nullptr && s->code;
}

uint64_t ElfImage::PointerAt(uint64_t address) const {
  if (const auto found = pointers_.find(address); found != pointers_.end()) return found->second;
  // Packed relative relocations (DT_RELR) add to the word that is already in place.
  const auto bytes = Bytes(address);
  uint64_t in_place = 0;
  if (bytes.size() >= sizeof in_place) std::memcpy(&in_place, bytes.data(), sizeof in_place);
  return in_place;
}

}  // namespace walkhammer
