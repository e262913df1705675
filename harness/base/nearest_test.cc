// SPDX-License-Identifier: Apache-2.0
#include "harness/base/nearest.h"

#include <gtest/gtest.h>

namespace walkhammer {
namespace {

using Names = std::vector<std::string>;

TEST(EditDistanceTest, CountsInsertedDroppedAndReplacedBytes) {
  EXPECT_EQ(EditDistance("", ""), 0u);
  EXPECT_EQ(EditDistance("", "abc"), 3u);
  EXPECT_EQ(EditDistance("abc", ""), 3u);
  EXPECT_EQ(EditDistance("agct", "agct"), 0u);
  EXPECT_EQ(EditDistance("agtc", "agct"), 2u);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(EditDistance("sitting", "kitten"), 3u);
  EXPECT_EQ(EditDistance("aaab", "baaa"), 2u);
}

TEST(NearestNamesTest, NearestFirstThenInTableOrder) {
  const std::string_view names[] = {"c1", "monitor-held", "c2", "monitor-wait"};
  EXPECT_EQ(NearestNames("monitor-hold", names, 2), (Names{"monitor-held", "monitor-wait"}));
  EXPECT_EQ(NearestNames("c3", names, 2), (Names{"c1", "c2"}));
  EXPECT_EQ(NearestNames("c2", names, 1), (Names{"c2"}));
}

TEST(NearestNamesTest, Bounds) {
  const std::string_view names[] = {"a", "b"};
  EXPECT_EQ(NearestNames("zzz", names, 9), (Names{"a", "b"}));
  EXPECT_EQ(NearestNames("zzz", names, 0), Names{});
  EXPECT_EQ(NearestNames("zzz", {}, 3), Names{});
  EXPECT_EQ(NearestNames(std::string(1 << 20, 'a'), names, 1), (Names{"a"}));
}

}  // namespace
}  // namespace walkhammer
