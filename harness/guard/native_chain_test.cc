// SPDX-License-Identifier: Apache-2.0
// Chains of frame records with any contents.
#include <gtest/gtest.h>

#include "harness/guard/guard.h"

namespace walkhammer {
namespace {

TEST(NativeChain, StopsAtWhatIsNoFrameRecord) {
  uint64_t stack[8] = {};
  const auto address = [](const void* p) { return reinterpret_cast<uint64_t>(p); };
  const uint64_t low = address(stack), end = address(stack + 8);
  uint64_t pcs[kMaxNativeFrames] = {};
  // Two records: stack[2] leads to stack[5], which leads down again.
  stack[2] = address(stack + 5);
  stack[3] = 0x111;
  stack[5] = address(stack + 2);
  stack[6] = 0x222;
  EXPECT_EQ(NativeChain(0x99, address(stack + 2), low, end, pcs), 3);
  EXPECT_EQ(pcs[0], 0x99u);
  EXPECT_EQ(pcs[1], 0x111u);
  EXPECT_EQ(pcs[2], 0x222u);
  EXPECT_EQ(NativeChain(0x99, address(stack + 2) + 4, low, end, pcs), 1);
  EXPECT_EQ(NativeChain(0x99, low - 8, low, end, pcs), 1);
  EXPECT_EQ(NativeChain(0x99, end - 8, low, end, pcs), 1);
  EXPECT_EQ(NativeChain(0x99, UINT64_MAX - 7, low, end, pcs), 1);
}

}  // namespace
}  // namespace walkhammer
