// SPDX-License-Identifier: Apache-2.0
// The reference walk through frames of a virtual thread that are in the heap, on a synthetic JVM.
#include "harness/asgst/walk/java_walk_testing.h"

namespace walkhammer::asgst {
namespace {

// The leaf of a virtual thread returns to the stub that brings more frames. In the heap are two
// chunks: the newer one has a compiled frame, an interpreted one and a compiled one, the older one
// an interpreted one.
class FrozenStackTest : public JavaWalkTest {
 protected:
  static constexpr uint64_t kEntry = kLeafSp + 32, kContinuation = 0x910000, kNewer = 0x900000,
                            kOlder = 0x908000, kEmpty = 0x90c000, kStack = 48,
                            kSafepoints = kThread + 0x200;
  static constexpr uint64_t kNewest = kNewer + kStack + 4 * 8, kFp = kNewest + 6 * 8 + 12 * 8,
                            kLast = kFp + 4 * 8, kOlderFp = kOlder + kStack + 14 * 8;

  FrozenStackTest() {
    memory_.Put(kLeafSp + 24, jvm_.stub + 0x40);
    memory_.Put(kThread + 0x108, kEntry);
    memory_.Put(kThread + 0x100, caller_ + 0x30);
    layout_.cont_entry = 0x108;
    layout_.cont_entry_size = 32;
    layout_.cont_return_at = kThread + 0x100;
    layout_.chunks.tail = 24;
    layout_.chunks.parent = 16;
    layout_.chunks.size = 24;
    layout_.chunks.sp = 28;
    layout_.chunks.bottom = 32;
    layout_.chunks.stack = kStack;
    memory_.Put(kEntry + 8, 0);
    memory_.Put(kEntry + 16, kContinuation);
    memory_.Put(kContinuation + 24, kNewer);
    PutChunk(kNewer, kEmpty, 4, static_cast<uint32_t>((kLast + 4 * 8 - kNewer - kStack) / 8));
    PutChunk(kEmpty, kOlder, 9, 9);
    PutChunk(kOlder, 0, 2, 18);
    // The newest frame, whose callee's links are below.
    memory_.PutRecord(kNewest - 16, 0, caller_ + 0x30);
    PutInterpreted(kFp, kNewest + 6 * 8 - 16, 2, 4);
    memory_.PutRecord(kFp, 0, leaf_ + 0x20);
    PutInterpreted(kOlderFp, kOlder + kStack, 1, 4);
    start_.frozen = true;
  }

  void PutChunk(uint64_t at, uint64_t parent, uint32_t sp, uint32_t bottom) {
    for (uint64_t word = 0; word < 40; word++) memory_.Put(at + 8 * word, 0);
    memory_.Put(at + 16, parent);
    memory_.PutInt(at + 24, bottom + 2);
    memory_.PutInt(at + 28, sp);
    memory_.PutInt(at + 32, bottom);
  }
  // An interpreted frame at bytecode 4, with two local variables, whose callee has its links at
  // `links`. Its caller's frame is `words` words above its fp.
  void PutInterpreted(uint64_t fp, uint64_t links, uint64_t method, uint64_t words) {
    memory_.PutRecord(links, (fp - links) / 8, MadeUpJvm::kInterpreter + 0x20);
    memory_.Put(fp + layout_.sender_sp, words);
    memory_.Put(fp - 56, 3);
    memory_.Put(fp + layout_.interpreter_method, MadeUpJvm::Method(method));
    memory_.Put(fp + layout_.interpreter_bcp, MadeUpJvm::Method(method) + 0x100 + 32 + 4);
  }
  // The methods of the frames, and whether each is frozen.
  std::string Frozen(JavaWalk& walk) {
    std::string text;
    JavaFrame frame;
    while (text.size() < 100 && walk.Next(frame)) {
      text += std::to_string((frame.method - kMethods) / 0x1000) + (frame.frozen ? "f" : " ");
      if (frame.guessed) text += '?';
      EXPECT_EQ(frame.frozen, frame.sp == 0);
      Registers caller;
      if (frame.frozen && frame.method == MadeUpJvm::Method(2)) {
        EXPECT_FALSE(walk.Caller(caller));
      }
    }
    return text;
  }

