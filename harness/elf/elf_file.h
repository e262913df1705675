// SPDX-License-Identifier: Apache-2.0
// ElfFile: an ELF file open for reading by libelf, and where its separate symbols are.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_ELF_ELF_FILE_H_
#define WALKHAMMER_HARNESS_ELF_ELF_FILE_H_

#include <gelf.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace walkhammer {

struct ElfSection {
  Elf_Scn* section;
  GElf_Shdr header;  // of type SHT_NULL where it cannot be read
};

class ElfFile {
 public:
  // kRead: for a file that a build may rewrite in between, when reading a mapping may raise SIGBUS.
  enum class Access : uint8_t { kMapped, kRead };
  explicit ElfFile(const std::string& path, Access access = Access::kMapped);
  // Reads the file from `bytes`, which must outlive this object.
  explicit ElfFile(std::span<char> bytes);
  ~ElfFile();
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  // Null if the file is not an ELF file, or cannot be read.
  Elf* get() const { return elf_.get(); }
  // errno of opening the file; 0: success.
  int error() const { return error_; }
  // False for folders, pipes and devices, which are not read.
  bool is_regular() const { return is_regular_; }
  // e_machine; 0 if the file is not an ELF file.
  uint16_t machine() const;

  // All sections in the file's order, without section number 0.
  std::vector<ElfSection> Sections() const;
  bool Has(uint32_t section_type) const;
  // The GNU build id in hex; empty if there is none.
  std::string BuildId() const;
  // The file name in .gnu_debuglink; empty if there is none.
  std::string DebugLink() const;

  // Calls with(const GElf_Sym&, const char* name) for each symbol of the table that has a name.
  // False if the table cannot be read.
  template <typename With>
  bool EachSymbol(const ElfSection& table, With with) const {
    Elf_Data* data = elf_getdata(table.section, nullptr);
    if (data == nullptr || table.header.sh_entsize == 0) return false;
    const size_t count = data->d_size / table.header.sh_entsize;
    GElf_Sym symbol;
    for (size_t i = 0; i < count; i++) {
      if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) return false;
      const char* name = elf_strptr(get(), table.header.sh_link, symbol.st_name);
      if (name != nullptr && *name != '\0') with(symbol, name);
    }
    return true;
  }

 private:
  struct Closer {
    void operator()(Elf* elf) const { elf_end(elf); }
  };
  int fd_ = -1, error_ = 0;
  bool is_regular_ = true;
  std::unique_ptr<Elf, Closer> elf_;
};

// The GNU build id in hex; empty if the file has none or cannot be read.
std::string BuildIdOf(const std::string& path);

// Path of the file that holds the separate symbols of the library at `path`. Searches the places
// that JDK builds and distributions use: beside the library and in /usr/lib/debug, by the library's
// name, build id and .gnu_debuglink. Empty if no file there has a .symtab and the same build id.
std::string FindDebugFile(const std::string& path);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ELF_ELF_FILE_H_
