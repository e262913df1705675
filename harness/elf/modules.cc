// SPDX-License-Identifier: Apache-2.0
#include "harness/elf/modules.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "harness/base/mappings.h"
#include "harness/base/text.h"

namespace walkhammer {
namespace {

// Build id from a module's PT_NOTE segments, as hex; empty if there is none.
std::string BuildIdOf(const dl_phdr_info& info) {
  for (int i = 0; i < info.dlpi_phnum; i++) {
    const auto& header = info.dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const char* at = reinterpret_cast<const char*>(info.dlpi_addr + header.p_vaddr);
    const char* end = at + header.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at);
      const char* name = at + sizeof *note;
      const auto* bytes =
          reinterpret_cast<const unsigned char*>(name + ((note->n_namesz + 3) & ~3U));
      if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
          std::memcmp(name, "GNU", 4) == 0)
        return HexBytes(bytes, std::min<size_t>(note->n_descsz, 20));
      at = reinterpret_cast<const char*>(bytes) + ((note->n_descsz + 3) & ~3U);
    }
  }
  return "";
}

struct List {
  std::span<Module> modules;
  uint32_t count;
  std::string program;
};

int AddModule(dl_phdr_info* info, size_t, void* data) {
  auto& list = *static_cast<List*>(data);
  if (list.count >= list.modules.size()) return 1;
  uint64_t low = UINT64_MAX, high = 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    low = std::min<uint64_t>(low, info->dlpi_addr + header.p_vaddr);
    high = std::max<uint64_t>(high, info->dlpi_addr + header.p_vaddr + header.p_memsz);
  }
  if (low >= high) return 0;
  Module& module = list.modules[list.count++];
  module = Module{};
  std::snprintf(module.path, sizeof module.path, "%s", info->dlpi_name);
  // The main program, which comes first, has no name here, or the name that it was started with.
  if (list.count == 1) std::snprintf(module.path, sizeof module.path, "%s", list.program.c_str());
  module.start = low;
  module.end = high;
  module.bias = info->dlpi_addr;
  std::snprintf(module.build_id, sizeof module.build_id, "%s", BuildIdOf(*info).c_str());
  return 0;
}

}  // namespace

uint32_t ListModules(std::span<Module> modules) {
  List list{modules, 0, OwnProgram()};
  dl_iterate_phdr(AddModule, &list);
  return list.count;
}

}  // namespace walkhammer
