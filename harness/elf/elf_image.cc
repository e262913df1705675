// SPDX-License-Identifier: Apache-2.0
#include "harness/elf/elf_image.h"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace walkhammer {

void ElfImage::ReadSymbols(const ElfSection& table) {
  data_.file().EachSymbol(table, [&](const GElf_Sym& symbol, const char* name) {
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

void ElfImage::SettleFunctions() {
  // The largest of several symbols at one address is kept; among equally large symbols the name
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
  ASSIGN_OR_RETURN(ElfData data, ElfData::Open(path));
  ElfImage image(std::move(data));
  std::vector<ElfSection> symbols;
  for (const ElfSection& s : image.data_.file().Sections())
    if (s.header.sh_type == SHT_SYMTAB) symbols.push_back(s);
  for (const ElfSection& table : symbols) image.ReadSymbols(table);
  if (image.functions_.empty())
    return Unable(path +
                  " is stripped: it has no .symtab, by which coverage finds functions. Take a JDK "
                  "whose libjvm keeps it (Debian's and Temurin's do), or run without coverage");
  image.SettleFunctions();
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

}  // namespace walkhammer
