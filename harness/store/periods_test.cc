// SPDX-License-Identifier: Apache-2.0
#include "harness/store/periods.h"

#include <gmock/gmock.h>

#include <climits>
#include <numeric>

#include "harness/base/walk_time.h"
#include "harness/store/record_testing.h"

namespace walkhammer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

CountsSoFar Counts(uint64_t frames, uint64_t errors = 0) {
  return {frames + errors,
          {{"agct", "c2", "in_Java", "nmethod", "frames", frames},
           {"agct", "c2", "in_Java", "nmethod", "-5", errors}},
          {{"agct", "c2", 0, 1024, frames}},
          {{7, errors}}};
}

std::vector<uint64_t> FramesOf(const Periods& periods) {
  for (const PeriodCountRow& row : periods.Counts())
    if (row.code == "frames") return row.counts;
  return {};
}

TEST(Periods, AreDifferencesOfTotals) {
  Periods periods;
  periods.End(1000, Counts(0));  // nothing was walked: the first period has not begun
  EXPECT_THAT(periods.Rows(kNoCell), IsEmpty());
  periods.End(2000, Counts(10));
  EXPECT_FALSE(periods.IsDue(2999));
  EXPECT_TRUE(periods.IsDue(3000));
  periods.End(3000, Counts(15, 4));
  const std::vector<PeriodRow> rows = periods.Rows(kNoCell);
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].begin_ms, 1000u);
  EXPECT_EQ(rows[1].begin_ms, 2000u);
  EXPECT_EQ(rows[1].end_ms, 3000u);
  EXPECT_THAT(FramesOf(periods), ElementsAre(10, 5));
  ASSERT_THAT(periods.Times(), SizeIs(1));
  EXPECT_THAT(periods.Times()[0].counts, ElementsAre(10, 5));
  ASSERT_THAT(periods.Buckets(), SizeIs(1));
  EXPECT_THAT(periods.Buckets()[0].counts, ElementsAre(0, 4));
}

TEST(Periods, RowsMayComeInAnyOrderAndTimesTwice) {
  Periods periods;
  const auto row = [](const char* scene, uint64_t count) {
    return CountRow{"agct", scene, "in_Java", "nmethod", "frames", count};
  };
  const auto time = [](const char* scene, uint64_t from_ns, uint64_t count) {
    return WalkTimeRow{"agct", scene, 0, from_ns, count};
  };
  periods.End(1000, {9, {row("b", 2), row("a", 7)}, {time("b", 1, 2), time("b", 2, 1)}, {}});
  periods.End(2000, {20,
                     {row("a", 8), row("c", 5), row("b", 7)},
                     {time("b", 2, 1), time("a", 1, 3), time("b", 1, 6), time("a", 1, 4)},
                     {}});
  periods.End(3000, {22, {row("b", 9)}, {time("b", 1, 3)}, {}});
  std::vector<std::string> scenes;
  for (const PeriodCountRow& counted : periods.Counts()) scenes.push_back(counted.scene);
  EXPECT_THAT(scenes, ElementsAre("a", "b", "c"));
  EXPECT_THAT(periods.Counts()[0].counts, ElementsAre(7, 1));
  EXPECT_THAT(periods.Counts()[1].counts, ElementsAre(2, 5, 2));
  EXPECT_THAT(periods.Counts()[2].counts, ElementsAre(0, 5));
  ASSERT_THAT(periods.Times(), SizeIs(3));
  EXPECT_THAT(periods.Times()[0].counts, ElementsAre(0, 7));  // a, 1
  EXPECT_THAT(periods.Times()[1].counts, ElementsAre(2, 4));  // b, 1; a smaller total adds nothing
  EXPECT_THAT(periods.Times()[2].counts, ElementsAre(1));     // b, 2
}

TEST(Periods, AHourHasNoMoreThanTheMost) {
  Periods periods;
  for (uint64_t second = 1; second <= 3600; second++)
    if (periods.IsDue(second * 1000)) periods.End(second * 1000, Counts(second * 10));
  periods.EndLast(3'600'000, Counts(36000));
  const std::vector<PeriodRow> rows = periods.Rows(kNoCell);
  EXPECT_LE(rows.size(), Periods::kMost);
  EXPECT_GE(rows.size(), Periods::kMost / 2);
  EXPECT_EQ(rows.front().begin_ms, 0u);
  EXPECT_EQ(rows.back().end_ms, 3'600'000u);
  const std::vector<uint64_t> frames = FramesOf(periods);
  EXPECT_EQ(std::accumulate(frames.begin(), frames.end(), uint64_t{0}), 36000u)
      << "joining loses nothing";
  for (size_t i = 1; i < rows.size(); i++) EXPECT_EQ(rows[i].begin_ms, rows[i - 1].end_ms);
}

