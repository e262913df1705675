// SPDX-License-Identifier: Apache-2.0
#include "harness/jvm/images/struct_tables.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "harness/elf/elf_data.h"

namespace walkhammer {
namespace {

// More than any JDK has: a damaged table may have no end.
constexpr int kMostRows = 20000;

class Reader {
 public:
  Reader(const ElfData& data, StructTables& out) : data_(data), out_(out) {
    for (const ElfSection& s : data.file().Sections())
      if (s.header.sh_type == SHT_SYMTAB || s.header.sh_type == SHT_DYNSYM)
        data.file().EachSymbol(s, [&](const GElf_Sym& symbol, const char* name) {
          if (symbol.st_shndx != SHN_UNDEF) addresses_.emplace(name, symbol.st_value);
        });
  }

  void ReadFields() {
    const std::string s = "gHotSpotVMStructEntry";
    const uint64_t type = Word(s + "TypeNameOffset", 0), field = Word(s + "FieldNameOffset", 8),
                   declared = Word(s + "TypeStringOffset", 16),
                   is_static = Word(s + "IsStaticOffset", 24),
                   address = Word(s + "AddressOffset", 40);
    Each("gHotSpotVMStructs", Word(s + "ArrayStride", 48), type, [&](uint64_t at) {
      const std::string name = Text(at + type) + "::" + Text(at + field);
      const bool has_address = Number<int32_t>(at + is_static) != 0;
      out_.fields[name] = {Text(at + declared), has_address};
      if (has_address) statics_[name] = data_.PointerAt(at + address);
    });
  }

  void ReadSizes() {
    const std::string t = "gHotSpotVMTypeEntry";
    const uint64_t name = Word(t + "TypeNameOffset", 0), size = Word(t + "SizeOffset", 32);
    Each("gHotSpotVMTypes", Word(t + "ArrayStride", 40), name,
         [&](uint64_t at) { out_.sizes[Text(at + name)] = Number<uint64_t>(at + size); });
  }

  void ReadConstants() {
    const std::string i = "gHotSpotVMIntConstantEntry", l = "gHotSpotVMLongConstantEntry";
    const uint64_t int_name = Word(i + "NameOffset", 0), int_value = Word(i + "ValueOffset", 8),
                   long_name = Word(l + "NameOffset", 0), long_value = Word(l + "ValueOffset", 8);
    Each("gHotSpotVMIntConstants", Word(i + "ArrayStride", 16), int_name, [&](uint64_t at) {
      out_.constants[Text(at + int_name)] = Number<int32_t>(at + int_value);
    });
    Each("gHotSpotVMLongConstants", Word(l + "ArrayStride", 16), long_name, [&](uint64_t at) {
      out_.constants[Text(at + long_name)] = Number<int64_t>(at + long_value);
    });
  }

  // The flags are an array of JVMFlag, in JDK 8 of Flag; the name lies behind the first pointer.
  void ReadFlags() {
    for (const std::string type : {"JVMFlag", "Flag"}) {
      const auto flags = statics_.find(type + "::flags"),
                 count = statics_.find(type + "::numFlags");
      const auto size = out_.sizes.find(type);
      if (flags == statics_.end() || count == statics_.end() || size == out_.sizes.end()) continue;
      const uint64_t first = data_.PointerAt(flags->second);
      const auto flag_count = std::min<uint64_t>(Number<uint64_t>(count->second), kMostRows);
      for (uint64_t i = 0; i < flag_count; i++)
        if (std::string name = Text(first + i * size->second + sizeof(uint64_t)); !name.empty())
          out_.flags.insert(std::move(name));
    }
  }

 private:
  // Calls with(address) for each entry of the table that the pointer `table` leads to.
  template <typename With>
  void Each(const std::string& table, uint64_t stride, uint64_t name_at, With with) const {
    const auto symbol = addresses_.find(table);
    if (symbol == addresses_.end() || stride == 0) return;
    uint64_t at = data_.PointerAt(symbol->second);
    for (int i = 0; at != 0 && i < kMostRows && data_.PointerAt(at + name_at) != 0; i++) {
      with(at);
      at += stride;
    }
  }

  // An exported number; `usual` where the JVM sets it when it is loaded. All JDKs have these.
  uint64_t Word(const std::string& symbol, uint64_t usual) const {
    const auto found = addresses_.find(symbol);
    if (found == addresses_.end() || data_.Bytes(found->second).empty()) return usual;
    return Number<uint64_t>(found->second);
  }

  template <typename T>
  T Number(uint64_t address) const {
    T value{};
    const auto bytes = data_.Bytes(address);
    if (bytes.size() >= sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }

  // The text that the pointer at `address` leads to.
  std::string Text(uint64_t address) const {
    const auto bytes = data_.Bytes(data_.PointerAt(address));
    const auto* text = reinterpret_cast<const char*>(bytes.data());
    return bytes.empty() ? "" : std::string(text, strnlen(text, bytes.size()));
  }

  const ElfData& data_;
  StructTables& out_;
  std::unordered_map<std::string, uint64_t> addresses_;  // of symbols
  std::unordered_map<std::string, uint64_t> statics_;    // of static fields
};

void ReadSymbols(const ElfFile& file, StructTables& out) {
  for (const ElfSection& s : file.Sections()) {
    if (s.header.sh_type != SHT_SYMTAB && s.header.sh_type != SHT_DYNSYM) continue;
    if (s.header.sh_type == SHT_SYMTAB) out.has_local_symbols = true;
    file.EachSymbol(s, [&](const GElf_Sym& symbol, const char* name) {
      if (symbol.st_shndx != SHN_UNDEF) out.symbols.insert(name);
    });
  }
}

}  // namespace

Result<StructTables> ReadStructTables(const std::string& libjvm, const std::string& debug_file) {
  ASSIGN_OR_RETURN(const ElfData data, ElfData::Open(libjvm));
  StructTables out;
  Reader reader(data, out);
  reader.ReadFields();
  reader.ReadSizes();
  reader.ReadConstants();
  reader.ReadFlags();
  if (out.fields.empty() || out.sizes.empty())
    return Unable(libjvm + " has no vmStructs in its file: it is not HotSpot, or is damaged");
  ReadSymbols(data.file(), out);
  if (!debug_file.empty()) ReadSymbols(ElfFile(debug_file), out);
  return out;
}

}  // namespace walkhammer
