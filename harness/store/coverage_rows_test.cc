// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "harness/base/testing/fails_with.h"
#include "harness/store/record_testing.h"
#include "harness/store/run_tables.h"
#include "harness/store/run_writer.h"

namespace walkhammer {
namespace {

using CoverageRowsTest = NewRunTest;

std::vector<std::optional<uint64_t>> FirstTimes(const RunReader& run) {
  std::vector<std::optional<uint64_t>> times;
  const CoverageRows code = run.Coverage().value();
  for (const CoverageBlockRow& block : code.blocks) times.push_back(block.first_ms);
  return times;
}

TEST_F(CoverageRowsTest, KeepsTheMapAndWhenEachBlockWasFirstEntered) {
  CoverageRows wanted = TestCoverage();
  ASSERT_TRUE(run_.SetCoverage(wanted).ok());
  const std::vector<uint8_t> first = {1, 0, 0, 0, 0, 0}, second = {1, 0, 7, 0, 0, 1};
  ASSERT_TRUE(run_.SaveBlocks(first, 1000).ok());
  ASSERT_TRUE(run_.SaveBlocks(second, 2000).ok());
  ASSERT_TRUE(run_.SaveBlocks(first, 3000).ok());  // entered blocks stay entered
  RunTotals totals = TestTotals();
  totals.blocks = 3;
  ASSERT_TRUE(run_.Finish(RunStatus::kCleanEnd, totals).ok());

  const RunReader reader = Read(run_);
  wanted.blocks[0].first_ms = 1000;
  wanted.blocks[2].first_ms = wanted.blocks[5].first_ms = 2000;
  EXPECT_EQ(Must(reader.Coverage()), wanted);
  EXPECT_EQ(reader.Run().value().totals.blocks, 3u);
  EXPECT_EQ(reader.Rows<ProgressRow>().value().back().blocks, 3u);
}

TEST_F(CoverageRowsTest, BlocksBeyondTheMapAreIgnored) {
  ASSERT_TRUE(run_.SaveBlocks(std::vector<uint8_t>(100, 1), 500).ok());  // no map yet
  ASSERT_TRUE(run_.SetCoverage(TestCoverage()).ok());
  ASSERT_TRUE(run_.SaveBlocks(std::vector<uint8_t>(100, 1), 1000).ok());
  EXPECT_EQ(FirstTimes(Read(run_)), std::vector<std::optional<uint64_t>>(6, 1000));
}

TEST_F(CoverageRowsTest, WritesOnlyWhatIsNew) {
  ASSERT_TRUE(run_.SetCoverage(TestCoverage()).ok());
  const std::vector<uint8_t> hit = {1, 0, 0, 0, 0, 0}, more = {1, 1, 0, 0, 0, 0};
  ASSERT_TRUE(run_.SaveBlocks(hit, 1000).ok());
  // While another connection writes, no other can. A call that needs no write does not wait.
  Database other = OpenDb(run_.dir());
  {
    const Transaction held(other);
    EXPECT_TRUE(run_.SaveBlocks(hit, 2000).ok());
  }
  ASSERT_TRUE(run_.SaveBlocks(more, 3000).ok());
  const std::vector<std::optional<uint64_t>> times = {1000, 3000, {}, {}, {}, {}};
  EXPECT_EQ(FirstTimes(Read(run_)), times);
}

TEST_F(CoverageRowsTest, WithoutCoverageThereIsAReason) {
  const auto reason = [&] { return Read(run_).Coverage().value().reason; };
  EXPECT_EQ(reason(), "none was recorded");
  ASSERT_TRUE(run_.SetCoverage({}).ok());
  EXPECT_EQ(reason(), "none was recorded");
  ASSERT_TRUE(run_.SetCoverage(TestCoverage()).ok());
  EXPECT_EQ(reason(), "");
  ASSERT_TRUE(run_.SetNoCoverage("the traps cannot be set").ok());
  EXPECT_EQ(reason(), "the traps cannot be set");
  EXPECT_TRUE(Read(run_).Coverage().value().blocks.empty());
  ASSERT_TRUE(run_.SetNoCoverage("another").ok());
  EXPECT_EQ(reason(), "another");
  const std::vector<uint8_t> none(6, 0), hit = {0, 1, 0, 0, 0, 0};
  ASSERT_TRUE(run_.SaveBlocks(none, 1000).ok());
  EXPECT_EQ(reason(), "another");
  ASSERT_TRUE(run_.SaveBlocks(hit, 1000).ok());  // a later child could set the traps
  EXPECT_EQ(reason(), "");
  EXPECT_EQ(Read(run_).Coverage().value().blocks.size(), 6u);
  ASSERT_TRUE(run_.SetNoCoverage("another").ok());  // is stored again, like the first time
  EXPECT_EQ(reason(), "another");
}

TEST_F(CoverageRowsTest, AMapThatDoesNotFitTogetherIsRefused) {
  CoverageRows code = TestCoverage();
  code.functions[1].blocks = 100;
  EXPECT_FALSE(run_.SetCoverage(code).ok());
  code = TestCoverage();
  code.blocks[3].function = 3;
  EXPECT_FALSE(run_.SetCoverage(code).ok());
  // Such a map is refused in a file, too.
  ASSERT_TRUE(run_.SetCoverage(TestCoverage()).ok());
  ExecSql(run_.dir(), "UPDATE coverage_function SET first_block = 5 WHERE position = 1");
  EXPECT_THAT(Read(run_).Coverage(), FailsWith(ExitCode::kBadInput));
}

TEST_F(CoverageRowsTest, MinimizedInputsAreKnown) {
  const int64_t small =
      run_.AddFinding(TestRecord("crash", "fault", "a", Realism::kGenuine)).value().bucket;
  run_.AddFinding(TestRecord("crash", "fault", "b", Realism::kGenuine)).value();
  ASSERT_TRUE(run_.SetMinimized(small, 0, 4, 5).ok());
  const std::vector<BucketRow> buckets = Read(run_).Buckets().value();
  EXPECT_EQ(buckets[0].minimized_edits, 0);
  EXPECT_EQ(buckets[0].minimized_confirmed, 4);
  EXPECT_EQ(buckets[0].minimized_tries, 5);
  EXPECT_EQ(buckets[1].minimized_edits, std::nullopt);
  EXPECT_FALSE(run_.SetMinimized(99, 1, 1, 1).ok());
}

TEST(SharedRowsTest, TotalsCountEnteredBlocksOfTheMap) {
  const auto shared = std::make_unique<SharedState>();
  shared->covered.hit[0] = shared->covered.hit[2] = shared->covered.hit[5] = 1;
  EXPECT_EQ(TotalsOf(*shared).blocks, 0u);
  shared->covered.blocks = 5;
  EXPECT_EQ(TotalsOf(*shared).blocks, 2u);
  shared->covered.blocks = UINT32_MAX;  // a dying child may have written anything
  EXPECT_EQ(TotalsOf(*shared).blocks, 3u);
}

TEST(SharedRowsTest, ChurnIsToldOnlyWhereThereWasSome) {
  const auto shared = std::make_unique<SharedState>();
  shared->churn.collections = 3;
  shared->churn.java.rounds = 4;
  shared->churn.java.unloaded = 5;
  EXPECT_FALSE(TotalsOf(*shared).churn);
  shared->failed_loads.loads = 6;
  shared->failed_loads.unseen = 1;
  EXPECT_FALSE(TotalsOf(*shared).failed_loads);
  shared->job.mode = ChildMode::kFaults;
  const auto loads = TotalsOf(*shared).failed_loads;
  ASSERT_TRUE(loads);
  EXPECT_EQ(*loads, (FailedLoadTotals{6, 0, 0, 0, 0, 1, 0}));
  shared->job.churn = 1;
  const auto churn = TotalsOf(*shared).churn;
  ASSERT_TRUE(churn);
  EXPECT_EQ(churn->collections, 3u);
  EXPECT_EQ(churn->rounds, 4u);
  EXPECT_EQ(churn->unloaded, 5u);
}

}  // namespace
}  // namespace walkhammer
