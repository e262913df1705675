// SPDX-License-Identifier: Apache-2.0
// Parts of the reference walk on made-up memory: no JVM, no stack of our own.
#include <gtest/gtest.h>

#include "harness/asgst/testing/made_up_memory.h"
#include "harness/asgst/walk/debug_info.h"
#include "harness/asgst/walk/prologue.h"

namespace walkhammer::asgst {
namespace {

TEST(MemoryReaderTest, ReadsPartsOfWords) {
  MadeUpMemory memory;
  memory.Put(0x1000, 0x8877665544332211);
  uint8_t byte = 0;
  int16_t half = 0;
  uint32_t word = 0;
  EXPECT_TRUE(memory.Read(0x1003, byte));
  EXPECT_EQ(byte, 0x44);
  EXPECT_TRUE(memory.Read(0x1006, half));
  EXPECT_EQ(half, static_cast<int16_t>(0x8877));
  EXPECT_TRUE(memory.Read(0x1004, word));
  EXPECT_EQ(word, 0x88776655U);
  EXPECT_FALSE(memory.Read(0x1006, word)) << "across words";
  EXPECT_FALSE(memory.Read(0x2000, byte)) << "not there";
  uint8_t bytes[4];
  EXPECT_TRUE(memory.ReadBytes(0x1002, bytes, 4));
  EXPECT_EQ(bytes[3], 0x66);
  EXPECT_FALSE(memory.ReadBytes(0x1006, bytes, 4)) << "the end is not there";
}

// An nmethod at 0x10000 as JDK 17 lays it out, simplified; code from 0x20000 on.
class DebugInfoTest : public testing::Test {
 protected:
  static constexpr uint64_t kBlob = 0x10000, kCode = 0x20000, kPcs = kBlob + 0x400,
                            kScopes = kBlob + 0x800, kMetadata = kBlob + 0x300;

  void SetUp() override {
    layout_.immutable_data = layout_.scopes_offset = layout_.mutable_data = -1;
    layout_.pcs_offset = 0;
    layout_.pcs_end_offset = 4;
    layout_.scopes_begin = 8;
    layout_.metadata_offset = 16;
    layout_.pc_desc_size = 16;
    layout_.pc_offset = 0;
    layout_.scope_offset = 4;
    nmethod_.blob = kBlob;
    nmethod_.begin = kCode;
    memory_.Put(kBlob, 0x400 | uint64_t{0x400 + 4 * 16} << 32);
    memory_.Put(kBlob + 8, kScopes);
    memory_.Put(kBlob + 16, 0x300);
    Describe(0, -1, 0);
    Describe(1, 0x10, 1);
    Describe(2, 0x20, 8);
    Describe(3, 0x7fffffff, 0);
    memory_.Put(kMetadata, 0xaaa0);
    memory_.Put(kMetadata + 8, 0xbbb0);
  }

  void Describe(int index, int32_t offset, int32_t scope) {
    memory_.Put(kPcs + 16ULL * index, static_cast<uint32_t>(offset) | uint64_t(scope) << 32);
    memory_.Put(kPcs + 16ULL * index + 8, 0);
  }
  // Sender, method number, bci + 1, each small enough for one byte.
  void PutScopes(uint8_t excluded) {
    const auto coded = [&](int value) { return static_cast<uint8_t>(value + excluded); };
    memory_.PutBytes(kScopes + 1, {coded(0), coded(1), coded(8)});
    memory_.PutBytes(kScopes + 8, {coded(1), coded(2), coded(43), 0, 0, 0, 0, 0});
  }

