// SPDX-License-Identifier: Apache-2.0
#include "harness/jvm/structs/safefetch_code.h"

#include <algorithm>
#include <string_view>

#include "harness/elf/elf_file.h"

namespace walkhammer {
namespace {

using namespace std::string_view_literals;

// The code of each function: `return *first_argument;`, then, where HotSpot resumes after a fault,
// `return second_argument;`. A landing pad may precede the code. The stub's code:
// `second_argument = *first_argument; return second_argument;`.
struct Assembly {
  uint16_t machine;           // e_machine
  uint64_t alignment;         // of the machine's instructions, in bytes
  std::string_view fetch_32;  // SafeFetch32
  std::string_view fetch_n;   // SafeFetchN
  std::string_view stub_n;    // SafeFetchN where it is a stub
};
constexpr Assembly kAssemblies[] = {
    {EM_X86_64, 1, "\x8b\x07\xc3\x89\xf0\xc3"sv, "\x48\x8b\x07\xc3\x48\x89\xf0\xc3"sv,
     "\x48\x8b\x37\x48\x8b\xc6\xc3"sv},
    {EM_AARCH64, 4, "\x00\x00\x40\xb9\xc0\x03\x5f\xd6\xe0\x03\x01\xaa\xc0\x03\x5f\xd6"sv,
     "\x00\x00\x40\xf9\xc0\x03\x5f\xd6\xe0\x03\x01\xaa\xc0\x03\x5f\xd6"sv,
     "\x01\x00\x40\xf9\xe0\x03\x01\xaa\xc0\x03\x5f\xd6"sv},
};
// Most bytes between the two functions, if each is aligned.
constexpr size_t kMostPadding = 64;

constexpr uint64_t kMostStub = 64;  // bytes

struct Segment {
  uint64_t address;
  std::string_view bytes;
};

std::vector<Segment> ExecutableSegments(Elf* elf) {
  std::vector<Segment> out;
  size_t count = 0, size = 0;
  const char* file = elf_rawfile(elf, &size);
  if (file == nullptr || elf_getphdrnum(elf, &count) != 0) return out;
  for (size_t i = 0; i < count; i++) {
    GElf_Phdr header;
    if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr || header.p_type != PT_LOAD ||
        (header.p_flags & PF_X) == 0 || header.p_offset > size ||
        header.p_filesz > size - header.p_offset)
      continue;
    out.push_back({header.p_vaddr, {file + header.p_offset, header.p_filesz}});
  }
  return out;
}

// Adds both functions for each place where SafeFetchN follows SafeFetch32. SafeFetchN's code
// alone is ambiguous: a getter with a function after it that returns its second argument has it.
void AddPairs(const Segment& segment, const Assembly& assembly, std::vector<ElfFunction>& out) {
  const auto& [address, bytes] = segment;
  const size_t size_32 = assembly.fetch_32.size(), size_n = assembly.fetch_n.size();
  for (size_t at = 0; (at = bytes.find(assembly.fetch_32, at)) != bytes.npos; at++) {
    const std::string_view behind = bytes.substr(at + size_32, kMostPadding + size_n);
    const size_t padding = behind.find(assembly.fetch_n);
    if ((address + at) % assembly.alignment != 0 || padding == behind.npos ||
        padding % assembly.alignment != 0)
      continue;
    out.push_back({kSafeFetch32, address + at, size_32});
    out.push_back({kSafeFetchN, address + at + size_32 + padding, size_n});
  }
}

}  // namespace

std::vector<ElfFunction> FindSafeFetchCode(const std::string& path) {
  std::vector<ElfFunction> out;
  const ElfFile file(path);
  for (const Assembly& assembly : kAssemblies)
    if (assembly.machine == file.machine())
      for (const Segment& segment : ExecutableSegments(file.get()))
        AddPairs(segment, assembly, out);
  if (out.size() != 2) out.clear();
  return out;
}

uint64_t SafeFetchInStub(const MemoryReader& memory, uint16_t machine, uint64_t begin,
                         uint64_t end) {
  uint8_t bytes[kMostStub];
  const uint64_t size = end <= begin ? 0 : std::min(end - begin, kMostStub);
  if (size == 0 || !memory.ReadBytes(begin, bytes, static_cast<int>(size))) return 0;
  const std::string_view stub(reinterpret_cast<const char*>(bytes), size);
  for (const Assembly& assembly : kAssemblies)
    if (const size_t at = stub.find(assembly.stub_n);
        assembly.machine == machine && at != stub.npos && at % assembly.alignment == 0)
      return begin + at;
  return 0;
}

}  // namespace walkhammer
