// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/core/core_file.h"

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>

#include "harness/base/files.h"
#include "harness/elf/elf_file.h"

namespace walkhammer {

// Read-only bytes of a file; empty if it cannot be mapped.
struct CoreFile::Bytes {
  explicit Bytes(const std::string& path) {
    // A core may name a FIFO, which would wait for its writer.
    const int fd = OpenFile(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return;
    struct stat info {};
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
      size = static_cast<size_t>(info.st_size);
      void* mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
      data = mapped == MAP_FAILED ? nullptr : static_cast<const uint8_t*>(mapped);
      if (data == nullptr) size = 0;
    }
    close(fd);
  }
  ~Bytes() {
    if (data != nullptr) munmap(const_cast<uint8_t*>(data), size);
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  const uint8_t* data = nullptr;
  size_t size = 0;
  bool is_same = true;  // see IsSameFile
};

namespace {

constexpr uint64_t kNoteAlignment = 4;

uint64_t RoundUp(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

// The value at `offset` of a note; zero beyond its end.
template <typename T>
T At(std::span<const char> bytes, uint64_t offset) {
  T value{};
  if (offset <= bytes.size() && bytes.size() - offset >= sizeof value)
    std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// Registers of NT_PRSTATUS, in the kernel's order (user_regs_struct, user_pt_regs).
CoreThread ThreadOf(std::span<const char> note, uint16_t machine) {
  constexpr uint64_t kPid = offsetof(elf_prstatus, pr_pid);
  constexpr uint64_t kRegisters = offsetof(elf_prstatus, pr_reg);
  const auto word = [&](int number) { return At<uint64_t>(note, kRegisters + 8 * number); };
  const auto tid = At<int32_t>(note, kPid);
  std::vector<uint64_t> general;
  if (machine == EM_AARCH64) {
    for (int i = 0; i <= 30; i++) general.push_back(word(i));
    return {tid, word(32), word(31), word(29), word(30), JavaRegistersOf(machine, general)};
  }
  // rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15
  constexpr int kGeneral[] = {10, 11, 12, 5, 19, 4, 13, 14, 9, 8, 7, 6, 3, 2, 1, 0};
  for (const int number : kGeneral) general.push_back(word(number));
  return {tid, word(16), word(19), word(4), 0, JavaRegistersOf(machine, general)};
}

std::string NameIn(const std::string& path) { return path.substr(path.rfind('/') + 1); }

template <typename Ranges>
auto* RangeOf(const Ranges& ranges, uint64_t address) {
  auto after = std::upper_bound(ranges.begin(), ranges.end(), address,
                                [](uint64_t at, const auto& range) { return at < range.begin; });
  if (after == ranges.begin() || address >= std::prev(after)->end)
    return static_cast<decltype(&*ranges.begin())>(nullptr);
  return &*std::prev(after);
}

template <typename Ranges>
void SortByBegin(Ranges& ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
}

}  // namespace

// As ReadJavaRegisters in guard/arch_x86_64.h and guard/arch_aarch64.h.
JavaRegisters JavaRegistersOf(uint16_t machine, std::span<const uint64_t> general) {
  JavaRegisters java;
  if (machine == EM_AARCH64 && general.size() > 22) {
    java.byte_code = general[22];
    java.first_argument = general[0];
  } else if (machine == EM_X86_64 && general.size() == std::size(java.general)) {
    std::copy(general.begin(), general.end(), std::begin(java.general));
    java.byte_code = java.sender_sp = general[13];
    java.return_pc = general[0];
    java.exception_pc = general[2];
    java.first_argument = general[7];
  }
  return java;
}

CoreFile::CoreFile(std::vector<std::string> modules) : modules_(std::move(modules)) {}
CoreFile::~CoreFile() = default;

bool CoreFile::IsCore(const std::string& path) {
  const ElfFile file(path, ElfFile::Access::kRead);
  GElf_Ehdr header;
  return file.get() != nullptr && gelf_getehdr(file.get(), &header) != nullptr &&
         header.e_type == ET_CORE;
}

Result<std::unique_ptr<CoreFile>> CoreFile::Open(const std::string& path,
                                                 const std::vector<std::string>& modules) {
  std::unique_ptr<CoreFile> core(new CoreFile(modules));
  RETURN_IF_ERROR(core->ReadCore(path));
  return core;
}

Status CoreFile::ReadCore(const std::string& path) {
  core_ = std::make_unique<Bytes>(path);
  const ElfFile file(path);
  if (file.error() != 0)
    return BadInput("cannot read the core " + path + ": " + std::strerror(file.error()));
  GElf_Ehdr header;
  size_t count = 0;
  if (core_->data == nullptr || file.get() == nullptr ||
      gelf_getehdr(file.get(), &header) == nullptr || header.e_type != ET_CORE ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || elf_getphdrnum(file.get(), &count) != 0)
    return BadInput(path + " is not a core of a 64-bit process");
  machine_ = header.e_machine;
  for (size_t i = 0; i < count; i++) {
    GElf_Phdr part;
    if (gelf_getphdr(file.get(), static_cast<int>(i), &part) == nullptr) continue;
    if (part.p_offset > core_->size || part.p_filesz > core_->size - part.p_offset)
      is_cut_off_ = true;
    const uint64_t size = part.p_offset < core_->size
                              ? std::min<uint64_t>(part.p_filesz, core_->size - part.p_offset)
                              : 0;
    if (part.p_type == PT_NOTE)
      ReadNotes({reinterpret_cast<const char*>(core_->data) + part.p_offset, size});
    if (part.p_type != PT_LOAD) continue;
    areas_.push_back({part.p_vaddr, part.p_vaddr + part.p_memsz, (part.p_flags & PF_R) != 0,
                      (part.p_flags & PF_X) != 0});
    if (size > 0) segments_.push_back({part.p_vaddr, part.p_vaddr + size, part.p_offset});
  }
  SortByBegin(segments_);
  SortByBegin(areas_);
  SortByBegin(mappings_);
  if (threads_.empty()) return BadInput(path + " names no thread: it is damaged or cut off");
  return Ok();
}

void CoreFile::ReadNotes(std::span<const char> notes) {
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    const auto header = At<Elf64_Nhdr>(notes, 0);
    const uint64_t name = sizeof header;
    const uint64_t begin = name + RoundUp(header.n_namesz, kNoteAlignment);
    const uint64_t end = begin + RoundUp(header.n_descsz, kNoteAlignment);
    if (begin > notes.size() || header.n_descsz > notes.size() - begin) return;
    const std::span<const char> note = notes.subspan(begin, header.n_descsz);
    if (header.n_type == NT_PRSTATUS) threads_.push_back(ThreadOf(note, machine_));
    if (header.n_type == NT_FILE) ReadMappings(note);
    if (header.n_type == NT_PRPSINFO) pid_ = At<int32_t>(note, offsetof(elf_prpsinfo, pr_pid));
    notes = notes.subspan(std::min<uint64_t>(end, notes.size()));
  }
}

// count, page size, count x (begin, end, offset in pages), count x name with NUL.
void CoreFile::ReadMappings(std::span<const char> note) {
  const auto count = At<uint64_t>(note, 0), page = At<uint64_t>(note, 8);
  uint64_t name = 16 + 24 * count;
  if (count > note.size() / 24) return;
  for (uint64_t i = 0; i < count && name < note.size(); i++) {
    const uint64_t at = 16 + 24 * i;
    const std::string path(note.data() + name, strnlen(note.data() + name, note.size() - name));
    name += path.size() + 1;
    mappings_.push_back({At<uint64_t>(note, at), At<uint64_t>(note, at + 8),
                         At<uint64_t>(note, at + 16) * page, path});
  }
}

const CoreArea* CoreFile::AreaOf(uint64_t address) const { return RangeOf(areas_, address); }
const CoreMapping* CoreFile::MappingOf(uint64_t address) const {
  return RangeOf(mappings_, address);
}

std::string CoreFile::FileOf(const CoreMapping& mapping) const {
  for (const std::string& folder : modules_) {
    const std::string beside = folder + "/" + NameIn(mapping.path);
    if (access(beside.c_str(), R_OK) == 0) return beside;
  }
  return access(mapping.path.c_str(), R_OK) == 0 ? mapping.path : "";
}

std::vector<Module> CoreFile::Modules(size_t most) const {
  std::map<std::string, Module> by_path;
  for (const CoreMapping& mapping : mappings_) {
    if (mapping.path.find(".so") == std::string::npos) continue;
    Module& module = by_path[mapping.path];
    if (module.path[0] == 0) {
      std::string path = FileOf(mapping);
      if (path.empty()) path = mapping.path;
      if (path.size() >= sizeof module.path) continue;
      std::memcpy(module.path, path.c_str(), path.size() + 1);
      module.start = mapping.begin;
      module.bias = mapping.begin - mapping.file_offset;
    }
    module.end = std::max(module.end, mapping.end);
  }
  std::vector<Module> modules;
  for (const auto& [path, module] : by_path)
    if (modules.size() < most && module.path[0] != 0) modules.push_back(module);
  return modules;
}

std::span<const uint8_t> CoreFile::InCore(uint64_t address) const {
  const Segment* segment = RangeOf(segments_, address);
  if (segment == nullptr) return {};
  return {core_->data + segment->file_offset + (address - segment->begin), segment->end - address};
}

const CoreFile::Bytes& CoreFile::BytesOf(const CoreMapping& mapping) const {
  auto known = std::find_if(files_.begin(), files_.end(),
                            [&](const auto& file) { return file.first == mapping.path; });
  if (known != files_.end()) return *known->second;
  auto bytes = std::make_unique<Bytes>(FileOf(mapping));
  // Kernels keep the first page of a mapped ELF file, which has its build id.
  const auto first = std::find_if(mappings_.begin(), mappings_.end(), [&](const auto& other) {
    return other.file_offset == 0 && other.path == mapping.path;
  });
  if (first != mappings_.end() && bytes->size > 0) {
    constexpr size_t kPage = 4096;
    const std::span<const uint8_t> kept = InCore(first->begin);
    const size_t count = std::min({kPage, kept.size(), bytes->size});
    bytes->is_same = count == 0 || std::memcmp(kept.data(), "\177ELF", 4) != 0 ||
                     std::memcmp(kept.data(), bytes->data, count) == 0;
  }
  return *files_.emplace_back(mapping.path, std::move(bytes)).second;
}

bool CoreFile::IsSameFile(const CoreMapping& mapping) const { return BytesOf(mapping).is_same; }

// The bytes from `address` on that are together in the core or in a mapped file.
std::span<const uint8_t> CoreFile::Find(uint64_t address) const {
  if (const auto kept = InCore(address); !kept.empty()) return kept;
  const CoreMapping* mapping = MappingOf(address);
  if (mapping == nullptr) return {};
  const Bytes& bytes = BytesOf(*mapping);
  const uint64_t offset = mapping->file_offset + (address - mapping->begin);
  if (!bytes.is_same || offset >= bytes.size) return {};
  return {bytes.data + offset, std::min<uint64_t>(bytes.size - offset, mapping->end - address)};
}

bool CoreFile::ReadWord(uint64_t address, uint64_t& word) const {
  const std::span<const uint8_t> bytes = Find(address);
  if (bytes.size() < sizeof word) return false;
  std::memcpy(&word, bytes.data(), sizeof word);
  return true;
}

}  // namespace walkhammer
