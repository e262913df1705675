// SPDX-License-Identifier: Apache-2.0
#include "harness/base/nearest.h"

#include <gtest/gtest.h>

namespace walkhammer {
namespace {

using Names = std::vector<std::string>;

TEST(EditDistanceTest, CountsInsertedDroppedReplacedAndSwappedBytes) {
  EXPECT_EQ(EditDistance("", ""), 0u);
  EXPECT_EQ(EditDistance("", "abc"), 3u);
  EXPECT_EQ(EditDistance("abc", ""), 3u);
  EXPECT_EQ(EditDistance("agct", "agct"), 0u);
  EXPECT_EQ(EditDistance("agtc", "agct"), 1u);
  EXPECT_EQ(EditDistance("gatc", "agct"), 2u);
  EXPECT_EQ(EditDistance("ca", "abc"), 3u);
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

TEST(ResemblingNamesTest, OnlyWhatTheWordResembles) {
  const std::string_view names[] = {"fuzz",   "stress", "step",   "replay", "minimize",
                                    "bisect", "show",   "bundle", "report", "gate",
                                    "bugs",   "merge",  "import", "doctor", "help"};
  const auto resembling = [&](std::string_view word) { return ResemblingNames(word, names, 2); };
  EXPECT_EQ(resembling("fuz"), Names{"fuzz"});
  EXPECT_EQ(resembling("fzuz"), Names{"fuzz"});
  EXPECT_EQ(resembling("strss"), Names{"stress"});
  EXPECT_EQ(resembling("minimise"), Names{"minimize"});
  EXPECT_EQ(resembling("gates"), Names{"gate"});
  EXPECT_EQ(resembling("min"), Names{"minimize"});
  EXPECT_EQ(resembling("re"), (Names{"replay", "report"}));
  for (const char* word : {"", "x", "r", "list", "redact", "reproduce", "query", "banana", "ls",
                           "install", "--", "run", "version", "check", "night", "try", "walk"})
    EXPECT_EQ(resembling(word), Names{}) << word;
  EXPECT_EQ(resembling(std::string(1 << 20, 'a')), Names{});
}

TEST(ResemblingNamesTest, ADroppedByteIsLikelierThanAnother) {
  const std::string_view names[] = {"walks", "walker", "no-confirm", "no-coverage"};
  EXPECT_EQ(ResemblingNames("walkr", names, 2), Names{"walker"});
  EXPECT_EQ(ResemblingNames("walk", names, 2), Names{"walks"});
  EXPECT_EQ(ResemblingNames("no-co", names, 2), (Names{"no-confirm", "no-coverage"}));
  EXPECT_EQ(ResemblingNames("no-co", names, 1), Names{"no-confirm"});
}

}  // namespace
}  // namespace walkhammer