  const std::vector<Seen> left_out_ = kAll;
  const std::vector<Seen> whole_ = {
      kLeaf,    kInlined, kOuter, {2, 4, 0, FrameType::kJava}, kLeaf, {1, 4, 0, FrameType::kJava},
      kInlined, kOuter};
};

INSTANTIATE_TEST_SUITE_P(Architectures, FrozenStackTest,
                         testing::Values(&kX86_64Rules, &kAarch64Rules));

TEST_P(FrozenStackTest, ItsFramesComeBeforeWhatEnteredTheThread) {
  EXPECT_EQ(Walk(), whole_);
  EXPECT_EQ(guesses_, std::vector<bool>(8, false));
  EXPECT_FALSE(broken_);
  JavaWalk walk(layout_, memory_, start_);
  ASSERT_EQ(walk.Begin(), WalkStatus::kFound);
  EXPECT_EQ(Frozen(walk), "0 2f1f2f0f1f2 1 ");
}

TEST_P(FrozenStackTest, ItsFramesAreLeftOutOnDemandAndWhereTheyAreNotKnown) {
  start_.frozen = false;
  EXPECT_EQ(Walk(), left_out_);
  start_.frozen = true;
  layout_.chunks.stack = 0;
  EXPECT_EQ(Walk(), left_out_);
  EXPECT_EQ(guesses_, std::vector<bool>(3, false));
}

TEST_P(FrozenStackTest, NarrowReferences) {
  layout_.chunks.is_narrow = true;
  layout_.chunks.narrow_base = kNewer - 0x800;
  layout_.chunks.narrow_shift = 3;
  const auto narrow = [this](uint64_t at) {
    return static_cast<uint32_t>((at - layout_.chunks.narrow_base) >> 3);
  };
  memory_.PutInt(kContinuation + 24, narrow(kNewer));
  memory_.PutInt(kNewer + 16, narrow(kEmpty));
  memory_.PutInt(kEmpty + 16, narrow(kOlder));
  EXPECT_EQ(Walk(), whole_);
}

// In native code, the thread does not hold up safepoints.
TEST_P(FrozenStackTest, ItsFramesAreLeftOutWhileACollectorMayMoveThem) {
  LeaveJava(kLeafSp, leaf_ + 0x20);
  EXPECT_EQ(Walk(), left_out_) << "nothing counts safepoints";
  layout_.chunks.safepoints_at = kSafepoints;
  memory_.Put(kSafepoints, 2);
  EXPECT_EQ(Walk(), whole_);
  memory_.Put(kSafepoints, 3);
  EXPECT_EQ(Walk(), left_out_);
  EXPECT_EQ(guesses_, (std::vector<bool>{false, true, true}));
  memory_.Put(kSafepoints, 4);
  JavaWalk walk(layout_, memory_, start_);
  JavaFrame frame;
  ASSERT_EQ(walk.Begin(), WalkStatus::kFound);
  for (int i = 0; i < 2; i++) ASSERT_TRUE(walk.Next(frame));
  memory_.Put(kSafepoints, 6);
  EXPECT_EQ(Frozen(walk), "1f?2 ?1 ?") << "a safepoint since";
  memory_.Put(kThread, 6);
  memory_.Put(kSafepoints, 3);
  EXPECT_EQ(Walk(), left_out_) << "in the JVM";
  memory_.Put(kThread, 8);
  EXPECT_EQ(Walk(), whole_) << "back in Java";
}

TEST_P(FrozenStackTest, WhereTheHeapMakesNoSenseTheWalkGoesOnBelowAndSaysSo) {
  const auto guesses = [this](uint64_t at, uint64_t word) {
    uint64_t kept = 0;
    memory_.ReadWord(at, kept);
    memory_.Put(at, word);
    const std::vector<Seen> seen = Walk();
    memory_.Put(at, kept);
    EXPECT_EQ(seen.back(), kOuter);
    EXPECT_LE(seen.size(), whole_.size());
    return guesses_.back();
  };
  EXPECT_TRUE(guesses(kEntry + 16, 0)) << "no continuation";
  EXPECT_TRUE(guesses(kEntry + 8, kLeafSp)) << "an entry inside of an older one";
  EXPECT_TRUE(guesses(kContinuation + 24, 0x777000)) << "no chunk";
  EXPECT_TRUE(guesses(kNewer + 24, 0xffffffff00000008)) << "sp < 0";
  EXPECT_TRUE(guesses(kNewest - 8, 0x4242)) << "no code";
  EXPECT_TRUE(guesses(kNewest + 6 * 8 - 16, 0x10000)) << "fp outside";
  EXPECT_TRUE(guesses(kFp + layout_.sender_sp, static_cast<uint64_t>(-20))) << "sp' descends";
  EXPECT_TRUE(guesses(kOlder + 16, 0x777000)) << "no older chunk";
}

TEST_P(FrozenStackTest, WhileTheThreadMovesItsFramesTheyAreGuesses) {
  layout_.chunks.yield = MadeUpJvm::Method(0);
  EXPECT_FALSE((Walk(), guesses_.back())) << "compiled";
  memory_.PutInt(leaf_ - 0x1f0 + 32, 0);
  EXPECT_TRUE((Walk(), guesses_.back()));
  EXPECT_FALSE(guesses_.front());
}

TEST_P(FrozenStackTest, EndsInDamagedMemory) {
  DamageAnyhow(memory_, [this] { Walk(); });
}

}  // namespace
}  // namespace walkhammer::asgst
