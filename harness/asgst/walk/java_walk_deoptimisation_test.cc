// SPDX-License-Identifier: Apache-2.0
// The reference walk where the JVM takes compiled code back (deoptimisation, entry barriers), on a
// synthetic JVM. java_walk_stubs_test.cc instantiates these tests.
#include "harness/asgst/walk/activations.h"
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

// Deoptimisation replaces the leaf, into which method 2 was inlined; the leaf's caller is
// interpreted. The stub that does so was interrupted once it had removed the compiled frame.
class UnpackedFramesTest : public BetweenFramesTest {
 protected:
  static constexpr uint64_t kHead = kThread + 0x110, kArray = 0x800000, kElements = kArray + 0x80;

  UnpackedFramesTest() {
    layout_.unpacked_frames = 0x110;
    layout_.unpacked = {.caller_pc = 24,
                        .caller_sp = 16,
                        .caller_fp = 40,
                        .count = 64,
                        .elements = 0x80,
                        .element_size = 32,
                        .bci = 8,
                        .method = 16};
    memory_.Put(kHead, kArray);
    PutCaller({MadeUpJvm::kInterpreter + 0x10, kLeafSp + 32, MadeUpJvm::kStack + 0x180, 0});
    memory_.PutInt(kArray + 64, 2);
    PutElement(0, 2, 5);
    PutElement(1, 0, 7);
    start_.unpacked = true;
    Interrupt(jvm_.stub + 8, kLeafSp + 24, 0x5678);
    memory_.Put(kLeafSp + 24, 0x77);
  }
  void PutCaller(const Registers& caller) {
    memory_.Put(kArray + 16, caller.sp);
    memory_.Put(kArray + 24, caller.pc);
    memory_.Put(kArray + 40, caller.fp);
  }
  void PutElement(uint64_t index, uint64_t method, int32_t bci) {
    memory_.PutInt(kElements + 32 * index + 8, static_cast<uint32_t>(bci));
    memory_.Put(kElements + 32 * index + 16, MadeUpJvm::Method(method));
  }
  // How the walk begins if `word` is at `address`.
  WalkStatus With(uint64_t address, uint64_t word) {
    uint64_t kept = 0;
    EXPECT_TRUE(memory_.ReadWord(address, kept));
    memory_.Put(address, word);
    const WalkStatus status = JavaWalk(layout_, memory_, start_).Begin();
    memory_.Put(address, kept);
    return status;
  }

  const std::vector<Seen> unpacked_ = {
      {2, 5, 0, FrameType::kJava}, {0, 7, 0, FrameType::kJava}, wanted_[1]};
};

TEST_P(UnpackedFramesTest, AreThoseThatTheInterpreterWillHave) {
  EXPECT_EQ(Walk(), unpacked_);
  EXPECT_EQ(end_, WalkEnd::kWhole);
  EXPECT_EQ(guesses_, std::vector<bool>(3, false));
  PutElement(0, 2, -1);  // SynchronizationEntryBCI
  EXPECT_EQ(Walk()[0].bci, 0);
}

TEST_P(UnpackedFramesTest, HaveNoPlaceOnTheStack) {
  JavaWalk walk(layout_, memory_, start_);
  JavaFrame frame;
  Registers caller;
  ASSERT_EQ(walk.Begin(), WalkStatus::kFound);
  for (const bool is_oldest : {false, true}) {
    EXPECT_EQ(walk.end(), WalkEnd::kUntold);
    ASSERT_TRUE(walk.Next(frame));
    EXPECT_EQ(frame.pc | frame.sp | frame.fp, 0U);
    EXPECT_EQ(walk.Caller(caller), is_oldest);
  }
  EXPECT_EQ(caller.sp, kLeafSp + 32);
  start_.unpacked = false;
  EXPECT_EQ(Walk(), std::vector<Seen>{});
  EXPECT_EQ(end_, WalkEnd::kDeopt);
}

// Where a walk takes frames by rules, none of these frames is left out.
TEST_P(UnpackedFramesTest, ComeBeforeTheUsualOnes) {
  static WalkStart::Caches caches;
  start_.caches = &caches;
  start_.uses_rules = true;
  JavaWalk walk(layout_, memory_, start_);
  ASSERT_EQ(walk.Begin(), WalkStatus::kFound);
  EXPECT_EQ(walk.TakeUsual(9, [](const JavaWalk::UsualFrame&) {}), 0);
  walk.PassCompiled(MadeUpJvm::kStackEnd);
  JavaFrame frame;
  ASSERT_TRUE(walk.Next(frame));
  EXPECT_EQ(frame.method, MadeUpJvm::Method(2));
}

TEST_P(UnpackedFramesTest, ComeAfterTheStubThatLaysThemOut) {
  start_.non_java = true;
  const auto seen = Walk();
  ASSERT_GE(seen.size(), 4U);
  EXPECT_EQ(seen[0].type, FrameType::kStub);
  EXPECT_EQ(seen[1], unpacked_[0]);
  EXPECT_EQ(seen[3], unpacked_[2]);
}

