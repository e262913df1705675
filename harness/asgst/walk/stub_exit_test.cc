// SPDX-License-Identifier: Apache-2.0
// Simulated code: instructions are as long as Capstone says, and each kind of exit from stubs is
// found, from each instruction of the stub.
#include <capstone/capstone.h>
#include <gtest/gtest.h>

#include <span>

#include "harness/asgst/testing/made_up_memory.h"
#include "harness/asgst/walk/instruction_x86_64.h"
#include "harness/asgst/walk/prologue.h"
#include "harness/base/mappings.h"

namespace walkhammer::asgst {
namespace {

#ifdef __x86_64__
// The code of library `name` in this process.
std::span<const uint8_t> CodeOf(const std::string& name) {
  for (const Mapping& m : ReadMappings())
    if (m.executable && m.path.find(name) != std::string::npos)
      return {reinterpret_cast<const uint8_t*>(m.begin), m.end - m.begin};
  return {};
}

// Libraries whose functions have SSE, AVX2 and AVX-512 forms. Capstone 4 does not know all AVX-512
// instructions; if Capstone knows an instruction, both must agree on its length.
TEST(InstructionX86, IsAsLongAsCapstoneSays) {
  csh capstone = 0;
  ASSERT_EQ(cs_open(CS_ARCH_X86, CS_MODE_64, &capstone), CS_ERR_OK);
  cs_insn* instruction = cs_malloc(capstone);
  uint64_t agreed = 0, refused = 0;
  for (const char* library : {"libc.so", "libstdc++.so", "libm.so", "libcapstone.so"}) {
    const std::span<const uint8_t> code = CodeOf(library);
    ASSERT_FALSE(code.empty()) << library;
    const uint8_t* at = code.data();
    for (size_t left = code.size(); left > InstructionX86::kMostBytes;) {
      const uint8_t* const here = at;
      uint64_t address = 0;
      size_t rest = left;
      InstructionX86 mine;
      const bool decoded = DecodeX86(here, static_cast<int>(left), mine);
      if (!cs_disasm_iter(capstone, &at, &rest, &address, instruction)) {
        at = here + 1;
        left--;
        continue;
      }
      left -= instruction->size;
      if (!decoded) {
        refused++;
        continue;
      }
      ASSERT_EQ(mine.length, instruction->size)
          << library << "+" << here - code.data() << " " << instruction->mnemonic << " "
          << instruction->op_str;
      agreed++;
    }
  }
  EXPECT_GT(agreed, 500000U);
  EXPECT_LT(refused, agreed / 1000) << "what stubs do not do: moves of moffs, I/O, enter";
  cs_free(instruction, 1);
  cs_close(&capstone);
}
#endif

TEST(InstructionX86, WhatIsCutOffIsNone) {
  const std::vector<uint8_t> lea = {0x48, 0x8d, 0xa4, 0x24, 0x10, 0x00, 0x00, 0x00};
  InstructionX86 instruction;
  for (int size = 0; size < 8; size++)
    EXPECT_FALSE(DecodeX86(lea.data(), size, instruction)) << size;
  EXPECT_TRUE(DecodeX86(lea.data(), 8, instruction));
  EXPECT_EQ(instruction.length, 8);
  EXPECT_EQ(instruction.displacement, 0x10);
  const std::vector<uint8_t> prefixes(InstructionX86::kMostBytes + 1, 0x66);
  EXPECT_FALSE(DecodeX86(prefixes.data(), static_cast<int>(prefixes.size()), instruction));
}

constexpr uint64_t kStubAt = 0x1000, kStack = 0x8000, kCaller = 0x4444, kFp = 0x9000;
constexpr int kRax = 0, kRdx = 2, kRsp = 4, kRbp = 5, kR13 = 13;

class StubExitTest : public testing::Test {
 protected:
  StubExitTest() {
    for (uint64_t i = 0; i < 64; i++) memory_.Put(kStack + 8 * i, 0x100 + i);
    found_.begin = kStubAt;
    start_.known = 0xffff;
  }

  void Put(const std::vector<uint8_t>& code) {
    std::vector<uint8_t> padded = code;
    padded.resize(code.size() + 24, 0xcc);
    memory_.PutBytes(kStubAt, padded);
    found_.end = kStubAt + padded.size();
  }

