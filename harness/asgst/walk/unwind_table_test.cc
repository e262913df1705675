// SPDX-License-Identifier: Apache-2.0
// Unwinding of C code by synthetic tables and memory, by the rules of both architectures; and the
// rows of a real library.
#include "harness/asgst/walk/unwind_table.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "harness/asgst/testing/made_up_memory.h"
#include "harness/asgst/unwind/unwind_service.h"
#include "harness/base/testing/temporary_folder.h"
#include "harness/elf/elf_file.h"

namespace walkhammer::asgst {
namespace {

constexpr uint64_t kModule = 0x400000, kSp = 0x10000, kLimit = 0x20000;

class NativeUnwinderTest : public testing::Test {
 protected:
  static constexpr UnwindRow kRows[] = {
      {0x100, 8, UnwindRow::kSame, -8, UnwindRow::kSp},                // before anything is pushed
      {0x104, 32, -16, -8, UnwindRow::kSp},                            // fp and more are pushed
      {0x110, 16, -16, -8, UnwindRow::kFp},                            // a frame of any size
      {0x180, 0, 0, 0, UnwindRow::kUnknown},                           // no rule
      {0x200, 0, UnwindRow::kSame, UnwindRow::kSame, UnwindRow::kSp},  // aarch64: nothing pushed
      {0x280, 16, -24, -8, UnwindRow::kSp},  // fp is popped, a register pushed before fp is not
      {0x300, 16, UnwindRow::kSame, UnwindRow::kGone, UnwindRow::kSp},  // where threads begin
  };

  void SetUp() override { tables_.Publish(&modules_); }

  // Moves from `at` to its caller, in frames that end at kLimit. False: no caller found.
  bool CallerOf(Registers at, bool top, const CodeRules& rules = kX86_64Rules) {
    NativeUnwinder walk(&tables_, rules, memory_);
    walk.Begin(at, top, kLimit);
    const bool found = walk.Up();
    caller_ = walk.at();
    has_guessed_ = walk.has_guessed();
    return found;
  }
  void ExpectCaller(const Registers& at, bool top, const Registers& caller,
                    const CodeRules& rules = kX86_64Rules) {
    ASSERT_TRUE(CallerOf(at, top, rules));
    EXPECT_EQ(caller_.pc, caller.pc);
    EXPECT_EQ(caller_.sp, caller.sp);
    EXPECT_EQ(caller_.fp, caller.fp);
  }
  Registers At(uint64_t offset) const { return {kModule + offset, kSp, kSp + 0x40, 0}; }

