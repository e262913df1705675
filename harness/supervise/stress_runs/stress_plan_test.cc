// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/stress_runs/stress_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <set>

#include "harness/base/testing/fails_with.h"

namespace walkhammer {
namespace {

using ::testing::HasSubstr;

TEST(Profiles, ListsAreSplitAndUnknownOnesNamed) {
  auto chosen = SelectProfiles({"zgc,c1", "xint"});
  ASSERT_TRUE(chosen.ok());
  ASSERT_EQ(chosen.value().size(), 3u);
  EXPECT_STREQ(chosen.value()[1]->name, "c1");
  EXPECT_STREQ(SelectProfiles({}).value()[0]->name, "default");
  EXPECT_THAT(SelectProfiles({"zcg"}), FailsWith(testing::_, HasSubstr("zgc")));
}

// jcmd would send SIGQUIT, which ends most programs.
TEST(StressPlan, AProcessWithoutAJvmIsNotAttachedTo) {
  StressSettings settings;
  settings.loads.pid = static_cast<uint64_t>(getpid());
  const auto jdk = DefaultJdk();
  if (!jdk.ok()) GTEST_SKIP() << jdk.failure().message;
  EXPECT_THAT(MakeStressPlan(settings, "/tmp"),
              FailsWith(ExitCode::kBadInput, HasSubstr("runs no JVM")));
}

// Settings that cannot work are refused before anything starts.
TEST(StressPlan, RefusesWhatCannotBe) {
  if (const auto jdk = DefaultJdk(); !jdk.ok()) GTEST_SKIP() << jdk.failure().message;
  StressSettings settings;
  EXPECT_THAT(MakeStressPlan(settings, "/tmp").failure().message, HasSubstr("say what to run"));
  settings.loads.java = {"Work"};
  EXPECT_TRUE(MakeStressPlan(settings, "/tmp").ok());
  settings.loads.workloads = {"torture:mixed"};
  EXPECT_THAT(MakeStressPlan(settings, "/tmp").failure().message, HasSubstr("say what to run"));
  settings.loads.workloads = {};
  settings.backend = &kJfrBackend;
  settings.walker = "jfr";
  EXPECT_TRUE(MakeStressPlan(settings, "/tmp").ok());
  settings.job.no_walk = true;
  EXPECT_THAT(MakeStressPlan(settings, "/tmp").failure().message, HasSubstr("--no-walk"));
  settings.job.no_walk = false;
  settings.job.uncontained = true;
  EXPECT_THAT(MakeStressPlan(settings, "/tmp").failure().message, HasSubstr("--no-guard"));
}

TEST(StressPlan, TheMatrixMultipliesWithLabelsOfTheirOwn) {
  StressSettings settings;
  settings.loads.java = {"-cp", "x", "Work"};
  settings.profiles = SelectProfiles({"default,xint"}).value();
  settings.jvm_flags = {"-Xmx64m"};
  auto jdk = DefaultJdk();
  if (!jdk.ok()) GTEST_SKIP() << "no JDK here";
  settings.jdks = {jdk.value().home, jdk.value().home};
  auto plan = MakeStressPlan(settings, "/tmp");
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(plan.value().cells.size(), 4u);
  std::set<std::string> labels;
  for (const CellPlan& cell : plan.value().cells) labels.insert(cell.row.label);
  EXPECT_EQ(labels.size(), 4u);
  EXPECT_EQ(plan.value().cells[1].jvm_flags, (std::vector<std::string>{"-Xint", "-Xmx64m"}));
  EXPECT_EQ(plan.value().cells[3].row.position, 3);
}

// C2 would compile the chain of the scene c1 after some time.
TEST(StressPlan, OnlyTheSceneOfC1IsKeptFromC2) {
  if (const auto jdk = DefaultJdk(); !jdk.ok()) GTEST_SKIP() << jdk.failure().message;
  StressSettings settings;
  settings.job.step = kStepByTrapFlag;
  settings.loads.scenes = {"c1", "c2"};
  auto plan = MakeStressPlan(settings, "/tmp");
  ASSERT_TRUE(plan.ok());
  const auto& cells = plan.value().cells;
  EXPECT_STREQ(cells[0].job.step_thread, "scene-");
  const auto c1 = cells[0].prepare("/tmp"), c2 = cells[1].prepare("/tmp");
  EXPECT_THAT(c1.value().jvm_flags, ::testing::Contains("-XX:TieredStopAtLevel=3"));
  EXPECT_THAT(c2.value().jvm_flags, ::testing::Not(::testing::Contains(HasSubstr("Tiered"))));
}

}  // namespace
}  // namespace walkhammer
