// SPDX-License-Identifier: Apache-2.0
// Walks that begin in the handler of a signal that has interrupted Java code, by the rules of both
// architectures.
#include <vector>

#include "harness/asgst/walk/java_walk_testing.h"

namespace walkhammer::asgst {
namespace {

class SignalTest : public JavaWalkTest {
 protected:
  static constexpr uint64_t kHandler = 0x9100, kRestorer = 0xa000, kOtherStack = 0x8000000,
                            kLowerStack = 0x6000000;

  SignalTest() {
    tables_.Publish(&modules_);
    start_.unwind = &tables_;
    start_.stack_floor = MadeUpJvm::kStack - 0x4000;
    if (is_arm_)
      memory_.PutBytes(kRestorer, {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4});
    else
      memory_.PutBytes(kRestorer, {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05});
  }

  // A signal has interrupted `at`; its handler is interrupted in turn, with this sp.
  void HandleSignal(const Registers& at, uint64_t sp) {
    uint64_t frame = 0;
    if (is_arm_) {
      memory_.PutRecord(sp, 0x77, kRestorer);
      frame = sp + 32 + 128 + 176 + 8;
      for (uint64_t i = 0; i < 33; i++) memory_.Put(frame + 8 * i, 0);
      memory_.Put(frame + 8 * 29, at.fp);
      memory_.Put(frame + 8 * 30, at.lr);
      memory_.Put(frame + 8 * 31, at.sp);
      memory_.Put(frame + 8 * 32, at.pc);
    } else {
      memory_.Put(sp, kRestorer);
      frame = sp + 8 + 40;
      for (uint64_t i = 0; i < 17; i++) memory_.Put(frame + 8 * i, 0);
      memory_.Put(frame + 8 * 10, at.fp);
      memory_.Put(frame + 8 * 15, at.sp);
      memory_.Put(frame + 8 * 16, at.pc);
    }
    start_.registers = {kHandler, sp, 0x77, 0};
  }
  uint64_t Below(uint64_t sp) const { return sp - 0x400; }

  const bool is_arm_ = layout_.rules->has_link_register;
  const UnwindRow rows_[1] = {is_arm_ ? UnwindRow{0, 32, -32, -24, UnwindRow::kSp}
                                      : UnwindRow{0, 8, UnwindRow::kSame, -8, UnwindRow::kSp}};
  const UnwindModule module_{0x9000, 0x9fff, rows_};
  const std::span<const UnwindModule> modules_{&module_, 1};
  UnwindTables tables_;
};

// HotSpot's handlers run on the thread's own stack, others on one of their own.
TEST_P(SignalTest, TheInterruptedCodeIsOnTop) {
  const Registers at = start_.registers;
  for (const uint64_t sp : {Below(at.sp), kOtherStack, kLowerStack}) {
    HandleSignal(at, sp);
    EXPECT_EQ(Walk(), kAll) << std::hex << sp;
    EXPECT_EQ(guesses_, std::vector<bool>(3, false));
    EXPECT_EQ(end_, WalkEnd::kWhole);
  }
}

// On entry no frame is set up yet: the registers are those of the interrupted instruction.
TEST_P(SignalTest, OnEntryToAMethod) {
  Registers at{leaf_, kLeafSp + (is_arm_ ? 32 : 24), 0x1234, caller_ + 0x30};
  start_.registers = at;
  const std::vector<Seen> seen = Walk();
  ASSERT_EQ(seen.size(), 3U);
  for (const uint64_t sp : {Below(at.sp), kOtherStack, kLowerStack}) {
    HandleSignal(at, sp);
    EXPECT_EQ(Walk(), seen);
  }
}

TEST_P(SignalTest, FramesOfTheHandlerComeFirst) {
  const Registers at = start_.registers;
  start_.non_java = true;
  const std::vector<Seen> interrupted = Walk();
  HandleSignal(at, Below(at.sp));
  const std::vector<Seen> seen = Walk();
  ASSERT_EQ(seen.size(), interrupted.size() + 2);
  EXPECT_EQ(seen[0].type, FrameType::kCpp);
  EXPECT_EQ(seen[1].type, FrameType::kCpp) << "the code that the handler returns to";
  EXPECT_EQ(std::vector<Seen>(seen.begin() + 2, seen.end()), interrupted);
  EXPECT_EQ(guesses_, std::vector<bool>(seen.size(), false));
}

TEST_P(SignalTest, HandlersThatInterruptEachOther) {
  Registers at = start_.registers;
  for (int handlers = 1; handlers < 4; handlers++) {
    HandleSignal(at, Below(at.sp));
    at = start_.registers;
    EXPECT_EQ(Walk(), kAll) << handlers;
  }
}

// Frames that lead to one another, and code that only looks like a handler's.
TEST_P(SignalTest, WhatIsNoSignalFrameEnds) {
  const Registers at = start_.registers;
  const uint64_t sp = kOtherStack;
  HandleSignal({kHandler, sp, 0x77, 0}, sp);
  EXPECT_TRUE(Walk().empty());
  EXPECT_EQ(end_, WalkEnd::kNoTop);
  HandleSignal(at, sp);
  memory_.PutBytes(kRestorer, {0x90});
  EXPECT_TRUE(Walk().empty());
}

TEST_P(SignalTest, DamageOfAnyKindEnds) {
  HandleSignal(start_.registers, Below(kLeafSp));
  size_t frames = 0;
  DamageAnyhow(memory_, [&] { frames += Walk().size(); });
  EXPECT_GT(frames, 10000U);
}

INSTANTIATE_TEST_SUITE_P(Each, SignalTest, testing::Values(&kX86_64Rules, &kAarch64Rules),
                         [](const auto& info) {
                           return info.param == &kX86_64Rules ? "x86_64" : "aarch64";
                         });

}  // namespace
}  // namespace walkhammer::asgst
