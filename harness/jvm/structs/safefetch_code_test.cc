// SPDX-License-Identifier: Apache-2.0
#include "harness/jvm/structs/safefetch_code.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <fstream>

#include "harness/base/testing/temporary_folder.h"
#include "harness/jvm/images/jdk.h"

namespace walkhammer {
namespace {

namespace fs = std::filesystem;

struct Piece {
  uint32_t flags;
  std::string bytes;
};

// Each architecture's SafeFetch assembly, as `objdump -d` shows it.
struct Arch {
  uint16_t machine;
  std::string fetch_32, fetch_n, stub, nop;
};

std::string Words(std::initializer_list<uint32_t> words) {
  std::string out;
  for (const uint32_t word : words)
    for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(word >> shift);
  return out;
}

Arch X86() {
  return {EM_X86_64, std::string("\x8b\x07\xc3\x89\xf0\xc3", 6),
          std::string("\x48\x8b\x07\xc3\x48\x89\xf0\xc3", 8), "\x48\x8b\x37\x48\x8b\xc6\xc3",
          "\x90"};
}
Arch Aarch64() {
  return {EM_AARCH64, Words({0xb9400000, 0xd65f03c0, 0xaa0103e0, 0xd65f03c0}),
          Words({0xf9400000, 0xd65f03c0, 0xaa0103e0, 0xd65f03c0}),
          Words({0xf9400001, 0xaa0103e0, 0xd65f03c0}), Words({0xd503201f})};
}

std::string Times(size_t count, const std::string& text) {
  std::string out;
  for (size_t i = 0; i < count; i++) out += text;
  return out;
}

template <typename T>
void Append(std::string& out, const T& object) {
  out.append(reinterpret_cast<const char*>(&object), sizeof object);
}

class SafeFetchCodeTest : public testing::TestWithParam<Arch (*)()> {
 protected:
  static constexpr uint64_t kBase = 0x10000;  // of the first segment; its bytes follow the headers
  static constexpr uint64_t kStep = 0x10000;  // from one segment to the next

  // An ELF file with these segments and without sections, which FindSafeFetchCode must not need.
  std::string Make(const std::vector<Piece>& pieces) const {
    Elf64_Ehdr header = {};
    std::copy_n(ELFMAG, SELFMAG, header.e_ident);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_machine = arch_.machine;
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof header;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = static_cast<uint16_t>(pieces.size());
    std::string file, bytes;
    Append(file, header);
    const uint64_t begin = sizeof header + pieces.size() * sizeof(Elf64_Phdr);
    for (size_t i = 0; i < pieces.size(); i++) {
      Elf64_Phdr segment = {};
      segment.p_type = PT_LOAD;
      segment.p_flags = pieces[i].flags;
      segment.p_offset = begin + bytes.size();
      segment.p_vaddr = kBase + i * kStep;
      segment.p_filesz = segment.p_memsz = pieces[i].bytes.size();
      Append(file, segment);
      bytes += pieces[i].bytes;
    }
    return file + bytes;
  }
  std::vector<ElfFunction> FindIn(const std::string& file) const {
    std::ofstream(path_, std::ios::binary) << file;
    return FindSafeFetchCode(path_);
  }
  std::vector<ElfFunction> Find(const std::vector<Piece>& pieces) const {
    return FindIn(Make(pieces));
  }
  std::string Both(size_t padding = 0) const {
    return arch_.fetch_32 + Times(padding, arch_.nop) + arch_.fetch_n;
  }
  std::string Nops(size_t count) const { return Times(count, arch_.nop); }

