// SPDX-License-Identifier: Apache-2.0
// CoreFile and SignalContexts on a core that the test writes itself.
#include "harness/crash/core/core_file.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <sys/procfs.h>
#include <sys/stat.h>

#include <csignal>
#include <cstring>
#include <filesystem>

#include "harness/base/testing/fails_with.h"
#include "harness/base/testing/temporary_folder.h"
#include "harness/crash/core/core_import.h"
#include "harness/crash/core/signal_contexts.h"

namespace walkhammer {
namespace {

constexpr uint64_t kStack = 0x7f0000000000;
constexpr uint64_t kStackBytes = 0x4000;
constexpr uint64_t kCode = 0x7e0000000000;
constexpr uint64_t kSignalStack = 0x7d0000000000;

// A core of x86_64, or of aarch64, with one thread, a stack, a signal stack, and code that is not
// in the core.
class MadeUpCore {
 public:
  MadeUpCore() : stack_(kStackBytes / 8), signal_stack_(kStackBytes / 8) {}

  void Set(uint64_t address, uint64_t word) {
    std::vector<uint64_t>& words = address >= kStack ? stack_ : signal_stack_;
    words[(address - (address >= kStack ? kStack : kSignalStack)) / 8] = word;
  }
  // The kernel's frame at `at` of a signal that came at `pc`, with that sp and fp.
  void SignalFrame(uint64_t at, int signal, int code, uint64_t pc, uint64_t sp, uint64_t fp) {
    Set(at, kCode + 0x10);  // pretcode
    Set(at + 48 + 8 * 10, fp);
    Set(at + 48 + 8 * 15, sp);
    Set(at + 48 + 8 * 16, pc);
    Set(at + 48 + 8 * 18, 0x33);
    Set(at + 8 + 304, static_cast<uint32_t>(signal));
    Set(at + 8 + 304 + 8, static_cast<uint32_t>(code));
    Set(at + 8 + 304 + 16, 0xabc);
  }
  // Such a frame of aarch64, with the state of the processor `state` and 0x100 + N in each xN.
  void SignalFrameArm(uint64_t at, int signal, uint64_t pc, uint64_t sp, uint64_t state) {
    Set(at, static_cast<uint32_t>(signal));
    Set(at + 8, SEGV_MAPERR);
    Set(at + 16, 0xabc);
    const uint64_t registers = at + 128 + 168 + 8;
    for (uint64_t i = 0; i < 31; i++) Set(registers + 8 * i, 0x100 + i);
    Set(registers + 8 * 31, sp);
    Set(registers + 8 * 32, pc);
    Set(registers + 8 * 33, state);
  }
  // Writes the core; `most`: bytes that are kept of it.
  std::string Write(size_t most = SIZE_MAX) const {
    const std::string bytes = Bytes();
    return folder_.Write("core", bytes.substr(0, most));
  }
  std::string Bytes() const {
    constexpr size_t kRegisters = offsetof(prstatus_t, pr_reg);
    std::string status(kRegisters + 8 * 40, '\0');
    const int pid = 42;
    std::memcpy(status.data() + offsetof(prstatus_t, pr_pid), &pid, sizeof pid);
    for (uint64_t i = 0; other_registers_ && i < 34; i++) {
      const uint64_t value = 0x1000 + i;
      std::memcpy(status.data() + kRegisters + 8 * i, &value, sizeof value);
    }
    const uint64_t registers[] = {kCode + 4, sp_, fp_};
    const int x86[] = {16, 19, 4}, arm[] = {32, 31, 29};
    for (int i = 0; i < 3; i++)
      std::memcpy(status.data() + kRegisters + 8 * (machine_ == EM_AARCH64 ? arm : x86)[i],
                  &registers[i], 8);
    std::string note = Note(NT_PRSTATUS, status);
    if (!file_.empty()) note += Note(NT_FILE, MappedFile());
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_CORE;
    header.e_machine = machine_;
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof header;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 4;
    const uint64_t first = sizeof header + 4 * sizeof(Elf64_Phdr);
    Elf64_Phdr parts[4] = {
        {PT_NOTE, PF_R, first, 0, 0, note.size(), note.size(), 4},
        {PT_LOAD, PF_R | PF_W, first + note.size(), kSignalStack, 0, kStackBytes, kStackBytes, 1},
        {PT_LOAD, PF_R | PF_X, 0, kCode, 0, 0, 0x1000, 1},
        {PT_LOAD, PF_R | PF_W, first + note.size() + kStackBytes, kStack, 0, kStackBytes,
         kStackBytes, 1}};
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
    bytes.append(reinterpret_cast<const char*>(parts), sizeof parts);
    bytes += note;
    bytes.append(reinterpret_cast<const char*>(signal_stack_.data()), kStackBytes);
    bytes.append(reinterpret_cast<const char*>(stack_.data()), kStackBytes);
    return bytes;
  }
  uint64_t sp_ = kStack + 0x100, fp_ = kStack + 0x180;
  uint16_t machine_ = EM_X86_64;
  bool other_registers_ = false;  // register N of the note is 0x1000 + N; false: 0
  std::string file_;              // path of the file that is mapped at file_at_; empty: none
  uint64_t file_at_ = kCode, file_bytes_ = 0x1000;

