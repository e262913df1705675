// SPDX-License-Identifier: Apache-2.0
// Rows of stubs that are not simply called and return: shortened code of JDK 17.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/frame_rows/frame_rows_testing.h"

namespace walkhammer {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::StartsWith;

// SharedRuntime::generate_handler_blob: it returns behind the poll that has faulted.
TEST(FrameEntries, APollReturnsToAnotherAddress) {
  const Bytes bytes = {0x53,                             // push rbx
                       0x55,                             // push rbp
                       0x48, 0x8b, 0xec,                 // mov rbp, rsp
                       0x49, 0x8b, 0x9f, 0xd8, 3, 0, 0,  // mov rbx, [r15 + 0x3d8]
                       0x48, 0x89, 0x5d, 0x08,           // mov [rbp + 8], rbx
                       0xe8, 0,    0,    1,    0,        // call elsewhere
                       0x48, 0x83, 0xc3, 0x02,           // add rbx, 2
                       0x48, 0x89, 0x5d, 0x08,           // mov [rbp + 8], rbx
                       0xc9, 0xc3};                      // leave; ret
  EXPECT_THAT(Texts(RowsOf("stub", "SafepointBlob", bytes)),
              ElementsAre("in the thread", "in the thread", "in the thread", "in the thread",
                          "in the thread", "sp+8", "sp+8", "sp+8", "sp+8", "sp+0"));
}

// Runtime1::generate_handle_exception puts the pc that has thrown there, then the handler.
TEST(FrameEntries, AnExceptionInC1sCode) {
  const Bytes bytes = {0x55,                       // push rbp
                       0x48, 0x8b, 0xec,           // mov rbp, rsp
                       0x48, 0x89, 0x55, 0x08,     // mov [rbp + 8], rdx
                       0x48, 0x83, 0xe4, 0xf0,     // and rsp, -16
                       0xe8, 0,    0,    1,    0,  // call elsewhere
                       0x48, 0x89, 0x45, 0x08,     // mov [rbp + 8], rax
                       0xc9, 0x59,                 // leave; pop rcx
                       0xff, 0xe1};                // jmp rcx
  for (const char* name :
       {"handle_exception_from_callee Runtime1 stub", "C1 Runtime handle_exception_blob",
        "handle_exception_nofpu_blob (C1 runtime)"})
    EXPECT_THAT(
        Texts(RowsOf("stub", name, bytes)),
        ElementsAre("sp+0", "sp+8", "sp+8", "sp+8", "fp+8", "fp+8", "fp+8", "sp+0", "in rcx"))
        << name;
  EXPECT_EQ(Texts(RowsOf("stub", "a stub", bytes))[3], "unknown: lost");
  const auto rows = RowsOf("stub", "handle_exception Runtime1 stub", bytes);
  EXPECT_FALSE(rows[2].replaced);
  EXPECT_TRUE(rows[3].replaced && rows.back().replaced);
}

// C1's stubs jump there with their frame, which here has 18 words.
TEST(FrameEntries, AnExceptionOutOfAStubOfC1) {
  const Bytes bytes = {0x48, 0x8b, 0x55, 0x08,           // mov rdx, [rbp + 8]
                       0x48, 0x89, 0x55, 0x08,           // mov [rbp + 8], rdx
                       0xe8, 0,    0,    1,    0,        // call elsewhere
                       0x48, 0x89, 0x45, 0x08,           // mov [rbp + 8], rax
                       0x31, 0xed,                       // xor ebp, ebp
                       0x48, 0x81, 0xc4, 0x80, 0, 0, 0,  // add rsp, 128
                       0x5d, 0xc3};                      // pop rbp; ret
  const auto rows = RowsOf("stub", "forward_exception Runtime1 stub", bytes, 18);
  EXPECT_THAT(Texts(rows), ElementsAre("sp+136", "sp+136", "sp+136", "sp+136", "sp+136", "sp+136",
                                       "sp+8", "sp+0"));
  EXPECT_EQ(SenderText(rows[0].sender), "sp+144");
  EXPECT_EQ(rows[0].from_fp, 8);
  // Without the size of the frame, only fp is known.
  EXPECT_THAT(Texts(RowsOf("stub", "forward_exception_blob (C1 runtime)", bytes)),
              ElementsAre("fp+8", "fp+8", "fp+8", "fp+8", "fp+8", "unknown: lost", "unknown: lost",
                          "unknown: lost"));
  // Not C1's: callers have left their frame.
  EXPECT_EQ(Texts(RowsOf("stub", "forward exception", bytes))[0], "sp+0");
}

// C2's stub aligns its stack and does not restore it: the frame above is aligned.
TEST(FrameEntries, AnExceptionInC2sCode) {
  const Bytes bytes = {0x52,                             // push rdx
                       0x48, 0x83, 0xec, 0x08,           // sub rsp, 8
                       0x48, 0x83, 0xe4, 0xf0,           // and rsp, -16
                       0x49, 0x89, 0x97, 0xd8, 3, 0, 0,  // mov [r15 + 0x3d8], rdx
                       0xe8, 0,    0,    1,    0,        // call elsewhere
                       0x48, 0x83, 0xc4, 0x08,           // add rsp, 8
                       0x5a,                             // pop rdx
                       0x49, 0x8b, 0x97, 0xd8, 3, 0, 0,  // mov rdx, [r15 + 0x3d8]
                       0x41, 0xff, 0xe0};                // jmp r8
  const auto rows = RowsOf("stub", "ExceptionBlob", bytes);
  EXPECT_THAT(Texts(rows), ElementsAre("in rdx", "sp+0", "sp+8", "sp+8", "sp+8", "sp+8", "sp+0",
                                       "in rdx", "in the thread"));
  EXPECT_THAT(SenderTexts(rows), ElementsAre("sp+0", "sp+8", "sp+16", "sp+16", "sp+16", "sp+16",
                                             "sp+8", "sp+0", "sp+0"));
  // What is 8 off a multiple of 16 is rounded down.
  EXPECT_EQ(Texts(RowsOf("stub", "ExceptionBlob", {0x52, 0x48, 0x83, 0xe4, 0xf0, 0x90})).back(),
            "sp+8");
  EXPECT_EQ(Texts(RowsOf("stub", "ExceptionBlob", {0x52, 0x48, 0x83, 0xe4, 0xe0, 0x90})).back(),
            "in rdx");
}

// The blob of deoptimisation, entered by a call from its begin, by a call anew, with an exception
// in rdx, and with one in the thread from push 0 on.
const Bytes kDeoptimisation = {
    0x55, 0x48, 0x8b, 0xec,           // +0x0 push rbp; mov rbp, rsp
    0xeb, 0x1e,                       // +0x4 jmp +0x24
    0x55, 0x48, 0x8b, 0xec,           // +0x6 push rbp; mov rbp, rsp
    0xeb, 0x18,                       // +0xa jmp +0x24
    0x49, 0x89, 0x97, 0xd8, 3, 0, 0,  // +0xc mov [r15 + 0x3d8], rdx
    0x6a, 0x00,                       // +0x13 push 0
    0x55, 0x48, 0x8b, 0xec,           // +0x15 push rbp; mov rbp, rsp
    0x49, 0x8b, 0x97, 0xd8, 3, 0, 0,  // +0x19 mov rdx, [r15 + 0x3d8]
    0x48, 0x89, 0x55, 0x08,           // +0x20 mov [rbp + 8], rdx
    0xe8, 0,    0,    1,    0,        // +0x24 call elsewhere
    0x48, 0x83, 0xc4, 0x08,           // +0x29 add rsp, 8
    0x8b, 0x0f,                       // +0x2d mov ecx, [rdi]
    0x48, 0x03, 0xe1,                 // +0x2f add rsp, rcx
    0x48, 0x8b, 0x6f, 0x30,           // +0x32 mov rbp, [rdi + 48]
    0xff, 0x31,                       // +0x36 push qword [rcx]
    0x55, 0x48, 0x8b, 0xec,           // +0x38 push rbp; mov rbp, rsp
    0x48, 0x2b, 0xe3,                 // +0x3c sub rsp, rbx
    0x75, 0xf5,                       // +0x3f jne +0x36
    0xff, 0x31,                       // +0x41 push qword [rcx]
    0x55, 0x48, 0x8b, 0xec,           // +0x43 push rbp; mov rbp, rsp
    0x48, 0x83, 0xe4, 0xf0,           // +0x47 and rsp, -16
    0xe8, 0,    0,    1,    0,        // +0x4b call elsewhere
    0xc9, 0xc3,                       // +0x50 leave; ret
};

TEST(FrameEntries, EachEntryOfDeoptimisation) {
  const auto rows = RowsOf("stub", "DeoptimizationBlob", kDeoptimisation);
  const auto at = [&](uint32_t offset) { return PlaceText(*RowAt(rows, offset)); };
  EXPECT_EQ(at(0), "sp+0");
  EXPECT_EQ(at(6), "sp+0");
  EXPECT_EQ(at(0xc), "in rdx");
  EXPECT_EQ(SenderText(RowAt(rows, 0xc)->sender), "sp+0");
  // rdx is another value where the exception is in the thread.
  EXPECT_EQ(at(0x13), "in the thread");
  EXPECT_EQ(at(0x19), "in the thread");
  EXPECT_EQ(SenderText(RowAt(rows, 0x19)->sender), "sp+16");
  EXPECT_EQ(at(0x24), "sp+8");
  EXPECT_EQ(RowsOf("stub", "a stub", kDeoptimisation)[6].place, FramePlace::kUnknown);
}

// Behind add rsp, rcx the deoptimised frame is gone, and with it what has led to the caller. New
// frames are laid out.
TEST(FrameEntries, DeoptimisationReplacesTheFrame) {
  for (const char* name :
       {"DeoptimizationBlob", "deopt_blob (shared runtime)", "uncommon_trap_blob (C2 runtime)"}) {
    const auto rows = RowsOf("stub", name, kDeoptimisation);
    const auto at = [&](uint32_t offset) { return PlaceText(*RowAt(rows, offset)); };
    EXPECT_EQ(at(0x2f), "sp+0") << name;
    EXPECT_EQ(at(0x32), "unknown: lost") << name;
    EXPECT_EQ(at(0x36), "unknown: lost") << name;
    EXPECT_EQ(at(0x38), "sp+0") << name;
    EXPECT_EQ(at(0x3f), "fp+8") << name;
    EXPECT_EQ(at(0x43), "sp+0") << name;
    EXPECT_EQ(at(0x4b), "fp+8") << name;
    EXPECT_EQ(at(0x51), "sp+0") << name;
    EXPECT_EQ(SenderText(RowAt(rows, 0x51)->sender), "sp+8") << name;
    EXPECT_EQ(RowAt(rows, 0x51)->fp_place, FramePlace::kInRegister) << name;
  }
  EXPECT_EQ(Texts(RowsOf("stub", "a stub", kDeoptimisation)).back(), "unknown: lost");
}

// A return address was replaced by the address of such a stub: none is on the stack.
TEST(FrameEntries, StubsThatAreReturnedTo) {
  const Bytes bytes = {0x49, 0x8b, 0xa7, 0x18, 6, 0, 0,  // mov rsp, [r15 + 0x618]
                       0x50, 0x5d, 0xc3};                // push rax; pop rbp; ret
  for (const char* name : {"cont_returnBarrier", "cont_returnBarrierExc", "cont_preempt",
                           "upcall_stub_exception_handler"}) {
    const auto rows = RowsOf("stub", name, bytes);
    EXPECT_THAT(Texts(rows), AllOf(Not(testing::IsEmpty()), Each(StartsWith("unknown")))) << name;
    EXPECT_THAT(SenderTexts(rows), Each("unknown")) << name;
  }
  EXPECT_EQ(Texts(RowsOf("stub", "cont_thaw", bytes))[0], "sp+0");
}

// StubGenerator::generate_generic_copy: the jump before the entry is where checks fail.
TEST(FrameEntries, AnEntryBehindAJump) {
  const Bytes bytes = {0xe9, 0x08, 0,    0,    0,  // +0x0 jmp +0xd
                       0x55, 0x48, 0x8b, 0xec,     // +0x5 push rbp; mov rbp, rsp
                       0x74, 0xf5,                 // +0x9 je +0
                       0xc9, 0xc3,                 // +0xb leave; ret
                       0xc9, 0xc3};                // +0xd leave; ret
  EXPECT_THAT(Texts(RowsOf("stub", "generic_arraycopy", bytes)),
              ElementsAre("sp+8", "sp+0", "sp+8", "sp+8", "sp+8", "sp+0", "sp+8", "sp+0"));
  EXPECT_THAT(Texts(RowsOf("stub", "a stub", bytes)), Contains("unknown: not reached"));
}

// The blobs of jni_fast_Get* are filled up with zeros.
TEST(FrameEntries, ZerosBehindCodeHaveNoRows) {
  const auto rows = RowsOf("stub", "jni_fast_GetIntField", {0xc3, 0, 0, 0, 0, 0, 0});
  EXPECT_THAT(Texts(rows), ElementsAre("sp+0"));
}

}  // namespace
}  // namespace walkhammer
