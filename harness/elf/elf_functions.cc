// SPDX-License-Identifier: Apache-2.0
#include "harness/elf/elf_functions.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>

namespace walkhammer {
namespace {

void Search(Elf* elf, Elf_Scn* section, const GElf_Shdr& header,
            const std::vector<std::string>& names, std::vector<ElfFunction>& out) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return;
  for (size_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
    GElf_Sym symbol;
    if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr || symbol.st_value == 0)
      continue;
    const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (name != nullptr && std::find(names.begin(), names.end(), name) != names.end())
      out.push_back({name, symbol.st_value, symbol.st_size});
  }
}

}  // namespace

std::vector<ElfFunction> FindFunctions(const std::string& path,
                                       const std::vector<std::string>& names) {
  std::vector<ElfFunction> out;
  elf_version(EV_CURRENT);
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return out;
  if (Elf* elf = elf_begin(fd, ELF_C_READ_MMAP, nullptr)) {
    for (uint32_t wanted : {static_cast<uint32_t>(SHT_SYMTAB), static_cast<uint32_t>(SHT_DYNSYM)}) {
      for (Elf_Scn* s = elf_nextscn(elf, nullptr); s != nullptr && out.size() < names.size();
           s = elf_nextscn(elf, s)) {
        GElf_Shdr header;
        if (gelf_getshdr(s, &header) != nullptr && header.sh_type == wanted)
          Search(elf, s, header, names, out);
      }
      if (!out.empty()) break;
    }
    elf_end(elf);
  }
  close(fd);
  return out;
}

uint64_t LoadBias(const void* inside) {
  Dl_info place{};
  link_map* map = nullptr;
  if (dladdr1(inside, &place, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0) return 0;
  return map->l_addr;
}

}  // namespace walkhammer