 private:
  std::string MappedFile() const {
    const uint64_t words[] = {1, 0x1000, file_at_, file_at_ + file_bytes_, 0};
    return std::string(reinterpret_cast<const char*>(words), sizeof words) + file_ + '\0';
  }
  static std::string Note(uint32_t type, std::string_view content) {
    const Elf64_Nhdr header{5, static_cast<uint32_t>(content.size()), type};
    std::string note(reinterpret_cast<const char*>(&header), sizeof header);
    note += std::string("CORE\0\0\0\0", 8);
    note += content;
    note.resize((note.size() + 3) / 4 * 4);
    return note;
  }
  TemporaryFolder folder_;
  std::vector<uint64_t> stack_, signal_stack_;
};

std::unique_ptr<CoreFile> Open(const std::string& path) { return Must(CoreFile::Open(path, {})); }

std::vector<SignalContext> ContextsOf(const MadeUpCore& made) {
  const auto core = Open(made.Write());
  return SignalContextsOf(*core, core->threads().front());
}

TEST(CoreFile, ReadsThreadsAndMemory) {
  MadeUpCore made;
  made.Set(kStack, 0x1234);
  made.Set(kStack + kStackBytes - 8, 0x5678);
  const std::string path = made.Write();
  EXPECT_TRUE(CoreFile::IsCore(path));
  const auto core = Open(path);
  ASSERT_EQ(core->threads().size(), 1U);
  EXPECT_EQ(core->threads()[0].tid, 42);
  EXPECT_EQ(core->threads()[0].pc, kCode + 4);
  EXPECT_EQ(core->threads()[0].sp, made.sp_);
  EXPECT_EQ(core->threads()[0].fp, made.fp_);
  uint64_t word = 0;
  EXPECT_TRUE(core->ReadWord(kStack, word));
  EXPECT_EQ(word, 0x1234U);
  EXPECT_TRUE(core->ReadWord(kStack + kStackBytes - 8, word));
  EXPECT_EQ(word, 0x5678U);
  EXPECT_FALSE(core->ReadWord(kStack + kStackBytes, word));
  EXPECT_FALSE(core->ReadWord(kStack - 8, word));
  EXPECT_FALSE(core->ReadWord(kCode, word));  // the kernel leaves code out; no file is named
  EXPECT_TRUE(core->AreaOf(kCode)->executable);
  EXPECT_EQ(core->AreaOf(kStack - 1), nullptr);
}

TEST(CoreFile, ReadsCodeFromTheFileThatWasMapped) {
  const TemporaryFolder folder;
  MadeUpCore made;
  made.file_ = "/nowhere/libcode.so";
  uint64_t word = 0;
  EXPECT_FALSE(Open(made.Write())->ReadWord(kCode, word));
  const std::string file = folder.Write("libcode.so", "0123456789");
  const auto core = Must(CoreFile::Open(made.Write(), {folder.path()}));
  ASSERT_TRUE(core->ReadWord(kCode + 2, word));
  EXPECT_EQ(std::memcmp(&word, "23456789", sizeof word), 0);
  EXPECT_FALSE(core->ReadWord(kCode + 3, word));  // beyond the file's end
  std::filesystem::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);  // nobody writes into it
  EXPECT_FALSE(CoreFile::Open(made.Write(), {folder.path()}).value()->ReadWord(kCode, word));
}

// The core has the first page of the file: /nowhere/libcode.so, mapped where the signal stack is.
TEST(CoreFile, ReadsNothingFromAnotherBuild) {
  const TemporaryFolder other, right;
  MadeUpCore made;
  made.file_ = "/nowhere/libcode.so";
  made.file_at_ = kSignalStack;
  made.file_bytes_ = kStackBytes + 0x1000;  // the last page is not in the core
  std::string content(kStackBytes + 0x1000, 'x');
  std::memcpy(content.data(), ELFMAG, SELFMAG);
  for (uint64_t at = 0; at < 0x1000; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, content.data() + at, 8);
    made.Set(kSignalStack + at, word);
  }
  right.Write("libcode.so", content);
  content[100] = 'y';
  other.Write("libcode.so", content);
  uint64_t word = 0;
  // The first folder that has the file counts.
  const auto same = Must(CoreFile::Open(made.Write(), {"/nowhere", right.path(), other.path()}));
  EXPECT_TRUE(same->IsSameFile(same->mappings()[0]));
  EXPECT_TRUE(same->ReadWord(kSignalStack + kStackBytes, word));
  const auto differs = Must(CoreFile::Open(made.Write(), {other.path(), right.path()}));
  EXPECT_FALSE(differs->IsSameFile(differs->mappings()[0]));
  EXPECT_FALSE(differs->ReadWord(kSignalStack + kStackBytes, word));
  EXPECT_TRUE(differs->ReadWord(kSignalStack, word));  // the core's own
}