  UnwindModule module_{kModule, kModule + 0x1000, kRows};
  std::span<const UnwindModule> modules_{&module_, 1};
  UnwindTables tables_;
  MadeUpMemory memory_;
  Registers caller_{};
  bool has_guessed_ = false;
};

TEST_F(NativeUnwinderTest, BeforeTheFrameIsSetUp) {
  memory_.Put(kSp, 0x1234);
  ExpectCaller(At(0x100), true, {0x1234, kSp + 8, kSp + 0x40, 0});  // fp is still the caller's
  EXPECT_FALSE(has_guessed_);
}

TEST_F(NativeUnwinderTest, AModuleReachesFromItsFirstByteToBeforeItsEnd) {
  UnwindRow row;
  EXPECT_FALSE(tables_.Find(kModule - 1, row));
  EXPECT_FALSE(tables_.Find(kModule + 0x1000, row));
  // Before the first row there is none.
  for (const auto& [offset, begin] :
       {std::pair{0U, 0U}, {0xff, 0}, {0x100, 0x100}, {0xfff, 0x300}}) {
    EXPECT_TRUE(tables_.Find(kModule + offset, row)) << offset;
    EXPECT_EQ(row.begin, begin) << offset;
  }
}

TEST_F(NativeUnwinderTest, BySpAndByFp) {
  memory_.Put(kSp + 16, 0xfff0);
  memory_.Put(kSp + 24, 0x1234);
  ExpectCaller(At(0x104), true, {0x1234, kSp + 32, 0xfff0, 0});
  memory_.Put(kSp + 0x40, 0xaaa0);
  memory_.Put(kSp + 0x48, 0x5678);
  ExpectCaller(At(0x110), true, {0x5678, kSp + 0x50, 0xaaa0, 0});
}

// pop rbx; pop rbp; pop r12; ret: after the pop, the row still says where rbp was saved.
TEST_F(NativeUnwinderTest, APoppedFramePointer) {
  memory_.Put(kSp + 8, 0x1234);
  ExpectCaller(At(0x280), true, {0x1234, kSp + 16, kSp + 0x40, 0});  // in its register
  memory_.Put(kSp - 8, 0xaaa0);
  // Where the note says, in the red zone.
  ExpectCaller(At(0x280), true, {0x1234, kSp + 16, 0xaaa0, 0});
  EXPECT_FALSE(CallerOf(At(0x284), false)) << "who has called has not popped it";
}

// A call may be a function's last instruction: the row of a return address is that of the byte
// before.
TEST_F(NativeUnwinderTest, CallersAreLookedUpBeforeTheirReturnAddress) {
  memory_.Put(kSp + 16, 0xfff0);
  memory_.Put(kSp + 24, 0x1234);
  ExpectCaller(At(0x110), false, {0x1234, kSp + 32, 0xfff0, 0});  // by the row of 0x104
}

TEST_F(NativeUnwinderTest, ByFramePointersWhereNothingIsSaid) {
  memory_.Put(kSp + 0x40, 0xaaa0);
  memory_.Put(kSp + 0x48, 0x5678);
  for (const Registers at : {At(0x190), Registers{0x9999999, kSp, kSp + 0x40, 0}}) {
    ExpectCaller(at, true, {0x5678, kSp + 0x50, 0xaaa0, 0});
    EXPECT_TRUE(has_guessed_);
  }
}

TEST_F(NativeUnwinderTest, TheLinkRegister) {
  constexpr uint64_t kSigned = 0x00ab'0000'0000'1234;
  Registers at = At(0x200);
  at.lr = kSigned;
  ExpectCaller(at, true, {0x1234, kSp, kSp + 0x40, 0}, kAarch64Rules);  // without its signature
  EXPECT_FALSE(CallerOf(at, false, kAarch64Rules)) << "a caller's link register is gone";
  EXPECT_FALSE(CallerOf(at, true)) << "x86_64 has none";
}

TEST_F(NativeUnwinderTest, ThreadsBeginSomewhere) {
  memory_.Put(kSp + 8, 0x1234);
  EXPECT_FALSE(CallerOf(At(0x300), true));
}

TEST_F(NativeUnwinderTest, DamageEndsTheWalk) {
  EXPECT_FALSE(CallerOf(At(0x100), true)) << "memory that cannot be read";
  memory_.Put(kSp, 0);
  EXPECT_FALSE(CallerOf(At(0x100), true)) << "a return to nowhere";
  memory_.Put(kSp, 0x1234);
  Registers at = At(0x110);
  for (const uint64_t fp : {kSp - 64, kLimit, kSp + 4, ~uint64_t{7}}) {
    at.fp = fp;
    EXPECT_FALSE(CallerOf(at, true)) << fp;
  }
  memory_.Put(kSp - 8, 0xaaa0);
  memory_.Put(kSp, 0x1234);
  at = {0x9999999, kSp, kSp - 8, 0};
  EXPECT_FALSE(CallerOf(at, true)) << "frame pointers go upwards";
}

TEST_F(NativeUnwinderTest, TellsWhenItMetUnknownCode) {
  UnwindRow row;
  EXPECT_TRUE(tables_.Find(kModule + 0x50, row));
  EXPECT_EQ(row.base, UnwindRow::kUnknown) << "before the first row";
  EXPECT_FALSE(tables_.missed());
  EXPECT_FALSE(tables_.Find(kModule + 0x1000, row));
  EXPECT_TRUE(tables_.TakeMissed());
  EXPECT_FALSE(tables_.TakeMissed());
}

// The loaded library `name`, by one of its functions.
Dl_info Library(const char* name, const char* function) {
  Dl_info info{};
  EXPECT_NE(dladdr(dlsym(dlopen(name, RTLD_NOW), function), &info), 0) << name;
  return info;
}

ElfSection SectionNamed(const ElfFile& file, const std::string& name) {
  size_t names = 0;
  EXPECT_EQ(elf_getshdrstrndx(file.get(), &names), 0);
  for (const ElfSection& section : file.Sections())
    if (elf_strptr(file.get(), names, section.header.sh_name) == name) return section;
  ADD_FAILURE() << "no " << name;
  return {};
}

// HashOfTable of a loaded library.
uint64_t HashOf(const Dl_info& library) {
  const GElf_Shdr table = SectionNamed(ElfFile(library.dli_fname), ".eh_frame_hdr").header;
  return HashOfTable(static_cast<const char*>(library.dli_fbase) + table.sh_addr, table.sh_size);
}

// The C library, by the hash of the loaded library and by its file alone: the same rows, among them
// the row with which x86_64 functions begin. Another file than the loaded library has no rows.
TEST(UnwindRowsTest, OfTheCLibrary) {
  Dl_info info{};
  ASSERT_NE(dladdr(reinterpret_cast<void*>(&qsort), &info), 0);
  const auto low = reinterpret_cast<uint64_t>(info.dli_fbase);
  const uint64_t hash = HashOf(info);
  const std::vector<UnwindRow> rows = ReadUnwindRows(info.dli_fname, 0, hash);
  EXPECT_GT(rows.size(), 10'000U);
  EXPECT_EQ(ReadUnwindRows(info.dli_fname, 0, 0).size(), rows.size());
  EXPECT_TRUE(ReadUnwindRows(info.dli_fname, 0, hash + 2).empty());
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end(),
                             [](const auto& a, const auto& b) { return a.begin < b.begin; }));
  UnwindTables tables;
  const UnwindModule module{low, low + (1 << 24), rows};
  const std::span<const UnwindModule> modules(&module, 1);
  tables.Publish(&modules);
  UnwindRow row;
  EXPECT_TRUE(tables.Find(reinterpret_cast<uint64_t>(&qsort), row));
  EXPECT_EQ(row.base, UnwindRow::kSp);
  EXPECT_EQ(row.fp, UnwindRow::kSame);
  EXPECT_FALSE(tables.IsInUse());
  EXPECT_TRUE(ReadUnwindRows("/no/such/library.so", 0, 0).empty());
  EXPECT_TRUE(ReadUnwindRows("/etc/passwd", 0, 0).empty());
  // Another library does not have the hash.
  const Dl_info math = Library("libm.so.6", "sin");
  EXPECT_FALSE(ReadUnwindRows(math.dli_fname, 0, 0).empty());
  EXPECT_TRUE(ReadUnwindRows(math.dli_fname, 0, hash).empty());
}

// The entries of the procedure linkage table, which are described all at once by an expression of
// the pc: jmp [rip+N]; push N; jmp. They have no frame but, at the last jump, one word.
TEST(UnwindRowsTest, OfTheProcedureLinkageTable) {
  constexpr uint64_t kEntry = 16, kPushed = 11;
  // By its handle: a sanitizer may have a qsort of its own.
  const Dl_info info = Library("libc.so.6", "qsort");
  const ElfFile library(info.dli_fname);
  if (library.machine() != EM_X86_64) GTEST_SKIP() << "x86_64 only";
  const std::vector<UnwindRow> rows = ReadUnwindRows(info.dli_fname, 0, 0);
  const auto cfa_at = [&](uint64_t offset) {
    const auto next = std::upper_bound(rows.begin(), rows.end(), offset,
                                       [](uint64_t a, const UnwindRow& r) { return a < r.begin; });
    const UnwindRow row = next == rows.begin() ? UnwindRow{} : next[-1];
    EXPECT_EQ(row.base, UnwindRow::kSp) << offset;
    EXPECT_EQ(row.fp, UnwindRow::kSame) << offset;
    EXPECT_EQ(row.ra, -8) << offset;
    return row.cfa;
  };
  const GElf_Shdr table = SectionNamed(library, ".plt").header;
  const uint64_t begin = table.sh_addr, end = begin + table.sh_size;
  ASSERT_GT(end - begin, 3 * kEntry);
  // The first entry, which pushes another word, has rows of its own.
  EXPECT_EQ(cfa_at(begin), 16);
  for (uint64_t at = begin + kEntry; at < end; at += kEntry) {
    EXPECT_EQ(cfa_at(at), 8);
    EXPECT_EQ(cfa_at(at + kPushed - 1), 8);
    EXPECT_EQ(cfa_at(at + kPushed), 16);
    EXPECT_EQ(cfa_at(at + kEntry - 1), 16);
  }
}

// JNI libraries are often deleted after they are loaded. All that is left of this library is in
// memory, without the section headers, which its ELF header places far away.
TEST(UnwindServiceTest, ALibraryWhoseFileIsGoneHasNoRows) {
  const TemporaryFolder folder;
  const std::string path = folder.Under("gone.so");
  std::filesystem::copy_file(Library("libm.so.6", "sin").dli_fname, path);
  Elf64_Ehdr header;
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  header.e_shoff = uint64_t{1} << 40;
  file.seekp(0);
  file.write(reinterpret_cast<char*>(&header), sizeof header);
  file.close();
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::filesystem::remove(path);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto function = reinterpret_cast<uint64_t>(dlsym(library, "sin"));
  StartUnwindService();
  ASSERT_TRUE(WaitForTables(60'000));
  UnwindRow row;
  EXPECT_TRUE(LiveTables().Find(function, row)) << "it is known";
  EXPECT_EQ(row.base, UnwindRow::kUnknown);
  EXPECT_TRUE(LiveTables().Find(reinterpret_cast<uint64_t>(&qsort), row));
  EXPECT_NE(row.base, UnwindRow::kUnknown) << "others have theirs";
}

// Bytes that are allocated now.
size_t InUse() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Programs load and unload libraries for days.
TEST(UnwindServiceTest, LibrariesThatAreGoneCostNoMemory) {
  constexpr int kFirst = 3, kRounds = 12;
  const TemporaryFolder folder;
  Dl_info info = Library("libm.so.6", "sin");
  StartUnwindService();
  ASSERT_TRUE(WaitForTables(60'000));
  const std::string libm = info.dli_fname;
  const size_t rows = ReadUnwindRows(libm, 0, 0).size() * sizeof(UnwindRow);
  ASSERT_GT(rows, 10'000U);
  size_t before = 0;
  for (int round = 0; round < kRounds; round++) {
    if (round == kFirst) before = InUse();
    // Under a new name each time, as JNI libraries are unpacked.
    const std::string path = folder.Under(std::to_string(round) + ".so");
    std::filesystem::copy_file(libm, path);
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    const auto function = reinterpret_cast<uint64_t>(dlsym(library, "sin"));
    UnwindRow row;
    for (int i = 0; i < 1'000 && !LiveTables().Find(function, row); i++) {
      AskForTables();
      usleep(10'000);
    }
    EXPECT_NE(row.base, UnwindRow::kUnknown) << "its rows are read";
    // The next one comes to another address, which the tables do not know.
    const auto size = std::filesystem::file_size(path);
    dladdr(reinterpret_cast<void*>(function), &info);
    dlclose(library);
    ASSERT_EQ(mmap(info.dli_fbase, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
              info.dli_fbase);
    std::filesystem::remove(path);
  }
  EXPECT_LT(InUse(), before + 2 * rows) << "the rows of one take " << rows;
}

}  // namespace
}  // namespace walkhammer::asgst
