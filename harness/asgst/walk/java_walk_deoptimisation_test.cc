// SPDX-License-Identifier: Apache-2.0
// The reference walk where the JVM takes compiled code back (deoptimisation, entry barriers), on a
// synthetic JVM. java_walk_stubs_test.cc instantiates these tests.
#include "harness/asgst/walk/java_walk_testing.h"

namespace walkhammer::asgst {
namespace {

// Before a frame is unpacked, a blob saves its registers: from its first call on, this blob never
// returns to its caller, the handler of a frame to be deoptimised.
TEST_P(BetweenFramesTest, OnTheWayIntoDeoptimisation) {
  const uint64_t begin = jvm_.stub, handler = leaf_ + 0x100, sp = kLeafSp - 8;
  SizeStub(6);
  memory_.Put(leaf_ - 0x1f0 + 80, handler);
  memory_.PutInt(leaf_ - 0x1f0 + 48, 8);
  memory_.Put(kLeafSp + 8, leaf_ + 0x20);
  // push rbp; sub rsp, 32; call; mov rsp, rax
  memory_.PutBytes(begin, {0x55, 0x48, 0x83, 0xec, 0x20, 0xe8, 0, 0, 0, 0, 0x48, 0x89, 0xc4, 0xc3});
  memory_.Put(sp, handler);
  EXPECT_EQ(WalkAt(begin, sp, kOlderFp), wanted_);
  memory_.Put(sp - 8, kOlderFp);
  EXPECT_EQ(WalkAt(begin + 1, sp - 8, 0x5678), wanted_);
  EXPECT_EQ(WalkAt(begin + 5, sp - 40, 0x5678), wanted_);
  memory_.Put(sp, 0x77);
  EXPECT_NE(Walk(), wanted_);
}

// With an exception, that blob is jumped to, with sp at the frame to be unpacked. The blob makes
// room for a return address and later gets it from the thread (DeoptimizationBlob's
// exception_in_tls).
TEST_P(BetweenFramesTest, AnExceptionOnItsWayIntoDeoptimisation) {
  constexpr int kR15 = 15;
  constexpr uint64_t kExceptionPc = kThread + 0x100;
  const uint64_t begin = jvm_.stub, pc = leaf_ + 0x20;
  SizeStub(6);
  // push 0; push rbp; sub rsp, 32; mov rdx, [r15+0x100]; mov [rsp+40], rdx; call; mov rsp, rax
  memory_.PutBytes(
      begin, {0x6a, 0x00, 0x55, 0x48, 0x83, 0xec, 0x20, 0x49, 0x8b, 0x97, 0x00, 0x01, 0x00, 0x00,
              0x48, 0x89, 0x54, 0x24, 0x28, 0xe8, 0,    0,    0,    0,    0x48, 0x89, 0xc4, 0xc3});
  memory_.Put(kExceptionPc, pc);
  memory_.Put(kLeafSp - 8, 0x99);  // below sp is what others have left
  EXPECT_EQ(WalkAt(begin, kLeafSp, kOlderFp, {{kR15, kThread}}), wanted_);
  memory_.Put(kLeafSp - 8, 0);
  EXPECT_EQ(WalkAt(begin + 2, kLeafSp - 8, kOlderFp, {{kR15, kThread}}), wanted_);
  memory_.Put(kLeafSp - 16, kOlderFp);
  for (const uint64_t at : {7, 14}) {
    EXPECT_EQ(
        WalkAt(begin + at, kLeafSp - 48, kOlderFp, {{kR15, kThread}, {kRdx, at == 7 ? 0x77 : pc}}),
        wanted_)
        << at;
  }
  memory_.Put(kLeafSp - 8, pc);
  memory_.Put(kExceptionPc, 0);
  EXPECT_EQ(WalkAt(begin + 19, kLeafSp - 48, kOlderFp, {{kR15, kThread}, {kRdx, 0x77}}), wanted_);
  memory_.Put(kLeafSp - 8, 0x77);
  EXPECT_NE(Walk(), wanted_);
}

// A compiled frame that was searched for may be the remains of the frame that is being unpacked.
TEST_P(BetweenFramesTest, WhileFramesAreUnpackedAGuessIsNoFrame) {
  constexpr uint64_t kArray = kThread + 0x110;
  memory_.Put(kLeafSp - 8, leaf_ + 0x20);
  Interrupt(0x9999, kLeafSp - 0x40, 0x5678);
  layout_.unpacked_frames = 0x110;
  memory_.Put(kArray, 0);
  EXPECT_EQ(Walk(), wanted_);
  memory_.Put(kArray, 0x7000);
  EXPECT_EQ(JavaWalk(layout_, memory_, start_).Begin(), WalkStatus::kDeoptimization);
}

// The entry barrier of a method that is not to be entered any more puts the address of the stub
// that it will jump to in place of fp'; fp' is in the register.
TEST_P(BetweenFramesTest, AtABarrierThatGivesItsMethodUp) {
  start_.registers = {leaf_ + 0x1c, kLeafSp, kOlderFp, 0};
  memory_.Put(kLeafSp + 16, jvm_.stub + 0x20);
  EXPECT_EQ(Walk(), wanted_);
  memory_.Put(kLeafSp + 16, 0x5678);
  EXPECT_NE(Walk(), wanted_) << "a register that the caller has saved";
}

}  // namespace
}  // namespace walkhammer::asgst
