// SPDX-License-Identifier: Apache-2.0
// What instructions do to the stack of return addresses, by a list and by Capstone.
#include "stress/step_instruction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "harness/elf/disassembler.h"
#include "harness/guard/arch.h"

namespace walkhammer::stress {
namespace {

struct Bytes {
  StepOp op;
  std::vector<uint8_t> code;
};

TEST(StepInstruction, Kinds) {
  const Bytes kAll[] = {
      {StepOp::kCall, {0xe8, 0, 0, 0, 0}},
      {StepOp::kCall, {0xff, 0xd0}},        // call rax
      {StepOp::kCall, {0x41, 0xff, 0xd2}},  // call r10
      {StepOp::kCall, {0xff, 0x50, 0x40}},  // call [rax + 0x40]
      {StepOp::kCall, {0x66, 0x66, 0x48, 0xe8, 0, 0, 0, 0}},
      {StepOp::kCall, {0x3e, 0xff, 0xd0}},  // notrack call rax
      {StepOp::kReturn, {0xc3}},
      {StepOp::kReturn, {0xf3, 0xc3}},
      {StepOp::kReturn, {0xc2, 8, 0}},
      {StepOp::kJump, {0xeb, 0}},
      {StepOp::kJump, {0xe9, 0, 0, 0, 0}},
      {StepOp::kJump, {0x74, 0}},
      {StepOp::kJump, {0x0f, 0x85, 0, 0, 0, 0}},
      {StepOp::kJump, {0xe3, 0}},  // jrcxz
      {StepOp::kJumpIndirect, {0xff, 0xe0}},
      {StepOp::kJumpIndirect, {0x41, 0xff, 0xe5}},  // jmp r13
      {StepOp::kJumpIndirect, {0xff, 0x63, 0x40}},  // jmp [rbx + 0x40]
      {StepOp::kPush, {0x55}},
      {StepOp::kPush, {0x41, 0x57}},
      {StepOp::kPush, {0xff, 0x31}},  // push [rcx]
      {StepOp::kPush, {0x68, 0, 0, 0, 0}},
      {StepOp::kPop, {0x5d}},
      {StepOp::kPop, {0x41, 0x5d}},
      {StepOp::kPop, {0x8f, 0x00}},                 // pop [rax]
      {StepOp::kSetsSp, {0x48, 0x2b, 0xe3}},        // sub rsp, rbx
      {StepOp::kSetsSp, {0x48, 0x29, 0xdc}},        // sub rsp, rbx
      {StepOp::kSetsSp, {0x48, 0x8b, 0xe0}},        // mov rsp, rax
      {StepOp::kSetsSp, {0x48, 0x89, 0xc4}},        // mov rsp, rax
      {StepOp::kSetsSp, {0x4c, 0x89, 0xec}},        // mov rsp, r13
      {StepOp::kSetsSp, {0x48, 0x8b, 0x65, 0xf8}},  // mov rsp, [rbp - 8]
      {StepOp::kOther, {0x48, 0x83, 0xec, 0x10}},   // sub rsp, 16
      {StepOp::kOther, {0x49, 0x89, 0xc4}},         // mov r12, rax
      {StepOp::kOther, {0x4c, 0x8b, 0xe0}},         // mov r12, rax
      {StepOp::kOther, {0x48, 0x89, 0xe0}},         // mov rax, rsp
      {StepOp::kOther, {0x48, 0x89, 0x04, 0x24}},   // mov [rsp], rax
      {StepOp::kOther, {0xff, 0xc0}},               // inc eax
      {StepOp::kOther, {0x0f, 0x1f, 0x00}},         // nop
      {StepOp::kOther, {0x90}},
      {StepOp::kOther, {0xc5, 0xf8, 0x77}},  // vzeroupper
      {StepOp::kOther, {0xc9}},              // leave
  };
  for (const Bytes& one : kAll) {
    std::vector<uint8_t> code = one.code;
    code.resize(kLongestInstruction, 0xcc);
    EXPECT_EQ(static_cast<int>(StepOpAt(code.data())), static_cast<int>(one.op))
        << testing::PrintToString(one.code);
  }
}

TEST(StepInstruction, WhereJumpsLead) {
  const auto target = [](std::vector<uint8_t> code) {
    code.resize(kLongestInstruction);
    return JumpTarget(code.data(), 0x1000);
  };
  EXPECT_EQ(target({0xeb, 0x10}), 0x1012U);
  EXPECT_EQ(target({0xeb, 0xf0}), 0x0ff2U);
  EXPECT_EQ(target({0xe9, 0x00, 0x01, 0x00, 0x00}), 0x1105U);
  EXPECT_EQ(target({0xe9, 0x7a, 0xff, 0xff, 0xff}), 0x0f7fU);
  EXPECT_EQ(target({0xe8, 0x00, 0x01, 0x00, 0x00}), 0U) << "a call";
  EXPECT_EQ(target({0x74, 0x10}), 0U) << "a branch";
  EXPECT_EQ(target({0xff, 0xe0}), 0U) << "through a register";
}

// On the code of libc, Capstone says the same.
TEST(StepInstruction, AgreesWithCapstone) {
  if (kHasLinkRegister) GTEST_SKIP() << "for x86_64";
  constexpr size_t kBytes = 1 << 17;
  auto disassembler = Disassembler::For(kElfMachine);
  ASSERT_TRUE(disassembler.ok());
  const auto begin = reinterpret_cast<uint64_t>(&qsort);
  int calls = 0, returns = 0, jumps = 0, pushes = 0, pops = 0;
  const auto code = std::span(reinterpret_cast<const uint8_t*>(begin), kBytes);
  std::map<uint64_t, std::string> text;
  for (const Disassembler::Line& line : disassembler.value().Text(code, begin))
    text[line.address] = line.text;
  for (const Instruction& at : disassembler.value().Sweep(code, begin)) {
    const StepOp op = StepOpAt(reinterpret_cast<const uint8_t*>(at.address));
    const std::string& words = text[at.address];
    const bool jump = op == StepOp::kJump || op == StepOp::kJumpIndirect;
    EXPECT_EQ(op == StepOp::kCall, at.kind == Instruction::Kind::kCall) << words;
    EXPECT_EQ(op == StepOp::kReturn, at.kind == Instruction::Kind::kReturn) << words;
    EXPECT_EQ(jump, at.kind == Instruction::Kind::kJump || at.kind == Instruction::Kind::kBranch)
        << words;
    EXPECT_EQ(op == StepOp::kPush, words.starts_with("push")) << words;
    EXPECT_EQ(op == StepOp::kPop, words.starts_with("pop ")) << words;
    calls += op == StepOp::kCall, returns += op == StepOp::kReturn, jumps += jump;
    pushes += op == StepOp::kPush, pops += op == StepOp::kPop;
  }
  EXPECT_GT(std::min({calls, returns, jumps, pushes, pops}), 100);
}

}  // namespace
}  // namespace walkhammer::stress
