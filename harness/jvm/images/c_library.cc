// SPDX-License-Identifier: Apache-2.0
#include "harness/jvm/images/c_library.h"

#include <gnu/libc-version.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "harness/elf/elf_file.h"

namespace walkhammer {
namespace {

constexpr int kMostEntries = 4096;  // per section: a bound against damaged files

GlibcVersion Parse(const char* text, const char* format) {
  GlibcVersion version{};
  return std::sscanf(text, format, &version.first, &version.second) == 2 ? version : GlibcVersion{};
}

void AddVersions(Elf* elf, Elf_Data* data, size_t strings, CLibraryNeed& need) {
  GElf_Verneed file;
  size_t at = 0;
  for (int i = 0; i < kMostEntries && gelf_getverneed(data, static_cast<int>(at), &file) != nullptr;
       i++) {
    GElf_Vernaux version;
    size_t aux = at + file.vn_aux;
    for (int j = 0; j < file.vn_cnt; j++) {
      if (gelf_getvernaux(data, static_cast<int>(aux), &version) == nullptr) return;
      const char* name = elf_strptr(elf, strings, version.vna_name);
      if (name != nullptr) need.glibc = std::max(need.glibc, Parse(name, "GLIBC_%d.%d"));
      aux += version.vna_next;
    }
    if (file.vn_next == 0) return;
    at += file.vn_next;
  }
}

void AddLibraries(Elf* elf, Elf_Data* data, size_t strings, CLibraryNeed& need) {
  GElf_Dyn entry;
  for (int i = 0; i < kMostEntries && gelf_getdyn(data, i, &entry) != nullptr; i++) {
    if (entry.d_tag != DT_NEEDED) continue;
    const char* name = elf_strptr(elf, strings, entry.d_un.d_val);
    if (name != nullptr && std::string_view(name).starts_with("libc.musl")) need.is_musl = true;
  }
}

}  // namespace

CLibraryNeed CLibraryNeedOf(const std::string& path) {
  CLibraryNeed need;
  const ElfFile file(path, ElfFile::Access::kRead);
  for (const auto& [section, header] : file.Sections()) {
    if (header.sh_type != SHT_GNU_verneed && header.sh_type != SHT_DYNAMIC) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr) continue;
    if (header.sh_type == SHT_DYNAMIC)
      AddLibraries(file.get(), data, header.sh_link, need);
    else
      AddVersions(file.get(), data, header.sh_link, need);
  }
  return need;
}

GlibcVersion OwnGlibc() { return Parse(gnu_get_libc_version(), "%d.%d"); }

}  // namespace walkhammer
