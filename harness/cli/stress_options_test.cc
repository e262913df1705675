// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/stress_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walkhammer {
namespace {

using ::testing::HasSubstr;

TEST(StressOptions, Intervals) {
  uint64_t least = 1, most = 1;
  ASSERT_TRUE(ParseInterval("100us", least, most).ok());
  EXPECT_EQ(least, 100000u);
  EXPECT_EQ(most, 100000u);
  ASSERT_TRUE(ParseInterval("10us..0.1ms", least, most).ok());
  EXPECT_EQ(least, 10000u);
  EXPECT_EQ(most, 100000u);
  ASSERT_TRUE(ParseInterval("back-to-back", least, most).ok());
  EXPECT_EQ(least + most, 0u);
  for (const char* bad : {"", "5", "10us..", "..10us", "100us..10us", "11s", "fast"})
    EXPECT_FALSE(ParseInterval(bad, least, most).ok()) << bad;
}

// An option that cannot be is refused when it is read, and says so.
TEST(StressOptions, RefusesWhatCannotBe) {
  StressOptions options;
  EXPECT_TRUE(SettingsOf(options, {}).ok());
  options.walkers = {"agct,agct,agct,agct,agct"};
  EXPECT_THAT(SettingsOf(options, {}).failure().message, HasSubstr("at most 4"));
  options.walkers = {"jfr"};
  EXPECT_EQ(SettingsOf(options, {}).value().backend, &kJfrBackend);
  options.walkers = {"jfr", "agct"};
  EXPECT_THAT(SettingsOf(options, {}).failure().message, HasSubstr("walks alone"));
  options.walkers = {"agent:/x/libp.so=a:b"};
  EXPECT_EQ(SettingsOf(options, {}).value().backend_argument, "/x/libp.so=a:b");
  options.provider = "ref";
  EXPECT_THAT(SettingsOf(options, {}).failure().message, HasSubstr("its own provider"));
}

}  // namespace
}  // namespace walkhammer
