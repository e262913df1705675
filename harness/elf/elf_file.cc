// SPDX-License-Identifier: Apache-2.0
#include "harness/elf/elf_file.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "harness/base/files.h"
#include "harness/base/text.h"

namespace walkhammer {
namespace {

namespace fs = std::filesystem;

constexpr char kDebugRoot[] = "/usr/lib/debug";

}  // namespace

ElfFile::ElfFile(const std::string& path, Access access) {
  elf_version(EV_CURRENT);
  // A FIFO of that name would wait for its writer, a terminal would become our own.
  fd_ = OpenFile(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  struct stat info;
  if (fd_ < 0 || fstat(fd_, &info) != 0) {
    error_ = errno;
    return;
  }
  is_regular_ = S_ISREG(info.st_mode);
  if (!is_regular_) return;
  elf_.reset(elf_begin(fd_, access == Access::kMapped ? ELF_C_READ_MMAP : ELF_C_READ, nullptr));
  if (elf_ != nullptr && elf_kind(get()) != ELF_K_ELF) elf_.reset();
}

ElfFile::ElfFile(std::span<char> bytes) {
  elf_version(EV_CURRENT);
  elf_.reset(elf_memory(bytes.data(), bytes.size()));
}

ElfFile::~ElfFile() {
  elf_.reset();
  if (fd_ >= 0) close(fd_);
}

uint16_t ElfFile::machine() const {
  GElf_Ehdr header;
  return elf_ != nullptr && gelf_getehdr(get(), &header) != nullptr ? header.e_machine : 0;
}

std::vector<ElfSection> ElfFile::Sections() const {
  std::vector<ElfSection> sections;
  if (elf_ == nullptr) return sections;
  for (Elf_Scn* s = elf_nextscn(get(), nullptr); s != nullptr; s = elf_nextscn(get(), s)) {
    GElf_Shdr header;
    if (gelf_getshdr(s, &header) == nullptr) header = {};
    sections.push_back({s, header});
  }
  return sections;
}

bool ElfFile::Has(uint32_t section_type) const {
  const auto sections = Sections();
  return std::any_of(sections.begin(), sections.end(), [&](const ElfSection& s) {
    return s.header.sh_type == section_type && s.header.sh_size > 0;
  });
}

std::string ElfFile::BuildId() const {
  const void* bytes = nullptr;
  const ssize_t size = elf_ == nullptr ? 0 : dwelf_elf_gnu_build_id(get(), &bytes);
  return size > 0 ? HexBytes(bytes, static_cast<size_t>(size)) : "";
}

std::string ElfFile::DebugLink() const {
  size_t names = 0;
  if (elf_ == nullptr || elf_getshdrstrndx(get(), &names) != 0) return "";
  for (const auto& [section, header] : Sections()) {
    const char* name = elf_strptr(get(), names, header.sh_name);
    if (header.sh_type == SHT_NOBITS || name == nullptr || std::strcmp(name, ".gnu_debuglink") != 0)
      continue;
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) continue;
    const char* link = static_cast<const char*>(data->d_buf);
    return {link, strnlen(link, data->d_size)};
  }
  return "";
}

std::string BuildIdOf(const std::string& path) { return ElfFile(path).BuildId(); }

std::string FindDebugFile(const std::string& path) {
  const ElfFile file(path, ElfFile::Access::kRead);
  const std::string id = file.BuildId(), link = file.DebugLink();
  if (id.size() < 3) return "";
  const fs::path library(path), folder = library.parent_path(), root(kDebugRoot);
  std::vector<fs::path> places = {root / ".build-id" / id.substr(0, 2) / (id.substr(2) + ".debug"),
                                  fs::path(library).replace_extension(".debuginfo"),
                                  path + ".debug"};
  if (!link.empty()) {
    places.push_back(folder / link);
    places.push_back(folder / ".debug" / link);
    places.push_back(root / folder.relative_path() / link);
  }
  for (const fs::path& place : places) {
    std::error_code error;
    if (!fs::is_regular_file(place, error)) continue;
    const ElfFile found(place, ElfFile::Access::kRead);
    if (found.Has(SHT_SYMTAB) && found.BuildId() == id) return place;
  }
  return "";
}

}  // namespace walkhammer
