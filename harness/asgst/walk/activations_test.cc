// SPDX-License-Identifier: Apache-2.0
// What a sample recorded of its frames, given back later on, on a synthetic JVM.
#include "harness/asgst/walk/activations.h"

#include <memory>

#include "harness/asgst/walk/java_walk_testing.h"

namespace walkhammer::asgst {
namespace {

// In method 0, which method 1 has called, with method 2 inlined in it.
class ActivationsTest : public JavaWalkTest {
 protected:
  void SetUp() override {
    start_.caches = caches_.get();
    JavaWalk walk(layout_, memory_, start_);
    ASSERT_EQ(walk.Begin(), WalkStatus::kFound);
    ASSERT_TRUE(RecordActivations(walk, chain_));
    ASSERT_EQ(chain_.count, 2);
    chain_.runner = kRunner;
  }

  Located LocateIn(uint64_t runner) {
    StoppedStack stopped(runner);
    JavaWalk walk(layout_, memory_, start_);
    if (walk.Begin() == WalkStatus::kFound) stopped.Take(walk, {&kWholeStack, 1});
    return stopped.Locate(chain_);
  }
  std::vector<Seen> Recorded(const Located& located) {
    frames_ = RecordedFrames(layout_, memory_, start_, chain_, located);
    std::vector<Seen> seen;
    for (const JavaFrame& frame : frames_)
      seen.push_back({(frame.method - kMethods) / 0x1000, frame.bci, frame.level, frame.type});
    return seen;
  }
  // Another nmethod is there, with the same debug information. `code`: where its code begins.
  void ChangeCompileId(uint64_t code) {
    memory_.PutBytes(code - 0x1f0 + static_cast<uint64_t>(layout_.compile_id), {0x99});
  }

