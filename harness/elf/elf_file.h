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
  // kRead: for a file that a build may rewrite meanwhile; mapped, reading it could raise SIGBUS.
  enum class Access : uint8_t { kMapped, kRead };
  explicit ElfFile(const std::string& path, Access access = Access::kMapped);
  // As it lies in `bytes`, which must outlive this.
  explicit ElfFile(std::span<char> bytes);
  ~ElfFile();
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  // Null if it is no ELF file, or cannot be read.
  Elf* get() const { return elf_.get(); }
  // errno of opening it; 0: that went well.
  int error() const { return error_; }
  // e_machine; 0 if it is no ELF file.
  uint16_t machine() const;

  // All, in the file's order, with the one numbered 0 left out.
  std::vector<ElfSection> Sections() const;
  bool Has(uint32_t section_type) const;
  // The GNU build id in hex; empty if there is none.
  std::string BuildId() const;
  // The file name in .gnu_debuglink; empty if there is none.
  std::string DebugLink() const;

  // Calls `with`(const GElf_Sym&, const char* name) for each symbol of a table that has a name.
  // False where its contents cannot be read.
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
  std::unique_ptr<Elf, Closer> elf_;
};

// The GNU build id in hex; empty if the file has none or cannot be read.
std::string BuildIdOf(const std::string& path);
// Whether the file itself carries a .symtab (not only exported symbols).
bool HasSymtab(const std::string& path);

// Where JDK builds and distributions put a library's separate symbols: beside it or in
// /usr/lib/debug, by its name, its build id or its .gnu_debuglink. Empty if no file there has a
// .symtab and the same build id.
std::string FindDebugFile(const std::string& path);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ELF_ELF_FILE_H_
