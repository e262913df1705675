// SPDX-License-Identifier: Apache-2.0
// puzzle-maze crashes only if each of its conditions holds; engines_test.cc shows who solves it.
#include <gtest/gtest.h>
#include <jni.h>

#include "harness/guard/arch.h"

namespace walkhammer {

extern "C" void WalkhammerMaze(const Registers& r, jint depth, uint64_t anchor_sp);

namespace {

TEST(MazeTest, OnlyTheOneWayEndsInACrash) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const Registers right = {.pc = 0x101b, .sp = 0x202d, .fp = 0x3035, .lr = 0};
  EXPECT_DEATH(WalkhammerMaze(right, 23, 0x4043), "");
  WalkhammerMaze(right, 24, 0x4043);
  WalkhammerMaze(right, 23, 0x4042);
  for (uint64_t Registers::*part : {&Registers::pc, &Registers::sp, &Registers::fp}) {
    Registers wrong = right;
    wrong.*part ^= 1;
    WalkhammerMaze(wrong, 23, 0x4043);
  }
}

}  // namespace
}  // namespace walkhammer