  static constexpr uint64_t kRunner = 7, kOther = 8;
  static constexpr EndRange kWholeStack = {0, UINT64_MAX};
  const std::unique_ptr<WalkStart::Caches> caches_ = std::make_unique<WalkStart::Caches>();
  ActivationChain chain_{};
  std::vector<JavaFrame> frames_;
};

TEST_P(ActivationsTest, WhatIsThereIsShownInItsPlace) {
  const Located located = LocateIn(kRunner);
  EXPECT_EQ(located.state, ElementState::kExact);
  EXPECT_EQ(located.returned, 0);
  EXPECT_EQ(Recorded(located), std::vector<Seen>{kLeaf});
  EXPECT_EQ(frames_[0].sp, kLeafSp);
  EXPECT_EQ(located.then, Located::Then::kCaller);
  JavaWalk walk(layout_, memory_, start_);
  walk.BeginAtCaller(located.caller);
  JavaFrame frame;
  ASSERT_TRUE(walk.Next(frame));
  EXPECT_EQ(frame.method, MadeUpJvm::Method(2)) << "inlined in the caller";
  EXPECT_EQ(frame.sp, chain_.frames[1].sp);
}

TEST_P(ActivationsTest, WhatHasReturnedIsShownWithWhatWasInlined) {
  const Located located = LocateIn(kOther);
  EXPECT_EQ(located.state, ElementState::kLost);
  EXPECT_EQ(located.returned, 2);
  EXPECT_EQ(Recorded(located), kAll);
  for (const JavaFrame& frame : frames_) {
    EXPECT_EQ(frame.sp, 0U);
    EXPECT_EQ(frame.fp, 0U);
  }
  EXPECT_EQ(frames_[1].pc, chain_.frames[1].place.pc);
  EXPECT_EQ(located.then, Located::Then::kEnd) << "the two were all";
  chain_.reaches_end = false;
  EXPECT_EQ(LocateIn(kOther).then, Located::Then::kUnknown);
}

TEST_P(ActivationsTest, CallersStandAtTheirCallOrTheFrameIsGone) {
  Activation& caller = chain_.frames[1];
  const Activation was = caller;
  const auto expect_returned = [&](int returned) {
    const Located located = LocateIn(kRunner);
    EXPECT_EQ(located.returned, returned);
    EXPECT_EQ(located.recorded, returned + 1);
    EXPECT_EQ(located.state, returned == 0 ? ElementState::kExact : ElementState::kReturned);
  };
  expect_returned(0);
  caller.at_bci++;  // of the inlined method
  expect_returned(1);
  caller = was;
  caller.place.offset += 4;  // the same method, inlined elsewhere
  expect_returned(1);
  caller = was;
  caller.place.code += 0x400;  // compiled anew, and called anew
  expect_returned(1);
  EXPECT_FALSE(LocateIn(kRunner).in_place);
  caller = was;
  caller.method = MadeUpJvm::Method(3);
  EXPECT_EQ(LocateIn(kRunner).state, ElementState::kLost);
}

// Where more frames were recorded than that, the caller of the last is compared as well.
TEST_P(ActivationsTest, TheCallerOfTheLastStandsAtItsCall) {
  chain_.count = 1;
  chain_.has_caller = true;
  EXPECT_EQ(LocateIn(kRunner).state, ElementState::kExact);
  chain_.frames[1].at_bci++;
  EXPECT_EQ(LocateIn(kRunner).state, ElementState::kLost);
  chain_.frames[1].at_bci--;
  chain_.frames[1].end += 16;
  EXPECT_EQ(LocateIn(kRunner).state, ElementState::kLost);
}

// Only the part of a deep stack that the chain needs is read.
TEST_P(ActivationsTest, ThePartOfTheStackUpToTheChainsEndIsEnough) {
  chain_.count = 1;
  const EndRange ends = EndsOf(chain_), nothing = {0, 0};
  EXPECT_EQ(ends.first, chain_.frames[0].end);
  EXPECT_EQ(ends.last, chain_.frames[0].end);
  StoppedStack part(kRunner), none(kRunner);
  JavaWalk walk(layout_, memory_, start_), again(layout_, memory_, start_);
  ASSERT_EQ(walk.Begin(), WalkStatus::kFound);
  part.Take(walk, {&ends, 1});
  chain_.has_caller = true;
  EXPECT_GT(EndsOf(chain_).last, ends.last) << "the caller counts";
  EXPECT_EQ(part.Locate(chain_).state, ElementState::kExact) << "one frame more was read";
  ASSERT_EQ(again.Begin(), WalkStatus::kFound);
  none.Take(again, {&nothing, 1});
  EXPECT_EQ(none.Locate(chain_).state, ElementState::kLost);
}

// Frames that were called since are passed, and not kept.
TEST_P(ActivationsTest, ThePartOfTheStackFromTheChainsBeginIsEnough) {
  ActivationChain older = chain_;
  older.count = 1;
  older.frames[0] = chain_.frames[1];
  const EndRange ends = EndsOf(older);
  EXPECT_EQ(ends.first, chain_.frames[1].end);
  StoppedStack part(kRunner), both(kRunner);
  JavaWalk walk(layout_, memory_, start_), again(layout_, memory_, start_);
  ASSERT_EQ(walk.Begin(), WalkStatus::kFound);
  part.Take(walk, {&ends, 1});
  EXPECT_NE(part.Locate(older).state, ElementState::kLost);
  EXPECT_EQ(part.Locate(chain_).state, ElementState::kReturned) << "its newest frame is not kept";
  EXPECT_EQ(part.Locate(chain_).returned, 1);
  const EndRange ranges[] = {{chain_.frames[0].end, chain_.frames[0].end - 16}, ends};
  ASSERT_EQ(again.Begin(), WalkStatus::kFound);
  both.Take(again, ranges);
  EXPECT_EQ(both.Locate(chain_).state, ElementState::kExact);
}

// New code at the same address describes what the sample never saw.
TEST_P(ActivationsTest, CodeThatIsGoneIsNotAsked) {
  const Located located = LocateIn(kOther);
  ChangeCompileId(caller_);
  const Seen unknown{1, -1, 4, FrameType::kJava};
  EXPECT_EQ(Recorded(located), (std::vector<Seen>{kLeaf, kInlined, unknown}));
  EXPECT_EQ(frames_[1].sp, 0U);
}

// So does code whose id happens to be the same.
TEST_P(ActivationsTest, CodeThatSaysOtherwiseIsNotBelieved) {
  const Located located = LocateIn(kOther);
  const Seen innermost{2, 6, 4, FrameType::kInlined}, unknown{1, -1, 4, FrameType::kJava};
  chain_.frames[1].at_bci = 6;
  EXPECT_EQ(Recorded(located), (std::vector<Seen>{kLeaf, innermost, unknown}));
  chain_.frames[1].at_bci = 5;
  EXPECT_EQ(Recorded(located), kAll);
  chain_.frames[1].method = MadeUpJvm::Method(3);
  EXPECT_EQ(Recorded(located), (std::vector<Seen>{kLeaf, kInlined, {3, -1, 4, FrameType::kJava}}));
}

TEST_P(ActivationsTest, WithoutCompileIdsTheInnermostIsShown) {
  start_.caches = nullptr;
  JavaWalk walk(layout_, memory_, start_);
  ASSERT_EQ(walk.Begin(), WalkStatus::kFound);
  ASSERT_TRUE(RecordActivations(walk, chain_));
  const Seen unknown{1, -1, 4, FrameType::kJava};
  EXPECT_EQ(Recorded(LocateIn(kOther)), (std::vector<Seen>{kLeaf, kInlined, unknown}));
}

INSTANTIATE_TEST_SUITE_P(Each, ActivationsTest, testing::Values(&kX86_64Rules, &kAarch64Rules));

}  // namespace
}  // namespace walkhammer::asgst
