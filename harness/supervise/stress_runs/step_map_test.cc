// SPDX-License-Identifier: Apache-2.0
// StepMap over a synthetic StressState, whose code is bytes of the test process.
#include "harness/supervise/stress_runs/step_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>

#include "harness/base/testing/fails_with.h"
#include "harness/elf/modules.h"
#include "harness/guard/arch.h"
#include "harness/ipc/line_state.h"

namespace walkhammer {
namespace {

using ::testing::ElementsAre;
using Section = CodeSection;

constexpr uint16_t kX86 = 62, kArm64 = 183;  // e_machine

// A method as C2 compiles it, with two returns and a poll whose slow path is at the end.
constexpr uint8_t kMethod[] = {
    0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff,  // +0x00 mov [rsp - 0x14000], eax
    0x55,                                      // +0x07 push rbp
    0x48, 0x83, 0xec, 0x20,                    // +0x08 sub rsp, 0x20
    0x85, 0xf6,                                // +0x0c test esi, esi
    0x74, 0x0c,                                // +0x0e je +0x1c
    0x48, 0x83, 0xc4, 0x20,                    // +0x10 add rsp, 0x20
    0x5d,                                      // +0x14 pop rbp
    0x49, 0x3b, 0x27,                          // +0x15 cmp rsp, [r15]
    0x77, 0x11,                                // +0x18 ja +0x2b
    0xc3,                                      // +0x1a ret
    0x90,                                      // +0x1b nop
    0x48, 0x83, 0xc4, 0x08,                    // +0x1c add rsp, 8: not the frame's end
    0x48, 0x83, 0xec, 0x08,                    // +0x20 sub rsp, 8
    0xc9,                                      // +0x24 leave
    0xc3,                                      // +0x25 ret
    0xe8, 0x00, 0x00, 0x00, 0x00,              // +0x26 call +0x2b
    0x41, 0x52,                                // +0x2b push r10
    0xeb, 0xd1,                                // +0x2d jmp +0x0
};
constexpr int kComplete = 0x0c;
const auto kBegin = reinterpret_cast<uint64_t>(kMethod);

std::vector<Section> Sections(uint16_t machine, std::span<const uint8_t> bytes, uint64_t complete,
                              std::vector<uint64_t>* addresses = nullptr) {
  auto disassembler = Disassembler::For(machine);
  EXPECT_TRUE(disassembler.ok());
  int strayed = 0;
  const auto code = DecodeCode(disassembler.value(), bytes, 0, {}, strayed);
  EXPECT_EQ(strayed, 0);
  if (addresses != nullptr)
    for (const Instruction& at : code) addresses->push_back(at.address);
  return SectionsOf(code, complete);
}

TEST(CodeSections, X86) {
  constexpr Section kP = Section::kPrologue, kB = Section::kBody, kE = Section::kEpilogue;
  EXPECT_THAT(Sections(kX86, kMethod, kComplete),
              ElementsAre(kP, kP, kP, kB, kB,      // up to the je
                          kE, kE, kE, kE, kE,      // add .. ret
                          kB, kB, kB, kE, kE, kB,  // nop, add, sub, leave, ret, call
                          kE, kE));                // the poll's slow path
}

TEST(CodeSections, Arm64) {
  constexpr uint32_t kWords[] = {
      0xd10083ff,  // sub sp, sp, #0x20
      0xa9017bfd,  // stp x29, x30, [sp, #0x10]
      0xd503201f,  // nop
      0xa9417bfd,  // ldp x29, x30, [sp, #0x10]
      0x910083ff,  // add sp, sp, #0x20
      0xd65f03c0,  // ret
      0xd503201f,  // nop
  };
  constexpr Section kP = Section::kPrologue, kB = Section::kBody, kE = Section::kEpilogue;
  EXPECT_THAT(Sections(kArm64, {reinterpret_cast<const uint8_t*>(kWords), sizeof kWords}, 8),
              ElementsAre(kP, kP, kB, kE, kE, kE, kB));
}

// A stepped address is known to start an instruction, whatever bytes are ahead of it.
TEST(CodeSections, DecodingFindsBackAfterData) {
  constexpr uint8_t kBytes[] = {0x90, 0x48, 0xb8, 0x55, 0xc3};  // nop, part of a mov, push rbp, ret
  auto disassembler = Must(Disassembler::For(kX86));
  constexpr uint64_t kStarts[] = {0, 3, 4};
  int strayed = 0;
  std::vector<uint64_t> addresses;
  for (const Instruction& at : DecodeCode(disassembler, kBytes, 0, kStarts, strayed))
    addresses.push_back(at.address);
  EXPECT_THAT(addresses, ElementsAre(0, 3, 4));
  EXPECT_EQ(strayed, 1);
}

struct FreeState {
  void operator()(StressState* state) const { munmap(state, sizeof *state); }
};

class StepMapTest : public ::testing::Test {
 protected:
  void SetUp() override {
    void* memory = mmap(nullptr, sizeof(StressState), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    state_.reset(static_cast<StressState*>(memory));
    if (kElfMachine != kX86) GTEST_SKIP() << "its code is x86_64's";
  }

  CodeEntry& Code(SymbolKind kind, const char* name, uint64_t begin, uint64_t size, int level) {
    CodeEntry& entry = state_->code[state_->code_count.fetch_add(1)];
    entry.end = begin + size;
    entry.name = names_;
    std::strcpy(state_->names + names_, name);
    names_ += static_cast<uint32_t>(std::strlen(name)) + 1;
    entry.kind = static_cast<uint8_t>(kind);
    entry.level = static_cast<int8_t>(level);
    entry.begin.store(begin);
    return entry;
  }
  CodeEntry& Method(const uint8_t (&bytes)[sizeof kMethod]) {
    CodeEntry& entry =
        Code(SymbolKind::kNmethod, "a.B.c()V", reinterpret_cast<uint64_t>(bytes), sizeof bytes, 4);
    entry.frame_complete = kComplete;
    return entry;
  }
  void Steps(uint64_t pc, uint32_t answered, uint32_t failed, uint32_t wrong, int code = -5) {
    SteppedPc& place = state_->pcs[pcs_++];
    place.answered = answered;
    place.failed = failed;
    place.wrong = wrong;
    place.steps = answered + failed + wrong;
    place.code = code;
    place.word = 0x55;
    place.pc.store(pc);
  }
  void Map(pid_t pid = getpid()) {
    regions_.clear();
    ranges_.clear();
    CodeIndex index(*state_);
    StepMap(index, pid, AllWalkers()[0], 3, regions_, ranges_);
  }
  std::string Regions() const {
    std::string text;
    for (const StepRegionRow& row : regions_)
      text += row.kind + " " + row.name + " " + std::to_string(row.level) + ": " +
              std::to_string(row.pcs) + " " + std::to_string(row.steps) + " " +
              std::to_string(row.answered) + " " + std::to_string(row.failed) + " " +
              std::to_string(row.wrong) + "\n";
    return text;
  }
  std::string Ranges() const {
    std::string text;
    for (const StepRangeRow& row : ranges_)
      text += row.kind + " " + row.answer + " " + std::to_string(row.begin) + ".." +
              std::to_string(row.end) + " " + std::to_string(row.steps) + "\n";
    return text;
  }

  std::unique_ptr<StressState, FreeState> state_;
  uint32_t names_ = 1, pcs_ = 0;
  std::vector<StepRegionRow> regions_;
  std::vector<StepRangeRow> ranges_;
};

// What the calls say of the answers is counted beside what the walker answered.
TEST_F(StepMapTest, CallersAreProvenOrContradicted) {
  Method(kMethod);
  Steps(kBegin + 0x0c, 5, 0, 0);
  Steps(kBegin + 0x10, 6, 0, 0);
  state_->pcs[0].proven = 4;
  state_->pcs[1].proven = 3;
  state_->pcs[1].contradicted = 2;
  Map();
  StepRegionRow all;
  for (const StepRegionRow& row : regions_) {
    all.proven += row.proven;
    all.contradicted += row.contradicted;
    all.answered += row.answered;
  }
  EXPECT_EQ(all.proven, 7u);
  EXPECT_EQ(all.contradicted, 2u);
  EXPECT_EQ(all.answered, 11u);
  ASSERT_EQ(ranges_.size(), 1u);
  EXPECT_EQ(ranges_[0].answer, "contradicted");
  EXPECT_EQ(ranges_[0].begin, 0x10u);
  EXPECT_EQ(ranges_[0].steps, 2u);
}

TEST_F(StepMapTest, AMethodHasThreeParts) {
  Method(kMethod);
  Steps(kBegin + 0x15, 0, 4, 0);  // in any order
  Steps(kBegin + 0x00, 0, 5, 0);
  Steps(kBegin + 0x07, 0, 5, 0);
  Steps(kBegin + 0x08, 1, 0, 4);
  Steps(kBegin + 0x0c, 5, 0, 0);
  Steps(kBegin + 0x10, 5, 0, 0);
  Steps(kBegin + 0x14, 0, 5, 0);
  Steps(kBegin + 0x1a, 0, 5, 0);  // the instruction ahead of it was not stepped
  Map();
  EXPECT_EQ(Regions(),
            "body a.B.c()V 4: 1 5 5 0 0\n"
            "epilogue a.B.c()V 4: 4 19 5 14 0\n"
            "prologue a.B.c()V 4: 3 15 1 10 4\n");
  EXPECT_EQ(Ranges(),
            "epilogue -5 unknown_Java 20..24 9\n"
            "epilogue -5 unknown_Java 26..27 5\n"
            "prologue -5 unknown_Java 0..8 10\n"
            "prologue wrong 8..12 4\n");
  EXPECT_EQ(ranges_[2].disassembly, "+0x0  mov dword ptr [rsp - 0x14000], eax\n+0x7  push rbp");
  EXPECT_EQ(ranges_[2].cell, 3);
}

TEST_F(StepMapTest, CopiesOfAMethodAreOne) {
  static uint8_t copy[sizeof kMethod];
  std::memcpy(copy, kMethod, sizeof copy);
  Method(kMethod);
  Method(copy);
  for (const uint8_t* begin : {kMethod, static_cast<const uint8_t*>(copy)})
    for (uint64_t offset : {0x15, 0x18})  // the text of a jump shows its target as an offset
      Steps(reinterpret_cast<uint64_t>(begin) + offset, 0, 2, 0);
  Map();
  EXPECT_EQ(Regions(), "epilogue a.B.c()V 4: 4 8 0 8 0\n");
  ASSERT_EQ(ranges_.size(), 1u);
  EXPECT_EQ(ranges_[0].steps, 8u);
  EXPECT_EQ(ranges_[0].disassembly, "+0x15  cmp rsp, qword ptr [r15]\n+0x18  ja +0x2b");
}

TEST_F(StepMapTest, StubsCodeletsAndAdapters) {
  Code(SymbolKind::kStub, "StubRoutines (1)", kBegin, 0x20, -1);
  Code(SymbolKind::kStub, "arraycopy", kBegin + 8, 8, -1);
  Code(SymbolKind::kStub, "I2C/C2I adapters(0xb)@0x7f0000001234", kBegin + 0x20, 6, -1);
  Code(SymbolKind::kCodelet, "invokestatic", kBegin + 0x26, 8, -1);
  Steps(kBegin + 0x07, 1, 0, 0);
  Steps(kBegin + 0x08, 2, 0, 0);  // the smaller stub counts
  Steps(kBegin + 0x25, 0, 3, 0);
  Steps(kBegin + 0x26, 4, 0, 0);
  Map();
  EXPECT_EQ(Regions(),
            "adapter I2C/C2I adapters(0xb) -1: 1 3 0 3 0\n"
            "codelet invokestatic -1: 1 4 4 0 0\n"
            "stub StubRoutines (1) -1: 1 1 1 0 0\n"
            "stub arraycopy -1: 1 2 2 0 0\n");
}

TEST_F(StepMapTest, ACodeThatIsGoneGivesWayToWhatStandsThereNow) {
  Method(kMethod).gone = 1;
  CodeEntry& now =
      Code(SymbolKind::kNmethod, "now.There.is()I", kBegin - 16, sizeof kMethod + 16, 1);
  now.frame_complete = -1;  // never
  Steps(kBegin + 0x07, 1, 0, 0);
  Map();
  EXPECT_EQ(Regions(), "prologue now.There.is()I 1: 1 1 1 0 0\n");
}

// As CodeRecorder leaves an entry while it writes there.
TEST_F(StepMapTest, AnEntryThatIsBeingWrittenIsNoCode) {
  Code(SymbolKind::kStub, "half", 0, 0x40000, -1);
  Code(SymbolKind::kStub, "least", 1, 0xf, -1);
  Steps(0x1, 1, 0, 0);
  Steps(0x30000, 1, 0, 0);
  Map();
  EXPECT_EQ(Regions(), "native (no module) -1: 1 1 1 0 0\nstub least -1: 1 1 1 0 0\n");
}

TEST_F(StepMapTest, Libraries) {
  Module& module = state_->modules[0];
  std::strcpy(module.path, "/nowhere/libthing.so");
  module.start = module.bias = 0x10000;
  module.end = 0x20000;
  state_->module_count.store(1);
  Steps(0x10040, 0, 2, 0, -3);
  Steps(0x30000, 1, 0, 0);
  Map();
  EXPECT_EQ(Regions(), "native (no module) -1: 1 1 1 0 0\nnative libthing.so -1: 1 2 0 2 0\n");
  EXPECT_EQ(Ranges(), "native -3 unknown_not_Java 64..65 2\n");
}

// Without the process there are no bytes: the kinds come from frame_complete alone, and there is
// no disassembly.
TEST_F(StepMapTest, WithoutTheProcess) {
  Method(kMethod);
  Steps(kBegin + 0x00, 0, 5, 0);
  Steps(kBegin + 0x07, 0, 5, 0);
  Steps(kBegin + 0x14, 0, 5, 0, kCodeCrash);
  Map(0);
  EXPECT_EQ(Regions(),
            "body a.B.c()V 4: 1 5 0 5 0\n"
            "prologue a.B.c()V 4: 2 10 0 10 0\n");
  EXPECT_EQ(Ranges(), "body crash 20..21 5\nprologue -5 unknown_Java 0..8 10\n");
  for (const StepRangeRow& row : ranges_) EXPECT_EQ(row.disassembly, "");
}

TEST_F(StepMapTest, LongRangesAreCut) {
  static uint8_t nops[100];
  std::memset(nops, 0x90, sizeof nops);
  const auto begin = reinterpret_cast<uint64_t>(nops);
  Code(SymbolKind::kStub, "slide", begin, sizeof nops, -1);
  for (uint64_t i = 0; i < sizeof nops; i++) Steps(begin + i, 0, 1, 0);
  Map();
  ASSERT_EQ(ranges_.size(), 1u);
  EXPECT_EQ(ranges_[0].end, sizeof nops);
  EXPECT_EQ(std::count(ranges_[0].disassembly.begin(), ranges_[0].disassembly.end(), '\n'), 23);
  EXPECT_TRUE(ranges_[0].disassembly.ends_with("..."));
}

}  // namespace
}  // namespace walkhammer
