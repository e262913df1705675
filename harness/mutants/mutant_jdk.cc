// SPDX-License-Identifier: Apache-2.0
// The JDK of a mutant: links, and a libjvm.so of its own.
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>

#include "harness/base/files.h"
#include "harness/base/hash.h"
#include "harness/elf/elf_file.h"
#include "harness/mutants/mutant.h"

namespace walkhammer {
namespace {

namespace fs = std::filesystem;

// The launcher and the JVM find the JDK by their own real paths.
bool IsOwn(const fs::path& name) {
  return name == "java" || name == "libjli.so" || name == "libjvm.so";
}

Status LinkTree(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_directories(to, error);
  for (fs::directory_iterator at(from, error), end; !error && at != end; at.increment(error)) {
    const fs::path target = to / at->path().filename();
    if (at->is_directory() && !at->is_symlink()) {
      RETURN_IF_ERROR(LinkTree(at->path(), target));
    } else if (IsOwn(at->path().filename()) && at->is_regular_file()) {
      fs::copy_file(at->path(), target, error);
    } else {
      const fs::path real = fs::weakly_canonical(at->path(), error);
      fs::create_symlink(real, target, error);
    }
  }
  if (error)
    return ToolFailed(
        fmt::format("cannot copy {} to {}: {}", from.string(), to.string(), error.message()));
  return Ok();
}

// Where an ELF file holds a virtual address: byte offset in the file.
std::optional<uint64_t> FileOffset(const ElfFile& file, uint64_t address) {
  for (const ElfSection& s : file.Sections())
    if (s.header.sh_type == SHT_PROGBITS && (s.header.sh_flags & SHF_ALLOC) != 0 &&
        address >= s.header.sh_addr && address - s.header.sh_addr < s.header.sh_size)
      return s.header.sh_offset + (address - s.header.sh_addr);
  return std::nullopt;
}

// Changes the last bytes of the build id in `content`, which are random anyway.
bool ChangeBuildId(std::string& content, const std::string& id, uint64_t by) {
  std::string raw;
  for (size_t i = 0; i + 1 < id.size(); i += 2)
    raw += static_cast<char>(std::stoi(id.substr(i, 2), nullptr, 16));
  const size_t at = raw.size() < sizeof by ? std::string::npos : content.find(raw);
  if (at == std::string::npos) return false;
  for (size_t i = 0; i < sizeof by; i++)
    content[at + raw.size() - 1 - i] ^= static_cast<char>(by >> (8 * i));
  return true;
}

}  // namespace

Status MakeMutant(const std::string& home, const std::string& libjvm, const Mutant& mutant,
                  const std::string& out) {
  if (fs::exists(out)) return BadInput(out + " exists");
  const ElfFile file(libjvm);
  const auto offset = FileOffset(file, mutant.address);
  std::string content = ReadFile(libjvm);
  if (!offset || *offset + mutant.before.size() > content.size() ||
      std::memcmp(&content[*offset], mutant.before.data(), mutant.before.size()) != 0)
    return BadInput(libjvm + " does not hold the instruction of " + mutant.Id());
  std::copy(mutant.after.begin(), mutant.after.end(),
            content.begin() + static_cast<ptrdiff_t>(*offset));
  uint64_t hash = kFnvBegin;
  for (const char c : mutant.Id()) hash = Fnv1a(hash, static_cast<uint8_t>(c));
  if (!ChangeBuildId(content, file.BuildId(), hash | 1)) return Unable(libjvm + " has no build id");
  RETURN_IF_ERROR(LinkTree(home, out));
  const std::string copy = out / fs::relative(libjvm, home);
  const int fd = OpenFile(copy, O_WRONLY | O_TRUNC | O_CLOEXEC);
  const bool written =
      fd >= 0 && write(fd, content.data(), content.size()) == static_cast<ssize_t>(content.size());
  if (fd >= 0) close(fd);
  if (!written) return ToolFailed("cannot write " + copy);
  return Ok();
}

}  // namespace walkhammer