  WalkLayout layout_{};
  MadeUpMemory memory_;
  FoundCode nmethod_;
};

TEST_F(DebugInfoTest, FindsWhatHoldsAtAPcAndItsCallers) {
  for (const bool null_free : {false, true}) {
    layout_.null_free_numbers = null_free;
    PutScopes(null_free ? 1 : 0);
    DebugInfo debug(layout_, memory_);
    debug.Open(nmethod_, memory_);
    Scope scope;
    ASSERT_TRUE(debug.Innermost(kCode + 0x11, scope)) << "between two that are described";
    EXPECT_EQ(scope.method, 0xbbb0U);
    EXPECT_EQ(scope.bci, 42);
    ASSERT_TRUE(debug.At(scope.sender, scope));
    EXPECT_EQ(scope.method, 0xaaa0U);
    EXPECT_EQ(scope.bci, 7);
    EXPECT_EQ(scope.sender, 0);
    ASSERT_TRUE(debug.Innermost(kCode + 0x10, scope));
    EXPECT_EQ(scope.method, 0xaaa0U);
    EXPECT_FALSE(debug.Innermost(kCode + 0x21, scope)) << "behind the last one";
  }
}

TEST_F(DebugInfoTest, DamageIsNoScope) {
  PutScopes(0);
  DebugInfo debug(layout_, memory_);
  debug.Open(nmethod_, memory_);
  Scope scope;
  memory_.PutBytes(kScopes + 8, {9});  // the caller's scope would be after this scope
  EXPECT_FALSE(debug.Innermost(kCode + 0x20, scope));
  memory_.PutBytes(kScopes + 8, {1, 99});  // there is no such method
  EXPECT_FALSE(debug.Innermost(kCode + 0x20, scope));
  memory_.Put(kBlob, 0x400 | uint64_t{0x300} << 32);  // the PcDescs end before they begin
  debug.Open(nmethod_, memory_);
  EXPECT_FALSE(debug.Innermost(kCode + 0x10, scope));
}

// Numbers of up to five bytes.
TEST_F(DebugInfoTest, LongNumbers) {
  layout_.null_free_numbers = false;
  // bci + 1 = 192 + 64 * 5 = 512: 0xc0 says that another byte follows
  memory_.PutBytes(kScopes + 1, {0, 1, 0xc0, 5});
  DebugInfo debug(layout_, memory_);
  debug.Open(nmethod_, memory_);
  Scope scope;
  ASSERT_TRUE(debug.At(1, scope));
  EXPECT_EQ(scope.bci, 511);
  layout_.null_free_numbers = true;
  // bci + 1 = 191 + 64 * 5 = 511: bytes are one higher, and 0xc0 still says that another follows
  memory_.PutBytes(kScopes + 1, {1, 2, 0xc0, 6});
  ASSERT_TRUE(debug.At(1, scope));
  EXPECT_EQ(scope.bci, 510);
  memory_.PutBytes(kScopes + 1, {1, 2, 0});  // no byte is zero
  EXPECT_FALSE(debug.At(1, scope));
}

TEST(SharedCacheTest, KeepsTheNewestOfAPlace) {
  static SharedCache<Scope, 4> cache;
  Scope scope;
  EXPECT_FALSE(cache.Find(0x1000, 1, scope));
  for (uint64_t key = 1; key <= 1000; key++)
    cache.Put(key, 7, {key * 10, static_cast<int32_t>(key), 0});
  int found = 0;
  for (uint64_t key = 1; key <= 1000; key++) {
    EXPECT_FALSE(cache.Find(key, 8, scope)) << "another tag";
    if (!cache.Find(key, 7, scope)) continue;
    found++;
    EXPECT_EQ(scope.method, key * 10);
    EXPECT_EQ(scope.bci, static_cast<int32_t>(key));
  }
  EXPECT_EQ(found, 16);
  EXPECT_TRUE(cache.Find(1000, 7, scope));
}

class ShapeTest : public testing::Test {
 protected:
  // The letter of the shape, as in prologue_test.cc.
  char At(uint64_t offset) const {
    return "WNPFLMCB?"[static_cast<int>(ShapeAt(*rules_, memory_, code_, 0x1000 + offset))];
  }
  std::string Shapes(std::initializer_list<uint64_t> offsets) const {
    std::string shapes;
    for (const uint64_t offset : offsets) shapes += At(offset);
    return shapes;
  }
  void Put(std::vector<uint8_t> bytes, int complete) {
    bytes.resize(bytes.size() + 64, 0x90);
    memory_.PutBytes(0x1000, bytes);
    code_ = {.kind = CodeKind::kNmethod,
             .blob = 0x800,
             .begin = 0x1000,
             .end = 0x1000 + bytes.size(),
             .level = 4,
             .frame_complete = complete,
             .frame_words = 6};
  }
  void PutArm(std::vector<uint32_t> instructions, int complete) {
    std::vector<uint8_t> bytes;
    for (const uint32_t i : instructions)
      for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<uint8_t>(i >> shift));
    Put(bytes, complete);
    rules_ = &kAarch64Rules;
  }
  const CodeRules* rules_ = &kX86_64Rules;
  MadeUpMemory memory_;
  FoundCode code_;
};

TEST_F(ShapeTest, PrologueWithPush) {
  // mov [rsp-0x14000], eax; push rbp; sub rsp, 0x20; nop
  Put({0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff, 0x55, 0x48, 0x83, 0xec, 0x20, 0x90}, 12);
  EXPECT_EQ(Shapes({0, 7, 8, 12}), "NNPW");
}

TEST_F(ShapeTest, PrologueThatStoresFpLater) {
  // sub rsp, 0x18; mov [rsp+0x10], rbp; nop
  Put({0x48, 0x81, 0xec, 0x18, 0, 0, 0, 0x48, 0x89, 0x6c, 0x24, 0x10, 0x90}, 12);
  EXPECT_EQ(Shapes({0, 7, 12}), "NFW");
}

TEST_F(ShapeTest, Epilogue) {
  // add rsp, 0x20; pop rbp; cmp rsp, [r15+0x400]; ja +N; ret
  Put({0x48, 0x83, 0xc4, 0x20, 0x5d, 0x49, 0x3b, 0xa7, 0x00, 0x04, 0, 0, 0x0f, 0x87, 0x10, 0, 0, 0,
       0xc3},
      0);
  EXPECT_EQ(Shapes({0, 4, 5, 12, 18}), "WPNNN");
}

// reserved_stack_check of methods with @ReservedStackAccess.
TEST_F(ShapeTest, EpilogueThatLooksForTheReservedZone) {
  // pop rbp; cmp rsp, [r15+0x4d8]; jb +0x3d; ...; cmp rsp, [r15+0x450]; ja; ret
  std::vector<uint8_t> code = {0x90, 0x5d, 0x49, 0x3b, 0xa7, 0xd8, 0x04, 0,
                               0,    0x0f, 0x82, 0x3d, 0,    0,    0};
  code.resize(code.size() + 0x3d, 0xcc);
  const uint64_t poll = code.size();
  for (const uint8_t byte :
       {0x49, 0x3b, 0xa7, 0x50, 0x04, 0x00, 0x00, 0x0f, 0x87, 0x10, 0x00, 0x00, 0x00, 0xc3})
    code.push_back(byte);
  Put(code, 0);
  EXPECT_EQ(Shapes({0, 1}), "WP");
  for (const uint64_t at : {uint64_t{2}, uint64_t{9}, poll, poll + 13})
    EXPECT_EQ(At(at), 'N') << at;
  code[poll + 13] = 0x90;
  Put(code, 0);
  EXPECT_EQ(At(1), 'W') << "no return";
}

TEST_F(ShapeTest, EpilogueOfANativeWrapper) {
  // leave; cmp qword [r15+8], 0; jne +5; ret
  Put({0xc9, 0x49, 0x81, 0x7f, 0x08, 0, 0, 0, 0, 0x75, 0x05, 0xc3}, 0);
  EXPECT_EQ(Shapes({0, 1, 9, 11}), "WNNN");
}

TEST_F(ShapeTest, EpilogueOfANativeWrapperThatPolls) {
  // leave; test byte [r15+0x28], 1; je +5; jmp; cmp qword [r15+8], 0; jne; ret
  Put({0xc9, 0x41, 0xf6, 0x47, 0x28, 0x01, 0x74, 0x05, 0xe9, 0, 0, 0,   0,
       0x49, 0x83, 0x7f, 0x08, 0x00, 0x0f, 0x85, 0,    0,    0, 0, 0xc3},
      0);
  EXPECT_EQ(Shapes({0, 1, 6, 13, 18, 24}), "WNNNNN");
}

// test byte [r15+disp32], imm8: its displacement does not fit in a byte.
TEST_F(ShapeTest, EpilogueThatPollsFarInTheThread) {
  Put({0xc9, 0x41, 0xf6, 0x87, 0x50, 0x04, 0, 0, 0x01, 0x74, 0x05, 0xe9, 0, 0, 0, 0, 0xc3}, 0);
  EXPECT_EQ(Shapes({0, 1, 9, 16}), "WNNN");
}

TEST_F(ShapeTest, APollOfJdk8) {
  // pop rbp; test [rip+N], eax; ret
  Put({0x90, 0x5d, 0x85, 0x05, 0, 0, 0, 0, 0xc3}, 0);
  EXPECT_EQ(Shapes({0, 1, 2, 8}), "WPNN");
}

TEST_F(ShapeTest, AnExceptionGoesOnToTheCaller) {
  // add rsp, 0x20; pop rbp; jmp out; nop; jmp out
  Put({0x48, 0x83, 0xc4, 0x20, 0x5d, 0xe9, 0, 0, 0, 0x40, 0x90, 0xe9, 0, 0, 0, 0x40}, 0);
  EXPECT_EQ(Shapes({4, 5, 11}), "PNW");
  code_.level = 0;
  EXPECT_EQ(At(11), 'N') << "a native wrapper's";
  // mov byte [rax], 0x5d; jmp in the same code
  Put({0xc6, 0x00, 0x5d, 0xe9, 2, 0, 0, 0}, 0);
  EXPECT_EQ(Shapes({3}), "W");
  code_.level = 0;
  EXPECT_EQ(Shapes({3}), "W");
}

TEST_F(ShapeTest, BehindACallOnTheWayIntoTheInterpreter) {
  // nop; mov rbx, imm64; jmp out
  Put({0x90, 0x48, 0xbb, 1, 2, 3, 4, 5, 6, 7, 8, 0xe9, 0, 0, 0, 0x40}, 0);
  EXPECT_EQ(Shapes({0, 1, 11}), "WCC");
  code_.kind = CodeKind::kStub;
  EXPECT_EQ(Shapes({1}), "W");
  // With a jump within the code, the mov loads a constant.
  Put({0x90, 0x48, 0xbb, 1, 2, 3, 4, 5, 6, 7, 8, 0xe9, 2, 0, 0, 0}, 0);
  EXPECT_EQ(Shapes({1, 11}), "WW");
}

TEST_F(ShapeTest, ThePollsFarSide) {
  // nop; lea r10, [rip]; mov [r15+0x350], r10; jmp in the same code
  Put({0x90, 0x4c, 0x8d, 0x15, 0, 0, 0, 0, 0x4d, 0x89, 0x97, 0x50, 0x03, 0, 0, 0xe9, 0, 0, 0, 0},
      0);
  EXPECT_EQ(Shapes({0, 1, 8, 15}), "WNNN");
  // nop; mov r10, imm64; mov [r15+0x350], r10; jmp in the same code
  Put({0x90, 0x49, 0xba, 1,    2, 3, 4,    5, 6, 7, 8, 0x4d,
       0x89, 0x97, 0x50, 0x03, 0, 0, 0xe9, 0, 0, 0, 0},
      0);
  EXPECT_EQ(Shapes({0, 1, 11, 18}), "WNNN");
}

TEST_F(ShapeTest, StubThatDoesNotSayWhereItsFrameIsComplete) {
  // push rbp; mov rbp, rsp; push rax; leave; ret
  Put({0x55, 0x48, 0x8b, 0xec, 0x50, 0xc9, 0xc3}, -1);
  code_.kind = CodeKind::kStub;
  EXPECT_EQ(Shapes({0, 1, 4, 5, 6}), "NPBBN");
  // sub rsp, 0x20; nop: without fp, by its size. add rsp, 0x10; pop rbp; pop rdx; jmp r10
  Put({0x48, 0x83, 0xec, 0x20, 0x90, 0x48, 0x83, 0xc4, 0x10, 0x5d, 0x5a, 0x41, 0xff, 0xe2}, -1);
  code_.kind = CodeKind::kStub;
  EXPECT_EQ(Shapes({0, 4, 5, 9, 10}), "NWWPN");
}

TEST_F(ShapeTest, WordsThatACallerTakesBack) {
  const auto taken = [&](uint64_t at) { return rules_->takes_back(memory_, 0x1000 + at); };
  Put({0x90, 0x5e, 0x41, 0x5e, 0x90, 0x5d, 0xc3}, -1);
  EXPECT_EQ(taken(0), 0U);
  EXPECT_EQ(taken(1), 2U);
  EXPECT_EQ(taken(2), 1U);
  EXPECT_EQ(taken(4), 0U);
  EXPECT_EQ(taken(5), 0U) << "the frame's own";
  // pop rsi; pop rbp; ret
  Put({0x5e, 0x5d, 0xc3}, -1);
  EXPECT_EQ(taken(0), 1U) << "the second is the frame's own";
  // pop r13 has the same three bits: 41 5d
  Put({0x5e, 0x41, 0x5d, 0x90}, -1);
  EXPECT_EQ(taken(0), 2U);
}

TEST_F(ShapeTest, WhatIsKeptAroundACallIsGivenBack) {
  const auto given = [&](std::initializer_list<uint8_t> bytes, uint64_t at = 0) {
    Put(bytes, -1);
    return rules_->gives_back(memory_, code_, 0x1000 + at);
  };
  // sub rsp, 0x30; mov [rsp], rax; call; mov rax, [rsp]; add rsp, 0x30; nop
  const std::initializer_list<uint8_t> keeps = {0x48, 0x83, 0xec, 0x30, 0x48, 0x89, 0x04, 0x24,
                                                0xe8, 0,    0,    0,    0,    0x48, 0x8b, 0x04,
                                                0x24, 0x48, 0x83, 0xc4, 0x30, 0x90};
  for (const uint64_t at : {4, 8, 13, 17}) EXPECT_EQ(given(keeps, at), 0x30U) << at;
  EXPECT_EQ(given(keeps, 0), 0U) << "not taken yet";
  EXPECT_EQ(given(keeps, 21), 0U) << "given back";
  // add rsp, 0x100
  EXPECT_EQ(given({0x90, 0x48, 0x81, 0xc4, 0, 1, 0, 0, 0x90}), 0x100U);
  EXPECT_EQ(given({0x48, 0x83, 0xc4, 0x30, 0x5d, 0xc3}), 0U) << "the frame's own";
  EXPECT_EQ(given({0xeb, 0x00, 0x48, 0x83, 0xc4, 0x30, 0x90}), 0U) << "behind a jump";
  EXPECT_EQ(given({0x0f, 0x84, 0, 0, 0, 0, 0x48, 0x83, 0xc4, 0x30, 0x90}), 0U) << "a branch";
  EXPECT_EQ(given({0x50, 0x48, 0x83, 0xc4, 0x30, 0x90}), 0U) << "behind a push";
  EXPECT_EQ(given({0x83, 0xc4, 0x30, 0x90}), 0U) << "esp";
}

TEST_F(ShapeTest, WhereTheReturnBarrierLoadsTheStackPointerFrom) {
  const auto from = [&](const std::vector<uint8_t>& bytes) {
    Put(bytes, -1);
    return rules_->loads_sp_from(memory_, 0x1000);
  };
  // mov rsp, [r15+0x538]; push rax
  EXPECT_EQ(from({0x49, 0x8b, 0xa7, 0x38, 0x05, 0, 0, 0x50}), 0x538);
  EXPECT_EQ(from({0x50, 0x49, 0x8b, 0x67, 0x38}), 0x38) << "behind a push";
  EXPECT_EQ(from({0x48, 0x8b, 0xa7, 0x38, 0x05, 0, 0}), -1) << "from rdi";
  EXPECT_EQ(from({0x49, 0x89, 0xa7, 0x38, 0x05, 0, 0}), -1) << "a store";
  EXPECT_EQ(from({0x49, 0x8b, 0x87, 0x38, 0x05, 0, 0}), -1) << "to rax";
  EXPECT_EQ(rules_->loads_sp_from(memory_, 0x5000), -1) << "not to be read";
}

TEST_F(ShapeTest, ArmStubThatDoesNotSayWhereItsFrameIsComplete) {
  // paciasp; stp x29, x30, [sp, #-16]!; mov x29, sp; str x0, [sp, #-16]!; ldp x29, x30, [sp], #16;
  // ret
  PutArm({0xd503233f, 0xa9bf7bfd, 0x910003fd, 0xf81f0fe0, 0xa8c17bfd, 0xd65f03c0}, -1);
  code_.kind = CodeKind::kStub;
  EXPECT_EQ(Shapes({0, 4, 8, 12, 16, 20}), "LLPBPL");
}

TEST_F(ShapeTest, CodeThatCannotBeReadIsUnknown) {
  code_ = {.kind = CodeKind::kNmethod,
           .blob = 0x800,
           .begin = 0x5000,
           .end = 0x6000,
           .level = 4,
           .frame_complete = 8,
           .frame_words = 6};
  EXPECT_EQ(ShapeAt(*rules_, memory_, code_, 0x5000), FrameShape::kUnknown);
}

TEST_F(ShapeTest, Calls) {
  Put({0, 0, 0, 0xe8, 1, 2, 3, 4, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0, 0x90}, 0);
  EXPECT_TRUE(rules_->follows_call(memory_, 0x1008));
  EXPECT_TRUE(rules_->follows_call(memory_, 0x1010));
  EXPECT_FALSE(rules_->follows_call(memory_, 0x100c));
}

TEST_F(ShapeTest, ArmSmallFrame) {
  // nop; sub sp, sp, #0x30; stp x29, x30, [sp, #0x20]; nop
  PutArm({0xd503201f, 0xd100c3ff, 0xa9027bfd, 0xd503201f}, 12);
  EXPECT_EQ(Shapes({0, 4, 8, 12}), "LLMW");
}

TEST_F(ShapeTest, ArmLargeFrame) {
  // paciasp; stp x29, x30, [sp, #-16]!; mov x8, #0x1000; sub sp, sp, x8; nop
  PutArm({0xd503233f, 0xa9bf7bfd, 0xd2820008, 0xcb2863ff, 0xd503201f}, 16);
  EXPECT_EQ(Shapes({0, 4, 8, 12, 16}), "LLPPW");
}

TEST_F(ShapeTest, ArmEpilogues) {
  // ldp x29, x30, [sp, #0x20]; add sp, sp, #0x30; ldr x8, [x28, #0x450]; cmp sp, x8; b.hi +8; ret
  PutArm({0xa9427bfd, 0x9100c3ff, 0xf9422b88, 0xeb2863ff, 0x54000048, 0xd65f03c0}, 0);
  EXPECT_EQ(Shapes({0, 4, 8, 12, 16, 20}), "WMLLLL");
  // add sp, sp, x8; ldp x29, x30, [sp], #16; autiasp; ret
  PutArm({0x8b2863ff, 0xa8c17bfd, 0xd50323bf, 0xd65f03c0}, 0);
  EXPECT_EQ(Shapes({0, 4, 8}), "WPL");
}

TEST_F(ShapeTest, ArmEpilogueThatLooksForTheReservedZone) {
  // ldp x29, x30, [sp], #16; ldr x8, [x28, #0x4d8]; cmp sp, x8; b.lo +12; nop, nop; and the poll
  std::vector<uint32_t> code = {0xa8c17bfd, 0xf9426f88, 0xeb2863ff, 0x54000063, 0xd503201f,
                                0xd503201f, 0xf9422b88, 0xeb2863ff, 0x54000048, 0xd65f03c0};
  PutArm(code, 0);
  EXPECT_EQ(Shapes({4, 8, 12, 24, 36, 16}), "LLLLLW");
  code.back() = 0xd503201f;
  PutArm(code, 0);
  EXPECT_EQ(At(4), 'W') << "no return";
}

TEST_F(ShapeTest, ArmCalls) {
  // bl +16; blr x8; nop
  PutArm({0x94000004, 0xd63f0100, 0xd503201f}, 0);
  EXPECT_TRUE(rules_->follows_call(memory_, 0x1004));
  EXPECT_TRUE(rules_->follows_call(memory_, 0x1008));
  EXPECT_FALSE(rules_->follows_call(memory_, 0x100c));
}

}  // namespace
}  // namespace walkhammer::asgst