TEST(CoreFile, ReadsRegistersOfWalks) {
  MadeUpCore made;
  made.other_registers_ = true;
  const auto core = Open(made.Write());
  const JavaRegisters& java = core->threads()[0].java;
  // Register N of the note is 0x1000 + N; the kernel's order is that of user_regs_struct.
  const uint64_t general[] = {10, 11, 12, 5, 0, 0, 13, 14, 9, 8, 7, 6, 3, 2, 1, 0};
  for (int i = 0; i < 16; i++) {
    if (i == 4 || i == 5) continue;  // sp and fp
    EXPECT_EQ(java.general[i], 0x1000 + general[i]) << i;
  }
  EXPECT_EQ(java.general[4], made.sp_);
  EXPECT_EQ(java.general[5], made.fp_);
  EXPECT_EQ(java.byte_code, 0x1000U + 2);  // r13
  EXPECT_EQ(java.sender_sp, 0x1000U + 2);
  EXPECT_EQ(java.return_pc, 0x1000U + 10);
  EXPECT_EQ(java.exception_pc, 0x1000U + 12);
  EXPECT_EQ(java.first_argument, 0x1000U + 14);
  EXPECT_EQ(core->threads()[0].lr, 0U);
  made.machine_ = EM_AARCH64;
  const auto arm = Open(made.Write());
  EXPECT_EQ(arm->threads()[0].lr, 0x1000U + 30);
  EXPECT_EQ(arm->threads()[0].java.byte_code, 0x1000U + 22);
  EXPECT_EQ(arm->threads()[0].java.first_argument, 0x1000U);
}

TEST(CoreFile, KnowsThatItIsCutOff) {
  const MadeUpCore made;
  EXPECT_FALSE(Open(made.Write())->is_cut_off());
  EXPECT_TRUE(Open(made.Write(made.Bytes().size() - 1))->is_cut_off());
}

TEST(CoreFile, RefusesWhatIsNoCore) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("no-core", "no core");
  EXPECT_FALSE(CoreFile::IsCore(path));
  EXPECT_THAT(CoreFile::Open(path, {}), FailsWith(ExitCode::kBadInput));
  EXPECT_FALSE(CoreFile::IsCore("/proc/self/exe"));
  EXPECT_FALSE(CoreFile::Open(folder.path(), {}).ok());
  EXPECT_THAT(CoreFile::Open(folder.path() + "/none", {}),
              FailsWith(ExitCode::kBadInput, testing::HasSubstr("No such file")));
}

TEST(CoreFile, SurvivesCoresThatAreCutOff) {
  MadeUpCore made;
  made.SignalFrame(kStack + 0x400, SIGPROF, SI_TKILL, kCode + 0x20, kStack + 0x2000,
                   kStack + 0x2040);
  const size_t size = made.Bytes().size();
  int opened = 0;
  for (size_t most = 0; most < size; most += size / 200) {
    const auto core = CoreFile::Open(made.Write(most), {});
    if (!core.ok()) continue;
    opened++;
    EXPECT_LE(SignalContextsOf(*core.value(), core.value()->threads().front()).size(), 1U);
  }
  EXPECT_GT(opened, 0);
  EXPECT_LT(opened, 200);
}

