// SPDX-License-Identifier: Apache-2.0
#include "harness/walkers/iterated_frame.h"

#include <gtest/gtest.h>

namespace walkhammer {
namespace {

TEST(IteratedFrame, WhatEndsAWalk) {
  const ASGST_Frame nothing{};
  ASGST_Frame place{};
  place.type = ASGST_FRAME2_JAVA;
  EXPECT_TRUE(EndedByOption(ASGST_NO_FRAME, place));
  EXPECT_FALSE(EndedByOption(ASGST_NO_FRAME, nothing)) << "the end of the stack";
  EXPECT_FALSE(EndedByOption(ASGST_BROKEN_STACK, nothing));
  EXPECT_FALSE(EndedByOption(1, place)) << "the buffer is full";
}

}  // namespace
}  // namespace walkhammer
