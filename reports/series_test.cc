// SPDX-License-Identifier: Apache-2.0
#include "reports/series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/gate_testing.h"
#include "reports/history.h"

namespace walkhammer {
namespace {

using testing::HasSubstr;
using testing::Not;

// Nights of one stress run each, which start a day after each other.
class SeriesTest : public testing::Test {
 protected:
  void AddNight(MadeRun run) {
    run.seed = ++nights_;
    run.periods = 20;
    const std::string dir = temp_.Under(fmt::format("n{}/merged/stress.jdk.agct", nights_).c_str());
    run.Write(dir);
    dirs_.push_back(dir);
  }

  TemporaryFolder temp_;
  std::vector<std::string> dirs_;
  uint64_t nights_ = 0;
};

TEST_F(SeriesTest, NamesTheFirstBadNightAndItsBuild) {
  for (int i = 0; i < 8; i++) AddNight({.version = "17.0.9+9", .run_spread = 0.02});
  for (int i = 0; i < 5; i++)
    AddNight({.version = "17.0.10+7", .failing = 0.014, .ns = 1200, .run_spread = 0.02});
  const auto changes = FindSeriesChanges(dirs_);
  ASSERT_EQ(changes.size(), 2u);
  for (const SeriesChange& change : changes) {
    const std::string text = SeriesChangeText(change);
    EXPECT_THAT(text, HasSubstr("n9/merged/stress.jdk.agct (17.0.10+7); last before it "));
    EXPECT_THAT(text, HasSubstr("n8/merged/stress.jdk.agct (17.0.9+9)"));
    EXPECT_FALSE(change.point.drift);
    EXPECT_EQ(change.runs, 13u);
  }
  EXPECT_THAT(HistoryText(ReadHistory({temp_.path()}).value()), HasSubstr("\nChanges\n  worse"));
  EXPECT_THAT(HistoryHtml(ReadHistory({temp_.path()}).value()), HasSubstr("<h2>Changes</h2>"));
}

TEST_F(SeriesTest, NightsOfOneBuildHaveNone) {
  for (int i = 0; i < 14; i++) AddNight({.run_spread = 0.025});
  EXPECT_TRUE(FindSeriesChanges(dirs_).empty());
  EXPECT_THAT(HistoryText(ReadHistory({temp_.path()}).value()), Not(HasSubstr("Changes")));
}

TEST_F(SeriesTest, ADriftIsToldAsOne) {
  for (int i = 0; i < 40; i++) AddNight({.ns = 1000 * std::pow(1.01, i)});
  const auto changes = FindSeriesChanges(dirs_);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_TRUE(changes[0].point.drift);
  EXPECT_THAT(SeriesChangeText(changes[0]),
              HasSubstr("walks of agct, torture:mixed default, 8 to 15 frames drifts"));
}

TEST_F(SeriesTest, OtherGroupsAreOtherSeries) {
  for (int i = 0; i < 6; i++) AddNight({});
  for (int i = 0; i < 6; i++) {
    MadeRun slow{.ns = 2000};
    slow.seed = ++nights_;
    const std::string dir = temp_.Under(fmt::format("n{}/merged/stress.other.agct", i + 1).c_str());
    slow.Write(dir);
    dirs_.push_back(dir);
  }
  EXPECT_TRUE(FindSeriesChanges(dirs_).empty());
}

TEST_F(SeriesTest, WhatCannotBeReadIsLeftOut) {
  EXPECT_TRUE(FindSeriesChanges({}).empty());
  EXPECT_TRUE(FindSeriesChanges({temp_.path(), temp_.Under("none")}).empty());
}

}  // namespace
}  // namespace walkhammer
