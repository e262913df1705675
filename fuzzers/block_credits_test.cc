// SPDX-License-Identifier: Apache-2.0
#include "fuzzers/block_credits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace walkhammer {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kFirst = 0x1111, kSecond = 0x2223;

class BlockCreditsTest : public testing::Test {
 protected:
  // The blocks that `input` shows after a run in which the traps of the blocks `entered` fired.
  std::vector<size_t> Run(uint64_t input, const std::vector<size_t>& entered) {
    std::vector<uint8_t> counters(BlockCredits::kMost);
    for (size_t block : entered) counters[block] = 1;
    credits_->Settle(input, counters.data(), counters.size());
    std::vector<size_t> shown;
    for (size_t block = 0; block < counters.size(); block++)
      if (counters[block] != 0) shown.push_back(block);
    return shown;
  }

  std::unique_ptr<BlockCredits> credits_ = std::make_unique<BlockCredits>();
};

TEST_F(BlockCreditsTest, AnInputShowsItsBlocksWheneverItRuns) {
  EXPECT_THAT(Run(kFirst, {0, 7, 8, BlockCredits::kMost - 1}),
              ElementsAre(0, 7, 8, BlockCredits::kMost - 1));
  EXPECT_THAT(Run(kFirst, {}), ElementsAre(0, 7, 8, BlockCredits::kMost - 1));
  EXPECT_THAT(Run(kSecond, {}), IsEmpty());
  EXPECT_THAT(Run(kFirst, {}), ElementsAre(0, 7, 8, BlockCredits::kMost - 1));
}

// As after a restart, when all traps are new.
TEST_F(BlockCreditsTest, NoOtherInputShowsThem) {
  EXPECT_THAT(Run(kFirst, {3, 4}), ElementsAre(3, 4));
  EXPECT_THAT(Run(kSecond, {2, 3, 4, 5}), ElementsAre(2, 5));
  EXPECT_THAT(Run(kFirst, {2}), ElementsAre(3, 4));
}

TEST_F(BlockCreditsTest, CreditGrows) {
  EXPECT_THAT(Run(kFirst, {3}), ElementsAre(3));
  EXPECT_THAT(Run(kFirst, {9}), ElementsAre(3, 9));
  EXPECT_THAT(Run(kFirst, {}), ElementsAre(3, 9));
}

TEST_F(BlockCreditsTest, HashesThatShareAFilterBitAreKeptApart) {
  const uint64_t alike = kFirst + (uint64_t{1} << 32);
  EXPECT_THAT(Run(kFirst, {3}), ElementsAre(3));
  EXPECT_THAT(Run(alike, {}), IsEmpty());
}

}  // namespace
}  // namespace walkhammer