TEST(SignalContexts, FindsTheFaultAndTheSignalThatItCameIn) {
  MadeUpCore made;
  made.SignalFrame(kStack + 0x200, SIGSEGV, SEGV_MAPERR, kCode + 0x30, kStack + 0x600,
                   kStack + 0x640);
  made.SignalFrame(kStack + 0x800, SIGPROF, SI_TKILL, kCode + 0x40, kStack + 0x2000,
                   kStack + 0x2040);
  const auto found = ContextsOf(made);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].signal, SIGSEGV);
  EXPECT_EQ(found[0].code, SEGV_MAPERR);
  EXPECT_EQ(found[0].address, 0xabcU);
  EXPECT_TRUE(found[0].is_fatal());
  EXPECT_EQ(found[1].signal, SIGPROF);
  EXPECT_FALSE(found[1].is_fatal());
  EXPECT_EQ(found[1].pc, kCode + 0x40);
  EXPECT_EQ(found[1].sp, kStack + 0x2000);
  EXPECT_EQ(found[1].fp, kStack + 0x2040);
}

TEST(SignalContexts, OfAarch64) {
  MadeUpCore made;
  made.machine_ = EM_AARCH64;
  made.SignalFrameArm(kStack + 0x200, SIGSEGV, kCode + 0x30, kStack + 0x1000, 0x60000000);
  EXPECT_EQ(Open(made.Write())->threads().front().sp, kStack + 0x100);
  const auto found = ContextsOf(made);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].frame, kStack + 0x200);
  EXPECT_EQ(found[0].signal, SIGSEGV);
  EXPECT_EQ(found[0].code, SEGV_MAPERR);
  EXPECT_EQ(found[0].address, 0xabcU);
  EXPECT_EQ(found[0].pc, kCode + 0x30);
  EXPECT_EQ(found[0].sp, kStack + 0x1000);
  EXPECT_EQ(found[0].fp, 0x100U + 29);
  ASSERT_EQ(found[0].registers.size(), 33U);
  EXPECT_EQ(found[0].registers[30].name, "x30");
  EXPECT_EQ(found[0].registers[30].value, 0x100U + 30);
  for (const auto& told : found[0].registers) EXPECT_EQ(told.line, 0) << told.name;
  EXPECT_EQ(found[0].registers[31].name, "sp");
  EXPECT_EQ(found[0].registers[31].value, kStack + 0x1000);
  EXPECT_EQ(found[0].registers[32].name, "pc");
  EXPECT_EQ(found[0].registers[32].value, kCode + 0x30);
}

// The kernel's state has an exception level and a width that programs never have.
TEST(SignalContexts, OfAarch64AreThoseOfPrograms) {
  for (const uint64_t state : {uint64_t{0x60000005}, uint64_t{1} << 32}) {
    MadeUpCore made;
    made.machine_ = EM_AARCH64;
    made.SignalFrameArm(kStack + 0x200, SIGSEGV, kCode + 0x30, kStack + 0x1000, state);
    for (const SignalContext& context : ContextsOf(made))
      EXPECT_NE(context.frame, kStack + 0x200) << state;
  }
}

TEST(SignalContexts, GoesOnFromASignalStack) {
  MadeUpCore made;
  made.sp_ = kSignalStack + 0x100;
  made.SignalFrame(kSignalStack + 0x200, SIGSEGV, SEGV_ACCERR, kCode + 0x30, kStack + 0x600, 0);
  made.SignalFrame(kStack + 0x800, SIGPROF, SI_TKILL, kCode + 0x40, kStack + 0x2000, 0);
  const auto found = ContextsOf(made);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].signal, SIGPROF);
}

TEST(SignalContexts, TakesNoOtherWordsForAFrame) {
  MadeUpCore made;
  made.SignalFrame(kStack + 0x800, SIGPROF, SI_TKILL, kCode + 0x40, kStack + 0x2000, 0);
  made.Set(kStack + 0x800, 0x1000);  // leads to no code
  EXPECT_TRUE(ContextsOf(made).empty());
}

TEST(ImportCore, SaysThatNoJvmIsInTheCore) {
  EXPECT_THAT(ImportCore(MadeUpCore().Write(), "", {}), FailsWith(ExitCode::kUnable));
}

}  // namespace
}  // namespace walkhammer
