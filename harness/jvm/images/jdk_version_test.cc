// SPDX-License-Identifier: Apache-2.0
#include "harness/jvm/images/jdk_version.h"

#include <gtest/gtest.h>

#include "harness/base/testing/fails_with.h"

namespace walkhammer {
namespace {

JdkVersion Version(std::string_view text) {
  const auto version = ParseJdkVersion(text);
  EXPECT_TRUE(version.has_value()) << text;
  return version.value_or(JdkVersion{{0}, "", {}});
}

TEST(JdkVersionTest, ReadsWhatJdksSayOfThemselves) {
  struct {
    const char* text;
    std::vector<uint32_t> numbers;
    const char* pre;
    std::optional<uint32_t> build;
  } const rows[] = {
      {"17.0.15+6-Debian-1deb12u1", {17, 0, 15}, "", 6},
      {"17.0.21.0.3+1-1-Debian", {17, 0, 21, 0, 3}, "", 1},
      {"11.0.33-ea+8-post-1-Debian", {11, 0, 33}, "ea", 8},
      {"28-ea+18-1-Debian", {28}, "ea", 18},
      {"25.0.3+9-LTS", {25, 0, 3}, "", 9},
      {"21+35", {21}, "", 35},
      {"17.0.0", {17}, "", {}},
      {"17-internal+0-adhoc.builder.jdk17", {17}, "internal", 0},
      {"1.8.0_504-8u504-b08-1-b08", {8, 0, 504}, "", 8},
      {"1.8.0-internal-b00", {8}, "internal", 0},
      {"1.8.0_352-ea-b01", {8, 0, 352}, "ea", 1},
      {"8u432-b06", {8, 0, 432}, "", 6},
      {"8u352", {8, 0, 352}, "", {}},
      {"8", {8}, "", {}},
  };
  for (const auto& row : rows) {
    const JdkVersion version = Version(row.text);
    EXPECT_EQ(version.numbers, row.numbers) << row.text;
    EXPECT_EQ(version.pre, row.pre) << row.text;
    EXPECT_EQ(version.build, row.build) << row.text;
  }
}

TEST(JdkVersionTest, RefusesWhatIsNoVersion) {
  for (const char* text : {"", "unknown", "-17", "17.", "17.x", "17_1", "1.", "1.x", "1.8.x",
                           "99999999999", "17.99999999999", "17 "})
    EXPECT_FALSE(ParseJdkVersion(text).has_value()) << text;
}

TEST(JdkVersionTest, HasTheOrderOfReleases) {
  const char* const ordered[] = {
      "1.8.0-ea-b01", "1.8.0",         "1.8.0_51-b02", "8u352-ea",   "8u352",     "8u352-b08",
      "8u504-b01",    "8u504-b10",     "11",           "11.0.5+10",  "11.0.13+8", "17-ea+2",
      "17-ea+33",     "17-internal+0", "17",           "17+35",      "17.0.2+8",  "17.0.9+9",
      "17.0.15+6",    "17.0.15.1+1",   "17.0.21-ea+1", "17.0.21+10", "18",        "21.0.13.0.3+1-1",
      "28-ea+18",
  };
  for (size_t i = 0; i < std::size(ordered); i++)
    for (size_t j = 0; j < std::size(ordered); j++) {
      EXPECT_EQ(Version(ordered[i]) < Version(ordered[j]), i < j)
          << ordered[i] << " " << ordered[j];
      EXPECT_EQ(Version(ordered[i]) == Version(ordered[j]), i == j)
          << ordered[i] << " " << ordered[j];
    }
}

TEST(JdkVersionTest, DistributorsWordsMakeNoDifference) {
  EXPECT_EQ(Version("17.0.15+6-Debian-1deb12u1"), Version("17.0.15+6-LTS"));
  EXPECT_EQ(Version("1.8.0_504-8u504-b08-1-b09"), Version("8u504-b08"));
  EXPECT_EQ(Version("17.0.0+35"), Version("17+35"));
  EXPECT_NE(Version("17.0.15+6"), Version("17.0.15+7"));
}

TEST(JdkVersionTest, NumbersComeBeforeWordsAmongPreReleases) {
  EXPECT_LT(Version("17-2"), Version("17-10"));
  EXPECT_LT(Version("17-10"), Version("17-ea"));
  EXPECT_LT(Version("17-ea"), Version("17-internal"));
}

TEST(VersionRangeTest, HoldsItsBeginningAndNotItsEnd) {
  const auto ranges = Must(ParseVersionRanges("[11.0.5,11.0.14)  [17,17.0.9) [19,)"));
  ASSERT_EQ(ranges.size(), 3U);
  for (const char* inside :
       {"11.0.5", "11.0.5+1", "11.0.13+8", "17+35", "17.0.8.1+1", "17.0.9-ea+3", "19", "28-ea+18"})
    EXPECT_TRUE(AnyContains(ranges, Version(inside))) << inside;
  for (const char* outside : {"1.8.0_504", "11.0.4+11", "11.0.5-ea+1", "11.0.14", "16.0.2+7",
                              "17-ea+3", "17.0.9", "17.0.9+9", "18.0.2", "19-ea+1"})
    EXPECT_FALSE(AnyContains(ranges, Version(outside))) << outside;
}

TEST(VersionRangeTest, NoRangeHoldsNothing) {
  const auto none = Must(ParseVersionRanges("  "));
  EXPECT_TRUE(none.empty());
  EXPECT_FALSE(AnyContains(none, Version("17")));
}

TEST(VersionRangeTest, RefusesWhatIsNone) {
  for (const char* text : {"17", "[17)", "[17,18]", "(17,18)", "[,18)", "[x,18)", "[17,x)",
                           "[17,17)", "[18,17)", "[17, 18)", "[17,18),[19,)", "["})
    EXPECT_FALSE(ParseVersionRanges(text).ok()) << text;
}

}  // namespace
}  // namespace walkhammer
