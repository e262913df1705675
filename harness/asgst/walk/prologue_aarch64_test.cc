// SPDX-License-Identifier: Apache-2.0
// The frame's shape at each instruction of each sequence that the compilers emit, and the rules
// about calls and polls: on aarch64.
#include "harness/asgst/walk/prologue_testing.h"

namespace walkhammer::asgst {
namespace {

Bytes A(uint32_t instruction) {
  return {static_cast<uint8_t>(instruction), static_cast<uint8_t>(instruction >> 8),
          static_cast<uint8_t>(instruction >> 16), static_cast<uint8_t>(instruction >> 24)};
}

class PrologueAarch64 : public Prologue {
 protected:
  PrologueAarch64() : Prologue(kAarch64Rules, A(0xd503201f)) {}

  const Bytes kNop = A(0xd503201f), kPaciasp = A(0xd503233f), kAutiasp = A(0xd50323bf),
              kSubSp = A(0xd10083ff),  // sub sp, sp, #32
      kSubSpBy = A(0xcb2963ff),        // sub sp, sp, x9
      kAddSp = A(0x910083ff),          // add sp, sp, #32
      kStore = A(0xa9017bfd),          // stp x29, x30, [sp, #16]
      kLoad = A(0xa9417bfd),           // ldp x29, x30, [sp, #16]
      kPush = A(0xa9bf7bfd), kPop = A(0xa8c17bfd), kMoveFp = A(0x910003fd), kRet = A(0xd65f03c0),
              kRetAuthenticated = A(0xd65f0bff), kLoadLimit = A(0xf9402788),  // ldr x8, [x28, #72]
      kCompare = A(0xeb2863ff),                                               // cmp sp, x8
      kBranchHigher = A(0x54000108), kMoveLr = A(0xaa1e03e3), kBr = A(0xd61f0100);
};

TEST_F(PrologueAarch64, Entry) {
  code_.frame_complete = 12;
  EXPECT_EQ(ShapesAt(0, {kNop, kSubSp, kStore, kNop}), "LLMWW");
  EXPECT_EQ(ShapesAt(0, {kPaciasp, kSubSpBy, kStore, kNop}), "LLMWW");
}

TEST_F(PrologueAarch64, EntryOfALargeFrame) {
  code_.frame_complete = 16;
  EXPECT_EQ(ShapesAt(0, {kNop, kPush, kMoveFp, kSubSp}), "LLPPW");
  // Not moved yet when the frame is said to be complete.
  EXPECT_EQ(ShapesAt(0, {kNop, kPush, kMoveFp, kNop}), "LLPPW");
  EXPECT_EQ(ShapesAt(0, {kPaciasp, kPush, A(0xd2820008), kSubSpBy}), "LLPPW") << "mov x8, #0x1000";
}

TEST_F(PrologueAarch64, EntryOfALoopSaysNotWhereItEnds) {
  EXPECT_EQ(ShapesAt(0x100, {kSubSp, kStore}), "WMW");
  EXPECT_EQ(ShapesAt(0x200, {kNop, kStore}), "WWW");
}

TEST_F(PrologueAarch64, Exit) {
  EXPECT_EQ(ShapesAt(0x100, {kLoad, kAddSp, kLoadLimit, kCompare, kBranchHigher, kRet}), "WMLLLLW");
  EXPECT_EQ(ShapesAt(0x200, {kAddSp, kPop, kAutiasp, kRetAuthenticated}), "WPLLW");
  EXPECT_EQ(ShapesAt(0x240, {A(0x8b2863ff), kPop, kAutiasp, kRet}), "WPLLW") << "add sp, sp, x8";
  EXPECT_EQ(ShapesAt(0x280, {kNop, kAddSp, kNop}), "WWWW") << "an add alone ends no frame";
}

TEST_F(PrologueAarch64, ExitHasAtMostEightInstructions) {
  EXPECT_EQ(ShapesAt(0x100, {kCompare, kCompare, kCompare, kCompare, kCompare, kCompare, kCompare,
                             kCompare, kRet}),
            "WLLLLLLLLW");
}

// b.lo past the code that handles a used reserved zone.
TEST_F(PrologueAarch64, ExitOfReservedStackAccess) {
  Put(0x120, {kRet});
  EXPECT_EQ(ShapesAt(0x100, {kCompare, A(0x54000003 | 7 << 5), kNop}), "LLWW");
  EXPECT_EQ(ShapesAt(0x100, {kCompare, A(0x54000003 | 6 << 5), kNop}), "WWWW") << "to no return";
  Put(0x300, {kRet});
  EXPECT_EQ(ShapesAt(0x204, {A(0x54000003 | 63 << 5), kNop}), "LWW");
  EXPECT_EQ(ShapesAt(0x200, {A(0x54000003 | 64 << 5), kNop}), "WWW") << "too far";
  EXPECT_EQ(ShapesAt(0x280, {kPop, kLoadLimit, kCompare, A(0x54000063), kNop, kNop, kLoadLimit,
                             kCompare, kBranchHigher, kRet}),
            "PLLLWWLLLLW");
  Put(0x2a4, {kNop});
  EXPECT_EQ(ShapeAt(0x284), 'W') << "no return";
}

TEST_F(PrologueAarch64, JumpsWithoutAFrame) {
  EXPECT_EQ(ShapesAt(0x100, {kPop, kMoveLr, kBr}), "PLLW");
  EXPECT_EQ(ShapesAt(0x140, {kLoad, kAddSp, kBr}), "WMLW");
  EXPECT_EQ(ShapesAt(0x180, {kNop, kBr}), "WWW") << "its frame is there";
  // b out of the code, and within it
  EXPECT_EQ(ShapesAt(0x1c0, {kPop, A(0x14000000 | kSize / 4)}), "PLW");
  EXPECT_EQ(ShapesAt(0x1c0, {kPop, A(0x14000000 | 4)}), "PWW");
  EXPECT_EQ(ShapesAt(0x100, {kPop, A(0x17ffff00)}), "PLW") << "backwards, to before the code";
}

// adr x8, N  str x8, [x28, #N]  b
TEST_F(PrologueAarch64, SlowPathOfThePoll) {
  EXPECT_EQ(ShapesAt(0x300, {A(0x10000008), A(0xf9000388), A(0x17fffff0)}), "LLWW");
  EXPECT_EQ(ShapesAt(0x300, {A(0x10000008), A(0xf9000388), kNop}), "WWWW");
}

// The last 48 instructions of a long entry are read.
TEST_F(PrologueAarch64, EntryThatIsLong) {
  code_.frame_complete = 0x200;
  Put(0x200 - 4 * 48, {kPush});
  EXPECT_EQ(ShapeAt(0x1f0), 'P');
  Put(0x200 - 4 * 48, {kNop});
  Put(0x200 - 4 * 49, {kPush});
  EXPECT_EQ(ShapeAt(0x1f0), 'L');
}

TEST_F(PrologueAarch64, UnreadableCodeHasAnUnknownShape) { EXPECT_EQ(ShapeAt(2 * kSize), '?'); }

// paciasp; stp; mov x29, sp; str x0, [sp, #-16]!; ldp; ret
TEST_F(PrologueAarch64, StubThatDoesNotSayWhereItsFrameIsComplete) {
  code_.kind = CodeKind::kStub;
  code_.frame_complete = -1;
  EXPECT_EQ(ShapesAt(0, {kPaciasp, kPush, kMoveFp, A(0xf81f0fe0), kPop, kRet}), "LLPBPLB");
}

TEST_F(PrologueAarch64, StubsSetUpFp) {
  EXPECT_EQ(SetUpBy({kPush, kMoveFp}), "4 8");
  EXPECT_EQ(SetUpBy({kPaciasp, kPush, kMoveFp}), "8 12");
  EXPECT_EQ(SetUpBy({kPush, kNop}), "none");
  EXPECT_EQ(SetUpBy({kNop, kMoveFp}), "none");
  int pushed = 0, all = 0;
  EXPECT_FALSE(rules_.sets_up_fp(memory_, kCode + 2 * kSize, pushed, all));
}

TEST_F(PrologueAarch64, Calls) {
  ExpectOfEach(rules_.follows_call, true, true, {A(0x94000010), A(0x97fffff0), A(0xd63f0100)});
  ExpectOfEach(rules_.follows_call, true, false, {A(0x14000010), A(0xd61f0100), kRet, kNop});
}

TEST_F(PrologueAarch64, Polls) {
  ExpectOfEach(rules_.is_poll, false, true, {A(0xb940001f), A(0xb940015f)});
  ExpectOfEach(rules_.is_poll, false, false, {A(0xb9400000), A(0xb940041f), A(0xf940001f), kNop});
}

TEST_F(PrologueAarch64, WordsPushedForALeafCall) {
  const Bytes kPushed = A(0xa9bf27ff), kBlr = A(0xd63f0100), kMovk = A(0xf280001f);
  EXPECT_EQ(TakenBackAt(0, {kPushed, kBlr, kNop, kMovk, kMovk, kAddSp}), "0222220");
  Put(0, {kNop});
  EXPECT_EQ(rules_.takes_back(memory_, code_, kCode + 8), 0u) << "nothing was pushed";
}

TEST_F(PrologueAarch64, InterpreterGoesOn) {
  ExpectOfEach(rules_.goes_on, false, true,
               {A(0xf85f03a8), A(0xf85f03b4), A(0x8b080fb4), A(0xf81f03bf), A(0xf85b83b6)});
  ExpectOfEach(rules_.goes_on, false, false,
               {A(0xf85f03c8), A(0x8b080fb5), A(0xf81f03be), A(0xf85b83b7)});
}

}  // namespace
}  // namespace walkhammer::asgst
