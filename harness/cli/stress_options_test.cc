// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/stress_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <set>

#include "harness/jvm/images/jdk.h"
#include "harness/supervise/matrix/profiles.h"

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

TEST(Profiles, ListsAreSplitAndUnknownOnesNamed) {
  auto chosen = SelectProfiles({"zgc,c1", "xint"});
  ASSERT_TRUE(chosen.ok());
  ASSERT_EQ(chosen.value().size(), 3u);
  EXPECT_STREQ(chosen.value()[1]->name, "c1");
  EXPECT_STREQ(SelectProfiles({}).value()[0]->name, "default");
  auto unknown = SelectProfiles({"zcg"});
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.failure().message, HasSubstr("zgc"));
}

// jcmd would send SIGQUIT, which ends most programs.
TEST(StressOptions, AProcessWithoutAJvmIsNotAttachedTo) {
  StressOptions options;
  options.pid = static_cast<uint64_t>(getpid());
  const auto jdk = DefaultJdk();
  if (!jdk.ok()) GTEST_SKIP() << jdk.failure().message;
  const auto plan = MakeStressPlan(options, {}, "/tmp");
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.failure().code, ExitCode::kBadInput);
  EXPECT_THAT(plan.failure().message, HasSubstr("runs no JVM"));
}

// Options that cannot work are refused before anything starts.
TEST(StressOptions, RefusesWhatCannotBe) {
  StressOptions options;
  options.program = "Work";
  options.walkers = {"agct,agct,agct,agct,agct"};
  EXPECT_THAT(MakeStressPlan(options, {}, "/tmp").failure().message, HasSubstr("at most 4"));
  options.walkers = {};
  options.depth = 0;
  EXPECT_THAT(MakeStressPlan(options, {}, "/tmp").failure().message, HasSubstr("--depth"));
  options.depth = 64;
  options.workloads = {"torture:mixed"};
  EXPECT_THAT(MakeStressPlan(options, {}, "/tmp").failure().message, HasSubstr("say what to run"));
}

TEST(StressOptions, TheMatrixMultipliesWithLabelsOfTheirOwn) {
  StressOptions options;
  options.program = "-cp x Work";
  options.profiles = {"default,xint"};
  auto jdk = DefaultJdk();
  if (!jdk.ok()) GTEST_SKIP() << "no JDK here";
  options.jdks = {jdk.value().home, jdk.value().home};
  auto plan = MakeStressPlan(options, {"-Xmx64m"}, "/tmp");
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(plan.value().cells.size(), 4u);
  std::set<std::string> labels;
  for (const CellPlan& cell : plan.value().cells) labels.insert(cell.row.label);
  EXPECT_EQ(labels.size(), 4u);
  EXPECT_EQ(plan.value().cells[1].jvm_flags, (std::vector<std::string>{"-Xint", "-Xmx64m"}));
}

}  // namespace
}  // namespace walkhammer
