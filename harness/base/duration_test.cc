// SPDX-License-Identifier: Apache-2.0
#include "harness/base/duration.h"

#include <gtest/gtest.h>

#include <limits>

#include "harness/base/numbers.h"
#include "harness/base/testing/fails_with.h"

namespace walkhammer {
namespace {

using std::chrono::nanoseconds;

TEST(DurationTest, ReadsEveryUnit) {
  const struct {
    const char* text;
    int64_t ns;
  } cases[] = {
      {"1ns", 1},
      {"10us", 10'000},
      {"500ms", 500'000'000},
      {"60s", 60'000'000'000},
      {"0.5s", 500'000'000},
      {"0.1s", 100'000'000},
      {"2m", 120'000'000'000},
      {"1h", 3'600'000'000'000},
      {"1.5h", 5'400'000'000'000},
      {"87600h", 315'360'000'000'000'000},
  };
  for (const auto& c : cases) {
    const auto result = Must(ParseDuration(c.text, "--time"));
    EXPECT_EQ(result.count(), c.ns) << c.text;
  }
}

TEST(DurationTest, RefusesNonsense) {
  for (const char* text :
       {"",         "x",      "30",   "s",   "-1s",   "+1s",    "1 s",
        "1s ",      " 1s",    "1e3s", "inf", "infs",  "nans",   "0s",
        "0.0001ns", "1.2.3s", "1d",   "1S",  "0x10s", "87601h", "99999999999999999999999h",
        "1s1"}) {
    EXPECT_THAT(ParseDuration(text, "--time"), FailsWith(ExitCode::kBadInput)) << text;
  }
}

TEST(DurationTest, NamesTheOption) {
  EXPECT_EQ(ParseDuration("x", "--time").failure().message,
            "--time must be a duration such as 30s, 500ms or 2m, not \"x\"");
  EXPECT_EQ(ParseDuration("", "--hang-limit").failure().message,
            "--hang-limit must be a duration such as 30s, 500ms or 2m, not \"\"");
}

TEST(Numbers, RoundedOnesHaveNoExponent) {
  for (const auto& [number, text] :
       std::vector<std::pair<double, const char*>>{{0, "0"},
                                                   {0.01234, "0.0123"},
                                                   {1.306, "1.31"},
                                                   {99.96, "100"},
                                                   {999.4, "999"},
                                                   {999.5, "1,000"},
                                                   {2881.2, "2,881"},
                                                   {1e30, "1,000,000,000,000,000,000"},
                                                   {1360, "1,360"},
                                                   {950000, "950,000"}})
    EXPECT_EQ(Rounded(number), text);
  EXPECT_EQ(Rounded(0.999, 2), "1");
  EXPECT_EQ(Rounded(99.4, 2), "99");
  EXPECT_EQ(Rounded(99.6, 2), "100");
  EXPECT_EQ(Rounded(std::numeric_limits<double>::infinity()), "endless");
  EXPECT_EQ(Rounded(std::numeric_limits<double>::quiet_NaN()), "endless");
}

TEST(FormatTest, Counts) {
  EXPECT_EQ(Grouped(0), "0");
  EXPECT_EQ(Grouped(999), "999");
  EXPECT_EQ(Grouped(1000), "1,000");
  EXPECT_EQ(Grouped(123456), "123,456");
  EXPECT_EQ(Grouped(12345678), "12,345,678");
  EXPECT_EQ(Grouped(std::numeric_limits<uint64_t>::max()), "18,446,744,073,709,551,615");
}

TEST(FormatTest, Rates) {
  EXPECT_EQ(FormatRate(0), "0/s");
  EXPECT_EQ(FormatRate(85.4), "85/s");
  EXPECT_EQ(FormatRate(999.4), "999/s");
  EXPECT_EQ(FormatRate(999.6), "1.0k/s");
  EXPECT_EQ(FormatRate(9'500), "9.5k/s");
  EXPECT_EQ(FormatRate(9'960), "10k/s");
  EXPECT_EQ(FormatRate(612'345), "612k/s");
  EXPECT_EQ(FormatRate(999'700), "1.0M/s");
  EXPECT_EQ(FormatRate(1'234'567), "1.2M/s");
  EXPECT_EQ(FormatRate(5e15), "5000T/s");
  EXPECT_EQ(FormatRate(-1), "0/s");
  EXPECT_EQ(FormatRate(std::numeric_limits<double>::quiet_NaN()), "0/s");
  EXPECT_EQ(FormatRate(std::numeric_limits<double>::infinity()), "0/s");
}

}  // namespace
}  // namespace walkhammer
