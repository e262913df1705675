// SPDX-License-Identifier: Apache-2.0
// FrameRows of synthetic x86_64 code, byte by byte.
#include "harness/frame_rows/frame_rows.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/base/testing/fails_with.h"
#include "harness/frame_rows/frame_rows_testing.h"

namespace walkhammer {
namespace {

using ::testing::ElementsAre;
// The rows of code with the entry `how` at its begin.
std::vector<std::string> Places(const Bytes& bytes, FrameEntry how = FrameEntry::kCalled,
                                FrameEntry elsewhere = FrameEntry::kNone, int frame_words = 0) {
  FrameCode code;
  code.bytes = bytes;
  code.entries = {{0, how}};
  code.elsewhere = elsewhere;
  code.frame_words = frame_words;
  return Texts(RowsOf(code));
}

// A method as C2 compiles it, with a poll at its return whose slow path is at the end.
const Bytes kMethod = {
    0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff,  // +0x00 mov [rsp - 0x14000], eax
    0x55,                                      // +0x07 push rbp
    0x48, 0x83, 0xec, 0x20,                    // +0x08 sub rsp, 0x20
    0x48, 0x83, 0xc4, 0x20,                    // +0x0c add rsp, 0x20
    0x5d,                                      // +0x10 pop rbp
    0x49, 0x3b, 0x67, 0x28,                    // +0x11 cmp rsp, [r15 + 0x28]
    0x77, 0x01,                                // +0x15 ja +0x18
    0xc3,                                      // +0x17 ret
    0x41, 0x52,                                // +0x18 push r10
    0xff, 0xe0,                                // +0x1a jmp rax
};

TEST(FrameRows, PrologueAndEpilogue) {
  EXPECT_THAT(Places(kMethod), ElementsAre("sp+0", "sp+0", "sp+8", "sp+40", "sp+8", "sp+0", "sp+0",
                                           "sp+0", "sp+0", "sp+8"));
}

TEST(FrameRows, TheCallersFramePointer) {
  FrameCode code;
  const Bytes bytes = {0x55, 0x48, 0x83, 0xec, 0x20,         // push rbp; sub rsp, 32
                       0x31, 0xed,                           // xor ebp, ebp
                       0x48, 0x83, 0xc4, 0x20, 0x5d, 0xc3};  // add rsp, 32; pop rbp; ret
  code.bytes = bytes;
  code.entries = {{0, FrameEntry::kCalled}};
  const auto rows = RowsOf(code);
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(rows[2].fp_place, FramePlace::kInRegister);
  EXPECT_EQ(rows[3].fp_place, FramePlace::kInMemory);
  EXPECT_EQ(rows[3].fp_reg, 4);
  EXPECT_EQ(rows[3].fp_distance, 32);
  EXPECT_EQ(rows[5].fp_place, FramePlace::kInRegister);
}

TEST(FrameRows, GroupsTellAFrameThatIsGoneFromOneThatIsNotBuilt) {
  FrameCode code;
  code.bytes = kMethod;
  code.entries = {{0, FrameEntry::kCalled}};
  std::vector<std::string> groups;
  for (const FrameRow& row : RowsOf(code)) groups.push_back(PlaceGroup(row));
  EXPECT_THAT(groups, ElementsAre("sp+0", "sp+0", "sp+8", "sp+n", "sp+8", "sp+0, frame popped",
                                  "sp+0, frame popped", "sp+0, frame popped", "sp+0, frame popped",
                                  "sp+8"));
}

TEST(FrameRows, AFramePointerOutlivesAMoveByAnUnknownAmount) {
  EXPECT_THAT(Places({0x55,              // push rbp
                      0x48, 0x89, 0xe5,  // mov rbp, rsp
                      0x48, 0x29, 0xc4,  // sub rsp, rax
                      0x53,              // push rbx
                      0xe8, 0, 0, 1, 0,  // call elsewhere
                      0xc9,              // leave
                      0xc3}),            // ret
              ElementsAre("sp+0", "sp+8", "sp+8", "fp+8", "fp+8", "fp+8", "sp+0"));
}

TEST(FrameRows, WithoutAFramePointerAMoveByAnUnknownAmountLosesTheReturnAddress) {
  EXPECT_THAT(Places({0x48, 0x29, 0xc4,  // sub rsp, rax
                      0xc3}),            // ret
              ElementsAre("sp+0", "unknown: lost"));
}

TEST(FrameRows, AnAlignedStackIsFollowedByASavedStackPointer) {
  EXPECT_THAT(Places({0x49, 0x89, 0xe4,        // mov r12, rsp
                      0x48, 0x83, 0xe4, 0xf0,  // and rsp, -16
                      0xe8, 0, 0, 1, 0,        // call elsewhere
                      0x4c, 0x89, 0xe4,        // mov rsp, r12
                      0xc3}),                  // ret
              ElementsAre("sp+0", "sp+0", "r12+0", "r12+0", "sp+0"));
}

TEST(FrameRows, ACallLosesTheRegistersThatItMayChange) {
  EXPECT_THAT(Places({0x49, 0x89, 0xe2,        // mov r10, rsp
                      0x48, 0x83, 0xe4, 0xf0,  // and rsp, -16
                      0xe8, 0, 0, 1, 0,        // call elsewhere
                      0x4c, 0x89, 0xd4,        // mov rsp, r10
                      0xc3}),                  // ret
              ElementsAre("sp+0", "sp+0", "r10+0", "unknown: lost", "unknown: lost"));
}

// As an adapter does: the return address leaves the stack and is put back further down.
TEST(FrameRows, AReturnAddressInARegister) {
  EXPECT_THAT(Places({0x58,                    // pop rax
                      0x4c, 0x8d, 0x2c, 0x24,  // lea r13, [rsp]
                      0x48, 0x83, 0xec, 0x18,  // sub rsp, 24
                      0x48, 0x89, 0x04, 0x24,  // mov [rsp], rax
                      0xff, 0xe1}),            // jmp rcx
              ElementsAre("sp+0", "in rax", "in rax", "in rax", "sp+0"));
  EXPECT_THAT(Places({0x58,          // pop rax
                      0x31, 0xc0,    // xor eax, eax
                      0xff, 0xe1}),  // jmp rcx
              ElementsAre("sp+0", "in rax", "unknown: lost"));
}

// As an adapter does around a call: the copy that is saved with other registers is not where the
// caller's frame begins.
TEST(FrameRows, ASavedReturnAddressIsNotOnTheStack) {
  EXPECT_THAT(Places({0x4c, 0x8d, 0x24, 0x24,        // lea r12, [rsp]
                      0x48, 0x8b, 0x04, 0x24,        // mov rax, [rsp]
                      0x48, 0x83, 0xe4, 0xf0,        // and rsp, -16
                      0x48, 0x83, 0xec, 0x20,        // sub rsp, 32
                      0x48, 0x89, 0x44, 0x24, 0x18,  // mov [rsp + 24], rax
                      0xe8, 0,    0,    1,    0,     // call elsewhere
                      0x45, 0x31, 0xe4,              // xor r12d, r12d
                      0x48, 0x8b, 0x44, 0x24, 0x18,  // mov rax, [rsp + 24]
                      0x90}),
              ElementsAre("sp+0", "sp+0", "sp+0", "in rax", "in rax", "in rax", "r12+0",
                          "unknown: lost", "in rax"));
}

TEST(FrameRows, WhatIsWrittenOverIsLost) {
  EXPECT_THAT(Places({0x48, 0xc7, 0x04, 0x24, 0, 0, 0, 0,  // mov qword [rsp], 0
                      0x90}),                              // nop
              ElementsAre("sp+0", "unknown: lost"));
}

TEST(FrameRows, ALoopKeepsItsRow) {
  EXPECT_THAT(Places({0x55,          // +0 push rbp
                      0x53,          // +1 push rbx
                      0x5b,          // +2 pop rbx
                      0x75, 0xfc,    // +3 jne +1
                      0x5d, 0xc3}),  // +5 pop rbp; ret
              ElementsAre("sp+0", "sp+8", "sp+16", "sp+8", "sp+8", "sp+0"));
}

// As the interpreter makes room for locals.
TEST(FrameRows, ALoopThatPushesKeepsTheReturnAddressInItsRegister) {
  EXPECT_THAT(
      Places({0x58,              // +0 pop rax
              0x6a, 0x00,        // +1 push 0
              0xff, 0xca,        // +3 dec edx
              0x7f, 0xfa,        // +5 jg +1
              0x50,              // +7 push rax
              0x55,              // +8 push rbp
              0x48, 0x89, 0xe5,  // +9 mov rbp, rsp
              0xe8, 0, 0, 1, 0,  // call elsewhere
              0x90}),
      ElementsAre("sp+0", "in rax", "in rax", "in rax", "in rax", "sp+0", "sp+8", "sp+8", "sp+8"));
}

// A loop behind code that has lost the way from sp to the entry keeps its rows, too.
TEST(FrameRows, ALoopBehindALoopThatPushes) {
  EXPECT_THAT(Places({0x58,        // +0 pop rax
                      0x6a, 0x00,  // +1 push 0
                      0xff, 0xca,  // +3 dec edx
                      0x7f, 0xfa,  // +5 jg +1
                      0x50,        // +7 push rax
                      0x55,        // +8 push rbp
                      0xff, 0xc9,  // +9 dec ecx
                      0x75, 0xfc,  // +0xb jne +9
                      0x31, 0xc0,  // +0xd xor eax, eax
                      0x90}),
              ElementsAre("sp+0", "in rax", "in rax", "in rax", "in rax", "sp+0", "sp+8", "sp+8",
                          "sp+8", "sp+8"));
}

TEST(FrameRows, OfTwoCopiesTheLowerIsShown) {
  EXPECT_THAT(Places({0x48, 0x8b, 0x04, 0x24,  // mov rax, [rsp]
                      0x50,                    // push rax
                      0x90}),
              ElementsAre("sp+0", "sp+0", "sp+0"));
}

TEST(FrameRows, ARegisterThatOnePathHasChangedIsLost) {
  EXPECT_THAT(Places({0x58, 0x50,              // +0 pop rax; push rax
                      0x74, 0x02,              // +2 je +6
                      0x31, 0xc0,              // +4 xor eax, eax
                      0x48, 0x83, 0xc4, 0x08,  // +6 add rsp, 8
                      0x90}),
              ElementsAre("sp+0", "in rax", "sp+0", "sp+0", "sp+0", "unknown: lost"));
}

TEST(FrameRows, AWordThatOnePathHasChangedIsLost) {
  EXPECT_THAT(Places({0x74, 0x08,                          // +0 je +0xa
                      0x48, 0xc7, 0x04, 0x24, 0, 0, 0, 0,  // +2 mov qword [rsp], 0
                      0x90}),
              ElementsAre("sp+0", "sp+0", "unknown: lost"));
}

TEST(FrameRows, AFramePointerThatIsSavedAndRestoredByAnotherStackPointer) {
  EXPECT_THAT(Places({0x55,                       // push rbp
                      0x49, 0x89, 0xe4,           // mov r12, rsp
                      0x48, 0x83, 0xe4, 0xf0,     // and rsp, -16
                      0xe8, 0,    0,    1,    0,  // call elsewhere
                      0x4c, 0x89, 0xe4,           // mov rsp, r12
                      0x31, 0xed,                 // xor ebp, ebp
                      0x5d,                       // pop rbp
                      0x90},
                     FrameEntry::kInterpreted)
                  .back(),
              "fp+8");
}

TEST(FrameRows, FramePointersOfTwoWaysToBuildAFrame) {
  EXPECT_THAT(Places({0x55,              // +0 push rbp
                      0x48, 0x89, 0xe5,  // +1 mov rbp, rsp
                      0x48, 0x29, 0xc4,  // +4 sub rsp, rax
                      0xeb, 0x02,        // +7 jmp +0xb
                      0x31, 0xc0,        // +9 xor eax, eax
                      0x90},             // +0xb nop
                     FrameEntry::kCalled, FrameEntry::kInterpreted),
              ElementsAre("sp+0", "sp+8", "sp+8", "fp+8", "fp+8", "fp+8"));
}

// The throwing stub's call is followed by the slow path of a poll.
TEST(FrameRows, BehindACallThatDoesNotReturn) {
  const Bytes bytes = {0x74, 0x0b,           // +0 je +0xd
                       0x53,                 // +2 push rbx
                       0xe8, 0,    0, 1, 0,  // +3 call elsewhere
                       0xe8, 0,    0, 1, 0,  // +8 call elsewhere
                       0x90};                // +0xd nop
  FrameCode code;
  code.bytes = bytes;
  code.entries = {{0, FrameEntry::kCalled}};
  EXPECT_EQ(PlaceText(RowsOf(code).back()), "unknown: paths disagree");
  code.no_return = {kBegin + 0x1000d};
  EXPECT_EQ(PlaceText(RowsOf(code).back()), "sp+0");
}

// C1 has put a jump over the ten bytes of mov rax, N.
TEST(FrameRows, KnownStartsOfInstructions) {
  const Bytes bytes = {0xe9, 0,    0,   1, 0,     // +0 jmp elsewhere
                       0,    0,    0,   0, 0xb8,  // +5 what is left
                       0x55,                      // +0xa push rbp
                       0x90, 0x90, 0x90};
  FrameCode code;
  code.bytes = bytes;
  code.entries = {{0, FrameEntry::kCalled}};
  code.elsewhere = FrameEntry::kCalled;
  EXPECT_EQ(RowAt(RowsOf(code), 0xb), nullptr);
  code.starts = {0, 0xa, 0xb};
  EXPECT_EQ(PlaceText(RowsOf(code).back()), "sp+8");
}

TEST(FrameRows, InstructionsThatCapstoneDoesNotKnow) {
  EXPECT_THAT(
      Places({0x55,                                                        // push rbp
              0xc4, 0xe1, 0xf8, 0x91, 0xb4, 0x24, 0x70, 0x04, 0x00, 0x00,  // kmovq [rsp + N], k6
              0xc4, 0xe3, 0xf9, 0x31, 0xc9, 0x01,                          // kshiftrq k1, k1, 1
              0x5d, 0xc3, 0x90, 0x90, 0x90, 0x90}),                        // pop rbp; ret
      ElementsAre("sp+0", "sp+8", "sp+8", "sp+8", "sp+0"));
}

TEST(FrameRows, WherePathsDisagreeTheRowIsUnknown) {
  EXPECT_THAT(Places({0x74, 0x01,  // +0 je +3
                      0x53,        // +2 push rbx
                      0x90,        // +3 nop
                      0xc3}),      // +4 ret
              ElementsAre("sp+0", "sp+0", "unknown: paths disagree", "unknown: paths disagree"));
}

TEST(FrameRows, WhatIsNotReachedIsUnknown) {
  EXPECT_THAT(Places({0xeb, 0x01,  // +0 jmp +3
                      0x53,        // +2 push rbx
                      0xc3}),      // +3 ret
              ElementsAre("sp+0", "unknown: not reached", "sp+0"));
  EXPECT_THAT(
      Places({0xff, 0xe0,  // jmp rax
              0x53,        // push rbx
              0xc3}),      // ret
      ElementsAre("sp+0", "unknown: behind an indirect jump", "unknown: behind an indirect jump"));
}

// A handler of exceptions in a method with a frame of 6 words, and the stub of a static call.
TEST(FrameRows, FurtherEntriesOfAMethod) {
  EXPECT_THAT(Places({0x55, 0x48, 0x83, 0xec, 0x20,              // push rbp; sub rsp, 32
                      0xff, 0xe0,                                // jmp rax
                      0x90, 0x48, 0x83, 0xc4, 0x20, 0x5d, 0xc3,  // nop; add rsp, 32; pop; ret
                      0x48, 0xbb, 1,    2,    3,    4,    5,    6, 7, 8,  // mov rbx, method
                      0xe9, 0,    0,    1,    0},                         // jmp elsewhere
                     FrameEntry::kCalled, FrameEntry::kFramed, 6),
              ElementsAre("sp+0", "sp+8", "sp+40", "sp+40", "sp+8", "sp+0", "sp+0", "sp+0"));
}

// The wrapper of Object.hashCode looks into the object before it sets up a frame of 9 words.
TEST(FrameRows, AnEntryThatWasPatchedBeforeInlinedCode) {
  const Bytes bytes = {0xe9, 0,    0,    1,    0,      // +0 jmp elsewhere, over what led on
                       0x48, 0x8b, 0x06,               // +5 mov rax, [rsi]
                       0x55,                           // +8 push rbp
                       0x48, 0x8b, 0xec,               // +9 mov rbp, rsp
                       0x48, 0x83, 0xec, 0x38,         // +0xc sub rsp, 56
                       0x48, 0x89, 0x34, 0x24,         // +0x10 mov [rsp], rsi
                       0xff, 0xe0,                     // +0x14 jmp rax
                       0x48, 0x8b, 0x06, 0x90, 0x90};  // +0x16 mov rax, [rsi]: a handler
  FrameCode code;
  code.bytes = bytes;
  code.entries = {{0, FrameEntry::kCalled}};
  code.elsewhere = FrameEntry::kFramed;
  code.frame_words = 9;
  code.complete = 0x10;
  const std::vector<FrameRow> rows = RowsOf(code);
  for (const auto& [offset, place] :
       std::initializer_list<std::pair<uint32_t, const char*>>{{5, "sp+0"},
                                                               {8, "sp+0"},
                                                               {9, "sp+8"},
                                                               {0x10, "sp+64"},
                                                               {0x14, "sp+64"},
                                                               {0x16, "sp+64"}})
    EXPECT_EQ(PlaceText(*RowAt(rows, offset)), place) << offset;
}

TEST(FrameRows, AnEntryThatWasPatched) {
  EXPECT_THAT(Places({0xe9, 0, 0, 1, 0, 0xfe, 0xff,  // jmp elsewhere, over the touch of the stack
                      0x55, 0x48, 0x83, 0xec, 0x20,  // push rbp; sub rsp, 32
                      0x90},
                     FrameEntry::kCalled, FrameEntry::kFramed, 6)
                  .back(),
              "sp+40");
  EXPECT_THAT(Places({0xe9, 0, 0, 1, 0, 0, 0,                 // jmp elsewhere, over sub rsp, 136
                      0x48, 0x89, 0xac, 0x24, 0x80, 0, 0, 0,  // mov [rsp + 128], rbp
                      0x90},
                     FrameEntry::kCalled, FrameEntry::kFramed, 18)
                  .back(),
              "sp+136");
  EXPECT_THAT(Places({0xe9, 0, 0, 1, 0, 0, 0,        // jmp elsewhere, over sub rsp, 24
                      0x48, 0x89, 0x6c, 0x24, 0x10,  // mov [rsp + 16], rbp
                      0x90},
                     FrameEntry::kCalled, FrameEntry::kFramed, 4)
                  .back(),
              "sp+24");
}

TEST(FrameRows, CodeThatTheCodeItselfCalls) {
  EXPECT_THAT(Places({0xe8, 0x02, 0, 0, 0,           // +0 call +7
                      0xeb, 0x06,                    // +5 jmp +0xd
                      0x48, 0x8d, 0x44, 0x24, 0x08,  // +7 lea rax, [rsp + 8]
                      0xc3,                          // +0xc ret
                      0xff, 0xe3},                   // +0xd jmp rbx
                     FrameEntry::kInterpreted),
              ElementsAre("fp+8", "fp+8", "sp+0", "sp+0", "fp+8"));
}

TEST(FrameRows, ACallOfTheNextInstructionPushes) {
  EXPECT_THAT(Places({0xe8, 0, 0, 0, 0,           // call the next instruction
                      0x48, 0x83, 0x2c, 0x24, 5,  // sub qword [rsp], 5
                      0x90}),
              ElementsAre("sp+0", "sp+8", "sp+8"));
}

// The interpreter removes an activation.
TEST(FrameRows, AnInterpretedFrameIsRemoved) {
  EXPECT_THAT(Places({0x48, 0x8b, 0x5d, 0xf8,  // mov rbx, [rbp - 8]
                      0xc9,                    // leave
                      0x41, 0x5d,              // pop r13
                      0x48, 0x89, 0xdc,        // mov rsp, rbx
                      0x41, 0xff, 0xe5},       // jmp r13
                     FrameEntry::kInterpreted),
              ElementsAre("fp+8", "fp+8", "sp+0", "in r13", "in r13"));
}

TEST(FrameRows, TheStubOfExceptions) {
  EXPECT_THAT(Places({0x52,                           // push rdx
                      0x48, 0x83, 0xec, 0x08, 0x90},  // sub rsp, 8; nop
                     FrameEntry::kThrown),
              ElementsAre("in rdx", "sp+0", "sp+8"));
}

TEST(FrameRows, TheStubOfAPollThatFaulted) {
  EXPECT_THAT(Places({0x53,                             // push rbx
                      0x55,                             // push rbp
                      0x48, 0x89, 0xe5,                 // mov rbp, rsp
                      0x49, 0x8b, 0x9f, 0x10, 4, 0, 0,  // mov rbx, [r15 + 0x410]
                      0x48, 0x89, 0x5d, 0x08,           // mov [rbp + 8], rbx
                      0x90},
                     FrameEntry::kPolled),
              ElementsAre("in the thread", "in the thread", "in the thread", "in the thread",
                          "in the thread", "sp+8"));
}

TEST(FrameRows, NamesTellHowCodeIsEntered) {
  const Bytes bytes = {0x53, 0xc3};
  const auto how = [&](const char* kind, const char* name) {
    return FrameCodeOf(kind, name, kBegin, bytes, 0).entries.at(0).how;
  };
  EXPECT_EQ(how("codelet", "iload"), FrameEntry::kInterpreted);
  EXPECT_EQ(how("codelet", "method entry point (kind = zerolocals)"), FrameEntry::kCalledBelow);
  EXPECT_EQ(how("adapter", "I2C/C2I adapters(0xba)"), FrameEntry::kCalledBelow);
  EXPECT_EQ(how("stub", "RuntimeStub - _new_instance_Java"), FrameEntry::kCalled);
  EXPECT_EQ(how("stub", "ExceptionBlob"), FrameEntry::kThrown);
  EXPECT_EQ(how("stub", "SafepointBlob"), FrameEntry::kPolled);
  EXPECT_EQ(how("stub", "exception_blob (C2 runtime)"), FrameEntry::kThrown);
  EXPECT_EQ(how("stub", "handle_exception_blob (C1 runtime)"), FrameEntry::kCalled);
  EXPECT_EQ(how("stub", "polling_page_return_handler_blob (shared runtime)"), FrameEntry::kPolled);
}

TEST(FrameRows, NamesTellWhatNeverReturns) {
  for (const char* name :
       {"UncommonTrapBlob", "uncommon_trap_blob (C2 runtime)", "DeoptimizationBlob",
        "deopt_blob (shared runtime)", "throw_div0_exception Runtime1 stub",
        "throw_div0_exception_blob (C1 runtime)", "unwind_exception_blob (C1 runtime)"})
    EXPECT_TRUE(NeverReturns(name)) << name;
  for (const char* name : {"deoptimize_blob (C1 runtime)", "exception_blob (C2 runtime)",
                           "polling_page_return_handler_blob (shared runtime)"})
    EXPECT_FALSE(NeverReturns(name)) << name;
}

TEST(FrameRows, ARowIsFoundByItsOffset) {
  FrameCode code;
  code.bytes = kMethod;
  code.entries = {{0, FrameEntry::kCalled}};
  const auto rows = RowsOf(code);
  ASSERT_NE(RowAt(rows, 0x0c), nullptr);
  EXPECT_EQ(RowAt(rows, 0x0c)->distance, 40);
  EXPECT_EQ(RowAt(rows, 0x0d), nullptr);
  EXPECT_EQ(RowAt(rows, 0x100), nullptr);
}

TEST(FrameRows, CutOffCodeAndDataEnd) {
  EXPECT_THAT(Places({}), ElementsAre());
  EXPECT_THAT(Places({0x55, 0xe8, 0x00}), ElementsAre("sp+0"));
}

TEST(FrameRows, OtherArchitecturesAreRefused) {
  EXPECT_THAT(FrameDecoder::For(EM_AARCH64),
              FailsWith(ExitCode::kUnable, ::testing::HasSubstr("x86_64")));
}

}  // namespace
}  // namespace walkhammer