  // Runs from an offset of the code, with sp at a word of the stack. False: no exit.
  bool Run(uint64_t at, int word) {
    start_.pc = kStubAt + at;
    start_.general[kRsp] = kStack + 8 * static_cast<uint64_t>(word);
    exit_ = {};
    return RunToExitX86(memory_, memory_, found_, start_, exit_);
  }
  bool Exits(const std::vector<uint8_t>& code) {
    Put(code);
    return Run(0, 3);
  }
  uint64_t PcOf(const std::vector<uint8_t>& code) {
    Put(code);
    return PcAfter(0, 3);
  }
  // Runs, and returns the target of the exit; 0: not known.
  uint64_t PcAfter(uint64_t at, int word) {
    EXPECT_TRUE(Run(at, word)) << at;
    return exit_.pc;
  }
  static uint64_t Word(int word) { return 0x100 + static_cast<uint64_t>(word); }
  static uint64_t At(int word) { return kStack + 8 * static_cast<uint64_t>(word); }

  MadeUpMemory memory_;
  FoundCode found_{};
  StubStart start_;
  StubExit exit_;
};

// push rdi; push r9; push rax; nop; pop rax; pop r9; pop rdi; ret
// Interrupted right at a branch, as after C1's stub has asked for a pending exception.
TEST_F(StubExitTest, ABranchGoesWhereTheFlagsOfTheContextSay) {
  constexpr uint64_t kZero = 0x40, kSet = 0x2;
  // je +4; pop rax; pop rax; ret; nop; pop rax; ret
  Put({0x74, 0x04, 0x58, 0x58, 0xc3, 0x90, 0x58, 0xc3});
  const auto sp_with = [&](uint64_t flags) {
    start_.flags = flags;
    EXPECT_TRUE(Run(0, 0));
    return (exit_.sp - kStack) / 8;
  };
  EXPECT_EQ(sp_with(kSet | kZero), 2U);
  EXPECT_EQ(sp_with(kSet), 3U);
  EXPECT_EQ(sp_with(0), 3U) << "not known: the branch is not taken first";
}

TEST_F(StubExitTest, FromEachInstructionOfAStubThatPushes) {
  Put({0x57, 0x41, 0x51, 0x50, 0x90, 0x58, 0x41, 0x59, 0x5f, 0xc3});
  for (const auto& [at, pushed] :
       {std::pair{0, 0}, {1, 1}, {3, 2}, {4, 3}, {5, 3}, {6, 2}, {8, 1}, {9, 0}}) {
    ASSERT_TRUE(Run(static_cast<uint64_t>(at), 9 - pushed)) << at;
    EXPECT_TRUE(exit_.returns);
    EXPECT_EQ(exit_.pc, Word(9)) << at;
    EXPECT_EQ(exit_.sp, At(10)) << at;
  }
}

// push rbp; mov rbp, rsp; sub rsp, 32; call; mov [rbp+8], rax; leave; pop rcx; jmp rcx
TEST_F(StubExitTest, AFramePointerIsTheCallersAgain) {
  Put({0x55, 0x48, 0x8b, 0xec, 0x48, 0x83, 0xec, 0x20, 0xe8, 0,   0,
       0,    0,    0x48, 0x89, 0x45, 0x08, 0xc9, 0x59, 0xff, 0xe1});
  start_.general[kRbp] = kFp;
  start_.general[kRdx] = 0x77;
  ASSERT_TRUE(Run(0, 20));
  EXPECT_FALSE(exit_.returns);
  EXPECT_EQ(exit_.fp, kFp);
  EXPECT_EQ(exit_.sp, At(21));
  EXPECT_EQ(exit_.pc, 0U) << "what the call answers, nobody knows";
  EXPECT_TRUE(exit_.called);
  EXPECT_EQ(exit_.exception_pc, 0U) << "a call may change rdx";
  start_.general[kRbp] = At(19);
  start_.general[kRax] = 0x4321;
  memory_.Put(At(19), kFp);
  ASSERT_TRUE(Run(13, 10));
  EXPECT_EQ(exit_.fp, kFp);
  EXPECT_EQ(exit_.sp, At(21));
  EXPECT_EQ(exit_.pc, 0x4321U) << "what it has answered is written before it is read";
}

// mov [rsp], rax; add rax, 3; mov [rsp], rax; ret
TEST_F(StubExitTest, AReturnTellsWhatItsAddressHasReplaced) {
  start_.general[kRax] = 0x5000;
  Put({0x48, 0x89, 0x04, 0x24, 0x48, 0x83, 0xc0, 0x03, 0x48, 0x89, 0x04, 0x24, 0xc3});
  EXPECT_EQ(PcAfter(0, 3), 0x5003U);
  EXPECT_EQ(exit_.replaced, 0x5000U) << "by both stores";
  EXPECT_EQ(PcAfter(4, 3), 0x5003U);
  EXPECT_EQ(exit_.replaced, Word(3)) << "by the second store";
  EXPECT_EQ(PcAfter(12, 3), Word(3));
  EXPECT_EQ(exit_.replaced, 0U) << "by no store";
  Put({0x50, 0xc3});  // push rax; ret
  EXPECT_EQ(PcAfter(0, 3), 0x5000U);
  EXPECT_EQ(exit_.replaced, 0U) << "below sp was nothing";
}

// mov r13, rsp; and rsp, -16; push rax; jmp [rbx+8]
TEST_F(StubExitTest, AnAdapterIsLeftWithTheReturnAddressOnTop) {
  Put({0x4c, 0x8b, 0xec, 0x48, 0x83, 0xe4, 0xf0, 0x50, 0xff, 0x63, 0x08});
  start_.general[kRax] = kCaller;
  start_.general[3] = At(40);
  ASSERT_TRUE(Run(0, 9));
  EXPECT_EQ(exit_.top, kCaller);
  EXPECT_EQ(exit_.sp, At(7)) << "aligned";
  EXPECT_EQ(exit_.sender_sp, At(9));
  EXPECT_EQ(exit_.pc, Word(41));
  EXPECT_TRUE(exit_.through_memory);
}

// cmp qword [r15+8], 0; je +6; jmp elsewhere; int3; leave; ret: the condition decides the path.
TEST_F(StubExitTest, ABranchGoesTheWayThatItWillGo) {
  Put({0x49, 0x83, 0x7f, 0x08, 0x00, 0x74, 0x05, 0xe9, 0, 0x10, 0, 0, 0xcc, 0xc9, 0xc3});
  found_.end -= 8;
  start_.general[15] = At(30);
  start_.general[kRbp] = At(20);
  memory_.PutBytes(kStubAt, {0x49, 0x83, 0x7f, 0x08, 0x00, 0x74, 0x06});
  memory_.Put(At(31), 0);
  ASSERT_TRUE(Run(0, 3));
  EXPECT_TRUE(exit_.returns);
  EXPECT_EQ(exit_.sp, At(22));
  memory_.Put(At(31), 1);
  ASSERT_TRUE(Run(0, 3));
  EXPECT_FALSE(exit_.returns);
  EXPECT_EQ(exit_.sp, At(3));
}

// call; test eax, eax; jne +1; int3; ret: a path without an exit does not count.
TEST_F(StubExitTest, AWayThatEndsNowhereIsNotTheOne) {
  EXPECT_EQ(PcOf({0xe8, 0, 0, 0, 0, 0x85, 0xc0, 0x75, 0x01, 0xcc, 0xc3}), Word(3));
  EXPECT_FALSE(Exits({0xe8, 0, 0, 0, 0, 0x85, 0xc0, 0x75, 0x01, 0xcc, 0xcc})) << "no way out";
}

// jmp +3; pop rbx; ret; nop; jmp -5, and farther: the second jump leads below the bytes that were
// read ahead.
TEST_F(StubExitTest, AShortJumpBack) {
  for (const uint8_t back : {3, 8, 14}) {
    std::vector<uint8_t> code = {0xeb, static_cast<uint8_t>(back), 0x5b, 0xc3};
    code.resize(2 + back, 0x90);
    code.insert(code.end(), {0xeb, static_cast<uint8_t>(-2 - back)});
    Put(code);
    EXPECT_EQ(PcAfter(2 + back, 3), Word(4)) << int{back};
    EXPECT_EQ(PcAfter(0, 3), Word(4)) << int{back};
  }
}

TEST_F(StubExitTest, WhatCannotBeKnownIsNoAnswer) {
  EXPECT_FALSE(Exits({0xeb, 0xfe})) << "a loop for ever";
  Put({0x48, 0x89, 0xc4, 0xc3});  // mov rsp, rax; ret
  start_.known = 0xffff & ~(1U << kRax);
  EXPECT_FALSE(Run(0, 3)) << "a stack that nobody knows";
  Put({0x90});
  found_.end = kStubAt + 1;
  EXPECT_FALSE(Run(0, 3)) << "the end of the code";
  EXPECT_FALSE(Run(0x100, 3)) << "elsewhere";
  Put({0x5b, 0xc3});
  memory_.PutBytes(kStubAt, {0xf4});
  EXPECT_FALSE(Run(0, 3)) << "hlt";
}

// mov rax, [rdx], many times; jmp rax: code that copies arrays has such loads. Loads from the stack
// are not limited.
TEST_F(StubExitTest, NotAllOfTheHeapIsRead) {
  constexpr uint64_t kFar = 0x900000, kTo = 0x4444;
  memory_.Put(kFar, kTo);
  for (const int loads : {24, 25}) {
    std::vector<uint8_t> code;
    for (int i = 0; i < loads; i++) code.insert(code.end(), {0x48, 0x8b, 0x02});
    code.insert(code.end(), {0xff, 0xe0});
    Put(code);
    start_.general[kRdx] = kFar;
    EXPECT_EQ(PcAfter(0, 20), loads == 24 ? kTo : 0);
    start_.general[kRdx] = At(30);
    EXPECT_EQ(PcAfter(0, 20), Word(30));
  }
}

// A word of which a part is written is not known.
TEST_F(StubExitTest, HalvesAreNotKnown) {
  // mov dword [rsp+4], eax; pop rbx; jmp rbx
  EXPECT_EQ(PcOf({0x89, 0x44, 0x24, 0x04, 0x5b, 0xff, 0xe3}), 0U);
  EXPECT_EQ(PcAfter(4, 3), Word(3));
  // mov bx, ax; jmp rbx, and with REX.W
  EXPECT_EQ(PcOf({0x66, 0x89, 0xc3, 0xff, 0xe3}), 0U);
  Put({0x66, 0x48, 0x89, 0xc3, 0xff, 0xe3});
  start_.general[kRax] = 0x55;
  EXPECT_EQ(PcAfter(0, 3), 0x55U);
  Put({0x0f, 0x0b, 0xc3});  // ud2
  EXPECT_FALSE(Run(0, 3));
}

// xadd [rsp], rbx; jmp rbx. The register field of cmpxchg16b is not a register.
TEST_F(StubExitTest, WhatIsExchangedIsNotKnown) {
  constexpr int kRcx = 1, kRbx = 3;
  start_.general[kRbx] = 0x55;
  start_.general[kRcx] = 0x66;
  for (const uint8_t exchange : {0xc1, 0xb1}) {  // xadd, cmpxchg
    EXPECT_EQ(PcOf({0x48, 0x0f, exchange, 0x1c, 0x24, 0xff, 0xe3}), 0U);
  }
  EXPECT_EQ(PcOf({0x48, 0x0f, 0xc7, 0x0c, 0x24, 0xff, 0xe1}), 0x66U);  // cmpxchg16b [rsp]; jmp rcx
}

// mov eax, [rsi+8]; shl rax, 3; jmp [rax]: so a vtable stub finds the receiver's class.
TEST_F(StubExitTest, AClassIsMadeOfItsCompressedPointer) {
  Put({0x8b, 0x46, 0x08, 0x48, 0xc1, 0xe0, 0x03, 0xff, 0x20});
  start_.general[6] = At(30);
  memory_.Put(At(31), (At(40) >> 3) | 0x77ULL << 32);
  EXPECT_EQ(PcAfter(0, 3), Word(40));
  Put({0x48, 0xc1, 0xe8, 0x03, 0xff, 0xe0});  // shr rax, 3; jmp rax
  start_.general[kRax] = 0x88;
  EXPECT_EQ(PcAfter(0, 3), 0x11U);
  EXPECT_EQ(PcOf({0x48, 0xc1, 0xf8, 0x03, 0xff, 0xe0}), 0U) << "not known";  // sar
  EXPECT_FALSE(exit_.called);
  start_.called = true;
  ASSERT_TRUE(Run(0, 3));
  EXPECT_TRUE(exit_.called);
}

// pop rax; mov rsp, r13; jmp rax
TEST_F(StubExitTest, AnEntryIsLeftForTheSpInARegister) {
  Put({0x58, 0x49, 0x8b, 0xe5, 0xff, 0xe0});
  start_.general[kR13] = At(30);
  EXPECT_EQ(PcAfter(0, 3), Word(3));
  EXPECT_EQ(exit_.sp, At(30));
  EXPECT_FALSE(exit_.through_memory);
}

}  // namespace
}  // namespace walkhammer::asgst
