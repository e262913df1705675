// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "harness/elf/disassembler.h"
#include "harness/guard/arch.h"

namespace walkhammer {
namespace {

#if defined(__x86_64__)
constexpr CodeUnit kNop = 0x90;
#else
constexpr CodeUnit kNop = 0xd503201f;
#endif
constexpr uint32_t kUnit = sizeof(CodeUnit);

std::vector<uint32_t> OffsetsAtEnds(const std::vector<CodeUnit>& code, uint64_t bytes) {
  const auto begin = reinterpret_cast<uint64_t>(code.data());
  std::vector<uint32_t> offsets;
  for (const InstructionStart& start : StartsAtEnds(begin, begin + kUnit * code.size(), bytes))
    offsets.push_back(start.offset);
  return offsets;
}

TEST(StartsAtEnds, ShortCodeIsDecodedWhole) {
  EXPECT_THAT(OffsetsAtEnds(std::vector(4, kNop), 2 * kUnit),
              testing::ElementsAre(0, kUnit, 2 * kUnit, 3 * kUnit));
}

TEST(StartsAtEnds, OfLongerCodeBothEndsAre) {
  EXPECT_THAT(OffsetsAtEnds(std::vector(9, kNop), 2 * kUnit),
              testing::ElementsAre(0, kUnit, 7 * kUnit, 8 * kUnit));
}

}  // namespace
}  // namespace walkhammer