  const Arch arch_ = GetParam()();
  const TemporaryFolder folder_;
  const std::string path_ = folder_.Under("code");
};

INSTANTIATE_TEST_SUITE_P(Both, SafeFetchCodeTest, testing::Values(X86, Aarch64),
                         [](const auto& info) {
                           return info.param().machine == EM_X86_64 ? "x86_64" : "aarch64";
                         });

constexpr uint32_t kCode = PF_R | PF_X;

TEST_P(SafeFetchCodeTest, StandsAtItsAddresses) {
  for (const size_t padding : {0, 1, 12}) {
    const auto found = Find({{PF_R, Nops(5)}, {kCode, Nops(3) + Both(padding) + Nops(7)}});
    ASSERT_EQ(found.size(), 2u) << padding;
    const uint64_t fetch_32 = kBase + kStep + 3 * arch_.nop.size();
    EXPECT_EQ(found[0].name, "SafeFetch32_impl");
    EXPECT_EQ(found[0].address, fetch_32);
    EXPECT_EQ(found[0].size, arch_.fetch_32.size());
    EXPECT_EQ(found[1].name, "SafeFetchN_impl");
    EXPECT_EQ(found[1].address, fetch_32 + arch_.fetch_32.size() + padding * arch_.nop.size());
    EXPECT_EQ(found[1].size, arch_.fetch_n.size());
  }
}

TEST_P(SafeFetchCodeTest, AtTheEndsOfASegment) {
  EXPECT_EQ(Find({{kCode, Both()}}).size(), 2u);
  EXPECT_TRUE(Find({{kCode, Both().substr(0, Both().size() - 1)}}).empty());
  EXPECT_TRUE(Find({{kCode, arch_.fetch_32}, {kCode, arch_.fetch_n}}).empty());
}

// In each aarch64 build some getters are followed by a function that returns its second argument.
TEST_P(SafeFetchCodeTest, OneOfTheTwoElsewhereIsNothing) {
  const std::string far = Nops(200);
  EXPECT_EQ(Find({{kCode, arch_.fetch_n + far + Both() + far + arch_.fetch_n + far +
                              arch_.fetch_32 + far}})
                .size(),
            2u);
  EXPECT_TRUE(Find({{kCode, arch_.fetch_32 + far + arch_.fetch_n}}).empty());
  EXPECT_TRUE(Find({{kCode, arch_.fetch_n + arch_.fetch_32}}).empty());
}

TEST_P(SafeFetchCodeTest, TwiceIsAmbiguous) {
  EXPECT_TRUE(Find({{kCode, Both() + Nops(100) + Both()}}).empty());
  EXPECT_TRUE(Find({{kCode, Both()}, {kCode, Both()}}).empty());
}

TEST_P(SafeFetchCodeTest, DataIsNoCode) {
  EXPECT_TRUE(Find({{PF_R | PF_W, Both()}, {kCode, Nops(9)}}).empty());
  EXPECT_EQ(Find({{PF_R | PF_W, Both()}, {kCode, Both()}}).size(), 2u);
}

TEST_P(SafeFetchCodeTest, EachByteCounts) {
  for (size_t i = 0; i < Both().size(); i++) {
    std::string code = Both();
    code[i] = static_cast<char>(code[i] ^ 1);
    EXPECT_TRUE(Find({{kCode, code}}).empty()) << "byte " << i;
  }
}

TEST_P(SafeFetchCodeTest, InstructionsLieAsTheArchitectureHasThem) {
  const bool anywhere = arch_.machine == EM_X86_64;
  EXPECT_EQ(Find({{kCode, "\x90" + Both()}}).empty(), !anywhere);
  EXPECT_EQ(Find({{kCode, arch_.fetch_32 + "\x90" + arch_.fetch_n}}).empty(), !anywhere);
}

TEST_P(SafeFetchCodeTest, OtherArchitecturesCodeIsNothing) {
  const Arch other = arch_.machine == EM_X86_64 ? Aarch64() : X86();
  EXPECT_TRUE(Find({{kCode, other.fetch_32 + other.fetch_n}}).empty());
}

TEST_P(SafeFetchCodeTest, DamagedFiles) {
  const std::string file = Make({{kCode, Both()}});
  EXPECT_TRUE(FindSafeFetchCode(path_ + "-is-not-there").empty());
  for (size_t size = 0; size < file.size(); size++)
    EXPECT_TRUE(FindIn(file.substr(0, size)).empty()) << "cut to " << size;
  for (size_t i = 0; i < sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr); i++) {
    std::string damaged = file;
    damaged[i] = static_cast<char>(~damaged[i]);
    FindIn(damaged);  // any result will do, but the call must return
  }
}

// Where `code`, in memory at `begin`, has SafeFetchN as a stub.
uint64_t InStub(const std::string& code, uint16_t machine, size_t size) {
  constexpr size_t kWord = 8;
  const std::string padded = code + std::string(kWord, '\0');  // whole words are read
  std::vector<uint64_t> words(padded.size() / kWord);
  std::copy_n(padded.data(), words.size() * kWord, reinterpret_cast<char*>(words.data()));
  const auto begin = reinterpret_cast<uint64_t>(words.data());
  const uint64_t found = SafeFetchInStub(kOwnMemory, machine, begin, begin + size);
  return found == 0 ? 0 : found - begin + 1;
}

TEST_P(SafeFetchCodeTest, AsAStub) {
  const uint16_t other = arch_.machine == EM_X86_64 ? Aarch64().machine : X86().machine;
  const std::string code = Nops(2) + arch_.stub + Nops(3);
  const size_t before = Nops(2).size(), needed = before + arch_.stub.size();
  EXPECT_EQ(InStub(code, arch_.machine, code.size()), before + 1);
  EXPECT_EQ(InStub(code, arch_.machine, needed), before + 1);
  EXPECT_EQ(InStub(code, arch_.machine, needed - 1), 0u) << "the return is not in the stub";
  EXPECT_EQ(InStub(code, arch_.machine, 0), 0u);
  EXPECT_EQ(InStub(code, other, code.size()), 0u);
  for (size_t i = before; i < needed; i++) {
    std::string damaged = code;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_EQ(InStub(damaged, arch_.machine, code.size()), 0u) << "byte " << i;
  }
}

TEST(SafeFetchOfRealJdks, CodeIsWhereTheSymbolsAre) {
  int compared = 0;
  for (const Jdk& jdk : FindJdks()) {
    SCOPED_TRACE(jdk.home);
    const auto symbols = FindFunctions(jdk.libjvm, {kSafeFetch32, kSafeFetchN});
    if (symbols.empty()) continue;  // stripped, or SafeFetch is in stubs
    const auto code = FindSafeFetchCode(jdk.libjvm);
    ASSERT_EQ(symbols.size(), 2u);
    ASSERT_EQ(code.size(), 2u);
    for (const ElfFunction& symbol : symbols)
      EXPECT_EQ(symbol.address, code[symbol.name == kSafeFetchN ? 1 : 0].address) << symbol.name;
    compared++;
  }
  if (compared == 0) GTEST_SKIP() << "no JDK with these symbols on this machine";
}

}  // namespace
}  // namespace walkhammer