TEST_P(UnpackedFramesTest, NothingThatMakesNoSenseIsTaken) {
  EXPECT_EQ(With(kArray + 64, 2), WalkStatus::kFound);
  EXPECT_EQ(With(kArray + 64, 0), WalkStatus::kDeoptimization);
  EXPECT_EQ(With(kArray + 64, 3), WalkStatus::kDeoptimization) << "no third element is there";
  EXPECT_EQ(With(kArray + 16, MadeUpJvm::kStackEnd), WalkStatus::kDeoptimization);
  EXPECT_EQ(With(kArray + 16, kLeafSp), WalkStatus::kDeoptimization) << "below sp";
  EXPECT_EQ(With(kArray + 24, 0x77), WalkStatus::kDeoptimization);
  EXPECT_EQ(With(kElements + 8, 50), WalkStatus::kDeoptimization) << "behind the bytecode";
  EXPECT_EQ(With(kElements + 48, MadeUpJvm::Method(3)), WalkStatus::kDeoptimization) << "native";
  EXPECT_EQ(With(kElements + 48, 0x77), WalkStatus::kDeoptimization);
  EXPECT_EQ(With(kHead, 0x1000), WalkStatus::kDeoptimization);
}

// Another thread than the current one goes on and frees the array.
TEST_P(UnpackedFramesTest, TheThreadGoesOn) {
  JavaWalk walk(layout_, memory_, start_);
  JavaFrame frame;
  ASSERT_EQ(walk.Begin(), WalkStatus::kFound);
  ASSERT_TRUE(walk.Next(frame));
  memory_.Put(kHead, kArray + 0x1000);
  EXPECT_FALSE(walk.Next(frame));
  EXPECT_TRUE(walk.broken());
  EXPECT_EQ(walk.end(), WalkEnd::kDeopt);
}

// Until the stub removes the compiled frame, that frame says more.
TEST_P(UnpackedFramesTest, TheCompiledFrameIsStillThere) {
  memory_.Put(kLeafSp + 24, MadeUpJvm::kInterpreter + 0x10);
  start_.registers = {leaf_ + 0x1c, kLeafSp, kOlderFp, 0};
  EXPECT_EQ(Walk(), wanted_);
}

// The deoptimised frame was the oldest one of a virtual thread that is on the stack.
TEST_P(UnpackedFramesTest, BelowWhatEnteredAVirtualThread) {
  const uint64_t entry = kLeafSp + 0x40;
  Enter(entry);
  memory_.PutRecord(entry + 32, MadeUpJvm::kStack + 0x200, layout_.call_stub_return);
  PutCaller({caller_ + 0x30, entry - 0x10, 0, 0});
  EXPECT_EQ(Walk(), (std::vector<Seen>{unpacked_[0], unpacked_[1], kInlined, kOuter}));
}

// A queue may have recorded frames that had no place on the stack yet.
TEST_P(UnpackedFramesTest, AreFoundOnceTheyAreLaidOut) {
  constexpr uint64_t kOuterFp = kLeafSp - 0x20, kInnerFp = kLeafSp - 0x80;
  const auto lay_out = [&](uint64_t inner, uint64_t outer_bci) {
    PutInterpreted(kOuterFp, MadeUpJvm::kInterpreter + 0x10, 0, outer_bci);
    memory_.Put(kOuterFp + layout_.sender_sp, kLeafSp + 32);
    PutInterpreted(kInnerFp, MadeUpJvm::kInterpreter + 0x20, inner, 5);
    memory_.Put(kInnerFp, kOuterFp);
    memory_.Put(kInnerFp + layout_.sender_sp, kInnerFp + 16);
  };
  ActivationChain chain{};
  JavaWalk walk(layout_, memory_, start_);
  ASSERT_EQ(walk.Begin(), WalkStatus::kFound);
  ASSERT_TRUE(RecordActivations(walk, chain));
  ASSERT_EQ(chain.count, 3);
  const EndRange ends = EndsOf(chain);
  lay_out(2, 7);
  memory_.Put(kHead, 0);
  Interrupt(MadeUpJvm::kInterpreter + 0x40, kLeafSp - 0xd0, kInnerFp);
  EXPECT_EQ(Walk(), unpacked_);
  const auto locate = [&] {
    StoppedStack stopped(0);
    JavaWalk now(layout_, memory_, start_);
    EXPECT_EQ(now.Begin(), WalkStatus::kFound);
    stopped.Take(now, {&ends, 1});
    return stopped.Locate(chain);
  };
  const Located located = locate();
  EXPECT_EQ(located.state, ElementState::kExact);
  EXPECT_EQ(located.caller.fp, kOuterFp);
  lay_out(1, 7);
  EXPECT_EQ(locate().returned, 1) << "another method was called";
  lay_out(2, 9);
  EXPECT_EQ(locate().returned, 1) << "by another call";
}

TEST_P(UnpackedFramesTest, AnyDamageEndsTheWalk) {
  DamageAnyhow(memory_, [&] { EXPECT_LE(Walk().size(), 100U); });
}

INSTANTIATE_TEST_SUITE_P(Each, UnpackedFramesTest, testing::Values(&kX86_64Rules, &kAarch64Rules),
                         [](const auto& info) {
                           return info.param == &kX86_64Rules ? "x86_64" : "aarch64";
                         });

}  // namespace
}  // namespace walkhammer::asgst