TEST(Periods, TheLastIsNoneOfItsOwnIfItIsShort) {
  Periods periods;
  periods.End(1000, Counts(10));
  periods.EndLast(1400, Counts(13));
  EXPECT_THAT(FramesOf(periods), ElementsAre(13));
  EXPECT_EQ(periods.Rows(0).back().end_ms, 1400u);
  Periods longer;
  longer.End(1000, Counts(10));
  longer.EndLast(1600, Counts(13));
  EXPECT_THAT(FramesOf(longer), ElementsAre(10, 3));
}

TEST(Periods, TheLastDoesNotGrowWhenNothingIsWalkedAnyMore) {
  Periods periods;
  periods.End(1000, Counts(10));
  CountsSoFar now = Counts(13);
  periods.EndLast(1400, now);
  now.seen = {{7, 2}};  // a finding of these walks that was drained later
  for (const uint64_t later : {1420, 1440, 9000}) {
    periods.EndLast(later, now);
    ASSERT_THAT(periods.Rows(0), SizeIs(1));
    EXPECT_EQ(periods.Rows(0).back().end_ms, 1400u);
  }
  EXPECT_THAT(FramesOf(periods), ElementsAre(13));
  ASSERT_THAT(periods.Buckets(), SizeIs(1));
  EXPECT_THAT(periods.Buckets()[0].counts, ElementsAre(2));
}

TEST(Periods, ACountThatADyingProcessOverwroteIsNoFall) {
  Periods periods;
  periods.End(1000, Counts(10));
  periods.End(2000, Counts(4));
  periods.End(3000, Counts(6));
  EXPECT_THAT(FramesOf(periods), ElementsAre(10, 0, 2));
}

TEST(Periods, AWalkerThatAJobNamesTwiceIsAddedUp) {
  CountsSoFar now = Counts(10);
  now.times.push_back({"agct", "c2", 0, 1024, 5});
  Periods periods;
  periods.End(1000, now);
  periods.End(2000, now);
  EXPECT_THAT(periods.Times()[0].counts, ElementsAre(15));
}

TEST(Periods, AreReadAsTheyWereSaved) {
  const TemporaryFolder folder;
  RunWriter run = NewRun(folder.Under("run"), {});
  FindingRecord record = TestRecord("crash", "fault", "t", Realism::kGenuine);
  const int64_t bucket = run.AddFinding(record).value().bucket;
  CountsSoFar now = Counts(10);
  now.seen = {{bucket, 3}};
  Periods periods;
  periods.End(1000, now);
  for (int i = 0; i < 2; i++) ASSERT_TRUE(run.SavePeriods(kNoCell, periods).ok());
  now.counts[0].count = 17;
  now.walks = 17;
  periods.End(2000, now);
  ASSERT_TRUE(run.SavePeriods(kNoCell, periods).ok());
  const RunReader read = Read(run);
  EXPECT_THAT(read.Rows<PeriodRow>().value(), SizeIs(2));
  ASSERT_THAT(read.Rows<PeriodCountRow>().value(), SizeIs(2));  // "-5" first
  EXPECT_THAT(read.Rows<PeriodCountRow>().value()[1].counts, ElementsAre(10, 7));
  EXPECT_THAT(read.Rows<PeriodTimeRow>().value().at(0).counts, ElementsAre(10));
  EXPECT_THAT(read.Rows<PeriodBucketRow>().value().at(0).counts, ElementsAre(3));
}

TEST(WalkTime, DepthClassesAdjoin) {
  EXPECT_EQ(DepthClassOf(-1), 0);
  EXPECT_EQ(DepthClassOf(0), 0);
  EXPECT_EQ(DepthClassOf(INT_MAX), kDepthClasses - 1);
  EXPECT_EQ(LeastFrames(0), 1);
  for (int depth = 1; depth < kDepthClasses; depth++) {
    EXPECT_EQ(DepthClassOf(LeastFrames(depth)), depth);
    EXPECT_EQ(DepthClassOf(LeastFrames(depth) - 1), depth - 1);
  }
}

TEST(WalkTime, SlotsAdjoin) {
  EXPECT_EQ(TimeSlotOf(0), 0);
  EXPECT_EQ(TimeSlotOf(UINT64_MAX), kTimeSlots - 1);
  for (int slot = 1; slot < kTimeSlots; slot++) {
    EXPECT_EQ(TimeSlotOf(TimeSlotBegin(slot)), slot);
    EXPECT_EQ(TimeSlotOf(TimeSlotBegin(slot) - 1), slot - 1);
    EXPECT_LE(TimeSlotBegin(slot), TimeSlotBegin(slot - 1) * 17 / 16 + 1);
  }
}

}  // namespace
}  // namespace walkhammer
