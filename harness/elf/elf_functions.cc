// SPDX-License-Identifier: Apache-2.0
#include "harness/elf/elf_functions.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>

#include "harness/elf/elf_file.h"

namespace walkhammer {

std::vector<ElfFunction> FindFunctions(const std::string& path,
                                       const std::vector<std::string>& names) {
  std::vector<ElfFunction> out;
  const ElfFile file(path);
  for (const uint32_t wanted : {SHT_SYMTAB, SHT_DYNSYM}) {
    for (const ElfSection& table : file.Sections()) {
      if (table.header.sh_type != wanted) continue;
      file.EachSymbol(table, [&](const GElf_Sym& symbol, const char* name) {
        if (symbol.st_value != 0 && std::find(names.begin(), names.end(), name) != names.end())
          out.push_back({name, symbol.st_value, symbol.st_size});
      });
    }
    if (!out.empty()) break;
  }
  return out;
}

std::vector<ElfFunction> FindFunctionsLike(const std::string& path, std::string_view prefix) {
  std::vector<ElfFunction> out;
  const ElfFile file(path);
  for (const ElfSection& table : file.Sections()) {
    if (table.header.sh_type != SHT_SYMTAB) continue;
    file.EachSymbol(table, [&](const GElf_Sym& symbol, const char* name) {
      const bool is_function = GELF_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_value != 0;
      if (is_function && std::string_view(name).starts_with(prefix))
        out.push_back({name, symbol.st_value, symbol.st_size});
    });
  }
  return out;
}

uint64_t LoadBias(const void* inside) {
  Dl_info place{};
  link_map* map = nullptr;
  if (dladdr1(inside, &place, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0) return 0;
  return map->l_addr;
}

}  // namespace walkhammer
