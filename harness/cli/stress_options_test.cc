// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/stress_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "harness/request/walker_table.h"

namespace walkhammer {
namespace {

using ::testing::HasSubstr;

TEST(StressOptions, Intervals) {
  uint64_t least = 1, most = 1;
  for (const auto& [text, from, to] : {std::tuple("100us", 100000u, 100000u),
                                       {"10us..0.1ms", 10000u, 100000u},
                                       {"back-to-back", 0u, 0u}}) {
    ASSERT_TRUE(ParseInterval(text, least, most).ok()) << text;
    EXPECT_EQ(least, from) << text;
    EXPECT_EQ(most, to) << text;
  }
  for (const char* bad : {"", "5", "10us..", "..10us", "100us..10us", "11s", "fast"})
    EXPECT_FALSE(ParseInterval(bad, least, most).ok()) << bad;
}

// An option that cannot be is refused when it is read, and says so.
TEST(StressOptions, RefusesWhatCannotBe) {
  StressOptions options;
  EXPECT_TRUE(SettingsOf(options, {}).ok());
  options.walkers = {"agct,agct,agct,agct,agct"};
  EXPECT_THAT(SettingsOf(options, {}).failure().message, HasSubstr("at most 4"));
  options.walkers = {};
  options.witness = "asgst";
  EXPECT_EQ(SettingsOf(options, {}).value().witness, FindWalker("asgst"));
  options.witness = "none";
  EXPECT_EQ(SettingsOf(options, {}).value().witness, kNoWitness);
  options.witness = "nobody";
  EXPECT_FALSE(SettingsOf(options, {}).ok());
  options.witness = "";
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
