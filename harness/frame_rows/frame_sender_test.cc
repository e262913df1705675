// SPDX-License-Identifier: Apache-2.0
// Where rows have the caller's stack pointer, in code as JDK 17 generates it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "harness/frame_rows/frame_rows_testing.h"

namespace walkhammer {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

std::vector<FrameRow> Entered(const Bytes& bytes, FrameEntry how,
                              FrameEntry elsewhere = FrameEntry::kNone) {
  FrameCode code;
  code.bytes = bytes;
  code.entries = {{0, how}};
  code.elsewhere = elsewhere;
  return RowsOf(code);
}

TEST(FrameSenders, OfCalledCodeItIsAboveTheReturnAddress) {
  const auto rows = Entered({0x55,                    // push rbp
                             0x48, 0x83, 0xec, 0x20,  // sub rsp, 32
                             0x48, 0x83, 0xc4, 0x20,  // add rsp, 32
                             0x5d, 0x58,              // pop rbp; pop rax
                             0xff, 0xe0},             // jmp rax
                            FrameEntry::kCalled);
  EXPECT_THAT(SenderTexts(rows), ElementsAre("sp+8", "sp+16", "sp+48", "sp+16", "sp+8", "sp+0"));
}

// TemplateInterpreterGenerator::generate_normal_entry: locals lie between caller and frame.
TEST(FrameSenders, TheInterpreterEntersAMethod) {
  const auto rows = RowsOf("codelet", "method entry point (kind = zerolocals)",
                           {0x58,                          // +0x0 pop rax
                            0x4c, 0x8d, 0x74, 0xcc, 0xf8,  // +0x1 lea r14, [rsp + rcx * 8 - 8]
                            0x6a, 0x00,                    // +0x6 push 0
                            0xff, 0xca,                    // +0x8 dec edx
                            0x7f, 0xfa,                    // +0xa jg +6
                            0x50,                          // +0xc push rax
                            0x55,                          // +0xd push rbp
                            0x48, 0x8b, 0xec,              // +0xe mov rbp, rsp
                            0x41, 0x55,                    // +0x11 push r13
                            0x6a, 0x00,                    // +0x13 push 0
                            0x4c, 0x8b, 0x6b, 0x10,        // +0x15 mov r13, [rbx + 16]
                            0x53,                          // +0x19 push rbx
                            0x90});
  std::vector<std::string> senders(11, "r13+0");
  senders.insert(senders.end(), {"[fp-8]+0", "[fp-8]+0"});
  EXPECT_THAT(SenderTexts(rows), ElementsAreArray(senders));
}

// What the interpreter calls of its own is entered otherwise than its methods.
TEST(FrameSenders, OfAnInterpretedFrame) {
  const auto rows = Entered({0x50, 0x5b,              // push rax; pop rbx
                             0x48, 0x8b, 0x5d, 0xf8,  // mov rbx, [rbp - 8]
                             0xc9,                    // leave
                             0x5e,                    // pop rsi
                             0x48, 0x8b, 0xe3,        // mov rsp, rbx
                             0x50,                    // push rax
                             0xff, 0xe6},             // jmp rsi
                            FrameEntry::kInterpreted);
  EXPECT_THAT(SenderTexts(rows), ElementsAre("[fp-8]+0", "[fp-8]+0", "[fp-8]+0", "rbx+0", "rbx+0",
                                             "rbx+0", "sp+0", "sp+8"));
  EXPECT_EQ(PlaceText(rows.back()), "in rsi");
}

// AdapterGenerator::generate_c2i_adapter makes room for arguments.
TEST(FrameSenders, AnAdapterIntoTheInterpreter) {
  const Bytes bytes = {0x48, 0x8b, 0x04, 0x24,        // +0x0 mov rax, [rsp]
                       0xff, 0xe1,                    // +0x4 jmp rcx
                       0x58,                          // +0x6 pop rax
                       0x4c, 0x8b, 0xec,              // +0x7 mov r13, rsp
                       0x48, 0x83, 0xec, 0x20,        // +0xa sub rsp, 32
                       0x48, 0x89, 0x04, 0x24,        // +0xe mov [rsp], rax
                       0x48, 0x89, 0x74, 0x24, 0x10,  // +0x12 mov [rsp + 16], rsi
                       0xff, 0xe1};                   // +0x17 jmp rcx
  EXPECT_THAT(SenderTexts(RowsOf("adapter", "I2C/C2I adapters(0xb)", bytes)),
              ElementsAre("r13+0", "r13+0", "sp+8", "sp+0", "sp+0", "sp+32", "sp+32", "sp+32"));
}

// i2c: r13 is the caller's until an argument needs it.
TEST(FrameSenders, AnAdapterOutOfTheInterpreter) {
  const auto rows = RowsOf("adapter", "I2C/C2I adapters(0xbb)",
                           {0x48, 0x8b, 0x04, 0x24,        // mov rax, [rsp]
                            0x4c, 0x8b, 0xdc,              // mov r11, rsp
                            0x48, 0x83, 0xec, 0x30,        // sub rsp, 48
                            0x48, 0x83, 0xe4, 0xf0,        // and rsp, -16
                            0x50,                          // push rax
                            0x44, 0x8b, 0x6c, 0x24, 0x30,  // mov r13d, [rsp + 48]
                            0x41, 0xff, 0xe3});            // jmp r11
  EXPECT_THAT(SenderTexts(rows),
              ElementsAre("r13+0", "r13+0", "r13+0", "r13+0", "r13+0", "r13+0", "unknown"));
  EXPECT_EQ(PlaceText(rows.back()), "sp+0");
}

// A frame that was called and an interpreted one: only of the words of a frame alike is it known
// where they are.
TEST(FrameSenders, WherePathsMeetItIsTheSameOrUnknown) {
  const Bytes bytes = {0x55,              // +0x0 push rbp
                       0x48, 0x89, 0xe5,  // +0x1 mov rbp, rsp
                       0x48, 0x29, 0xc4,  // +0x4 sub rsp, rax
                       0xeb, 0x02,        // +0x7 jmp +0xb
                       0x31, 0xc0,        // +0x9 xor eax, eax
                       0x90};             // +0xb nop
  EXPECT_THAT(SenderTexts(Entered(bytes, FrameEntry::kCalled, FrameEntry::kInterpreted)),
              ElementsAre("sp+8", "sp+16", "sp+16", "fp+16", "[fp-8]+0", "unknown"));
  EXPECT_THAT(SenderTexts(Entered({0xeb, 0x02,  // jmp +4
                                   0x31, 0xc0,  // xor eax, eax
                                   0x90},       // nop
                                  FrameEntry::kCalled, FrameEntry::kCalledBelow)),
              ElementsAre("sp+8", "r13+0", "unknown"));
  const Bytes entry = {0x55,              // +0x0 push rbp
                       0x48, 0x89, 0xe5,  // +0x1 mov rbp, rsp
                       0x41, 0x55,        // +0x4 push r13
                       0x45, 0x31, 0xed,  // +0x6 xor r13d, r13d
                       0x48, 0x29, 0xc4,  // +0x9 sub rsp, rax
                       0xeb, 0x02,        // +0xc jmp +0x10
                       0x31, 0xc0,        // +0xe xor eax, eax
                       0x90};             // +0x10 nop
  EXPECT_EQ(SenderTexts(Entered(entry, FrameEntry::kCalledBelow, FrameEntry::kInterpreted)).back(),
            "[fp-8]+0");
}

// As sha512_implCompress aligns the stack, with a frame pointer that is lost on the way.
TEST(FrameSenders, AnAlignedStackKeepsAnAddress) {
  const auto rows = Entered({0x55,                          // push rbp
                             0x52, 0x51,                    // push rdx; push rcx
                             0x48, 0x8b, 0xc4,              // mov rax, rsp
                             0x48, 0x83, 0xec, 0x70,        // sub rsp, 112
                             0x48, 0x83, 0xe4, 0xe0,        // and rsp, -32
                             0x48, 0x89, 0x44, 0x24, 0x38,  // mov [rsp + 56], rax
                             0x33, 0xc0,                    // xor eax, eax
                             0x90,                          // nop
                             0x48, 0x8b, 0x64, 0x24, 0x38,  // mov rsp, [rsp + 56]
                             0x59},                         // pop rcx
                            FrameEntry::kCalled);
  EXPECT_THAT(Texts(rows), ElementsAre("sp+0", "sp+8", "sp+16", "sp+24", "sp+24", "sp+136",
                                       "rax+24", "rax+24", "[sp+56]+24", "[sp+56]+24", "sp+24"));
  EXPECT_THAT(SenderTexts(rows),
              ElementsAre("sp+8", "sp+16", "sp+24", "sp+32", "sp+32", "sp+144", "rax+32", "rax+32",
                          "[sp+56]+32", "[sp+56]+32", "sp+32"));
  EXPECT_EQ(PlaceGroup(rows[8]), "by a saved address");
}

}  // namespace
}  // namespace walkhammer
