// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/stress_runs/stress_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <set>

#include "harness/base/testing/fails_with.h"
#include "harness/request/walker_table.h"

namespace walkhammer {
namespace {

using ::testing::HasSubstr;

TEST(Profiles, ListsAreSplitAndUnknownOnesNamed) {
  auto chosen = Must(SelectProfiles({"zgc,c1", "xint"}));
  ASSERT_EQ(chosen.size(), 3u);
  EXPECT_STREQ(chosen[1]->name, "c1");
  EXPECT_STREQ(SelectProfiles({}).value()[0]->name, "default");
  EXPECT_THAT(SelectProfiles({"zcg"}), FailsWith(testing::_, HasSubstr("zgc")));
}

class StressPlanTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto jdk = DefaultJdk(); !jdk.ok()) GTEST_SKIP() << jdk.failure().message;
  }
  StressSettings settings_;
};

// jcmd would send SIGQUIT, which ends most programs.
TEST_F(StressPlanTest, AProcessWithoutAJvmIsNotAttachedTo) {
  settings_.loads.pid = static_cast<uint64_t>(getpid());
  EXPECT_THAT(MakeStressPlan(settings_, "/tmp"),
              FailsWith(ExitCode::kBadInput, HasSubstr("runs no JVM")));
}

// Settings that cannot work are refused before anything starts.
TEST_F(StressPlanTest, RefusesWhatCannotBe) {
  EXPECT_THAT(MakeStressPlan(settings_, "/tmp").failure().message, HasSubstr("say what to run"));
  settings_.loads.java = {"Work"};
  EXPECT_TRUE(MakeStressPlan(settings_, "/tmp").ok());
  settings_.loads.workloads = {"torture:mixed"};
  EXPECT_THAT(MakeStressPlan(settings_, "/tmp").failure().message, HasSubstr("say what to run"));
  settings_.loads.workloads = {};
  settings_.backend = &kJfrBackend;
  settings_.walker = "jfr";
  EXPECT_TRUE(MakeStressPlan(settings_, "/tmp").ok());
  settings_.job.no_walk = true;
  EXPECT_THAT(MakeStressPlan(settings_, "/tmp").failure().message, HasSubstr("--no-walk"));
  settings_.job.no_walk = false;
  settings_.job.uncontained = true;
  EXPECT_THAT(MakeStressPlan(settings_, "/tmp").failure().message, HasSubstr("--no-guard"));
}

TEST_F(StressPlanTest, TheMatrixMultipliesWithLabelsOfTheirOwn) {
  settings_.loads.java = {"-cp", "x", "Work"};
  settings_.profiles = SelectProfiles({"default,xint"}).value();
  settings_.jvm_flags = {"-Xmx64m"};
  settings_.jdks.assign(2, DefaultJdk().value().home);
  auto plan = Must(MakeStressPlan(settings_, "/tmp"));
  ASSERT_EQ(plan.cells.size(), 4u);
  std::set<std::string> labels;
  for (const CellPlan& cell : plan.cells) labels.insert(cell.row.label);
  EXPECT_EQ(labels.size(), 4u);
  EXPECT_EQ(plan.cells[1].jvm_flags, (std::vector<std::string>{"-Xint", "-Xmx64m"}));
  EXPECT_EQ(plan.cells[3].row.position, 3);
}

// The walker that answers are compared with: its name, or "none".
TEST_F(StressPlanTest, TortureProgramsHaveAWitness) {
  const auto witness = [&] {
    const uint8_t index = Must(MakeStressPlan(settings_, "/tmp")).cells[0].job.witness;
    return index == 0 ? std::string("none") : AllWalkers()[index - 1U].name;
  };
  const auto walk = [&](const char* walker) {
    settings_.job.walkers[0] = static_cast<uint8_t>(FindWalker(walker).value());
  };
  settings_.loads.workloads = {"torture:mixed"};
  walk("agct");
  EXPECT_EQ(witness(), "asgst");
  walk("asgst@jdk");
  EXPECT_EQ(witness(), "asgst");
  walk("iterator");
  EXPECT_EQ(witness(), "agct") << "the reference cannot be its own witness";
  for (const WalkMode mode : {WalkMode::kParked, WalkMode::kNested}) {
    settings_.job.mode = mode;
    EXPECT_EQ(witness(), "agct");
  }
  settings_.job.mode = WalkMode::kRunning;
  EXPECT_EQ(witness(), "none");
  settings_.job.mode = WalkMode::kHandler;
  settings_.job.no_walk = true;
  EXPECT_EQ(witness(), "none");
  settings_.job.no_walk = false;
  settings_.witness = kNoWitness;
  EXPECT_EQ(witness(), "none");
  settings_.loads.workloads = {};
  settings_.loads.java = {"Work"};
  settings_.witness = FindWalker("agct");
  EXPECT_EQ(witness(), "agct");
  settings_.witness.reset();
  EXPECT_EQ(witness(), "none") << "of a program that is not there to judge walkers";
}

// C2 would compile the chain of the scene c1 after some time.
TEST_F(StressPlanTest, OnlyTheSceneOfC1IsKeptFromC2) {
  settings_.job.step = kStepByTrapFlag;
  settings_.loads.scenes = {"c1", "c2"};
  auto plan = Must(MakeStressPlan(settings_, "/tmp"));
  const auto& cells = plan.cells;
  EXPECT_STREQ(cells[0].job.step_thread, "scene-");
  const auto c1 = cells[0].prepare("/tmp"), c2 = cells[1].prepare("/tmp");
  EXPECT_THAT(c1.value().jvm_flags, ::testing::Contains("-XX:TieredStopAtLevel=3"));
  EXPECT_THAT(c2.value().jvm_flags, ::testing::Not(::testing::Contains(HasSubstr("Tiered"))));
}

}  // namespace
}  // namespace walkhammer
