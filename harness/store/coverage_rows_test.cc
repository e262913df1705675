// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "harness/store/record_testing.h"
#include "harness/store/run_tables.h"
#include "harness/store/run_writer.h"

namespace walkhammer {
namespace {

RunWriter CoveredRun(const std::string& dir, int workers = 1) {
  RunIdentity identity = TestIdentity();
  identity.workers = workers;
  return std::move(RunWriter::Create(dir, identity).value());
}

std::vector<std::optional<uint64_t>> FirstTimes(const RunReader& run) {
  std::vector<std::optional<uint64_t>> times;
  const CoverageRows code = run.Coverage().value();
  for (const CoverageBlockRow& block : code.blocks) times.push_back(block.first_ms);
  return times;
}

TEST(CoverageRowsTest, KeepsTheMapAndWhenEachBlockWasFirstEntered) {
  const TempDir dir;
  RunWriter run = CoveredRun(dir.path(), 4);
  const CoverageRows wanted = TestCoverage();
  ASSERT_TRUE(run.SetCoverage(wanted).ok());
  const std::vector<uint8_t> first = {1, 0, 0, 0, 0, 0}, second = {1, 0, 7, 0, 0, 1};
  ASSERT_TRUE(run.SaveBlocks(first, 1000).ok());
  ASSERT_TRUE(run.SaveBlocks(second, 2000).ok());
  ASSERT_TRUE(run.SaveBlocks(first, 3000).ok());  // entered blocks stay entered
  RunTotals totals = TestTotals();
  totals.blocks = 3;
  ASSERT_TRUE(run.Finish(RunStatus::kCleanEnd, totals).ok());

  const RunReader reader = std::move(RunReader::Open(dir.path()).value());
  const Result<CoverageRows> code = reader.Coverage();
  ASSERT_TRUE(code.ok()) << code.failure().message;
  EXPECT_EQ(code.value().reason, "");
  EXPECT_EQ(code.value().file, wanted.file);
  EXPECT_EQ(code.value().build_id, wanted.build_id);
  EXPECT_EQ(code.value().functions, wanted.functions);
  const std::vector<std::optional<uint64_t>> times = {1000, {}, 2000, {}, {}, 2000};
  EXPECT_EQ(FirstTimes(reader), times);
  std::vector<CoverageBlockRow> blocks = code.value().blocks;
  for (CoverageBlockRow& block : blocks) block.first_ms.reset();
  EXPECT_EQ(blocks, wanted.blocks);
  EXPECT_EQ(code.value().left_out, wanted.left_out);
  EXPECT_EQ(reader.Run().value().totals.blocks, 3u);
  EXPECT_EQ(reader.Run().value().identity.workers, 4);
  EXPECT_EQ(reader.Rows<ProgressRow>().value().back().blocks, 3u);
}

TEST(CoverageRowsTest, BlocksBeyondTheMapAreIgnored) {
  const TempDir dir;
  RunWriter run = CoveredRun(dir.path());
  ASSERT_TRUE(run.SaveBlocks(std::vector<uint8_t>(100, 1), 500).ok());  // no map yet
  ASSERT_TRUE(run.SetCoverage(TestCoverage()).ok());
  ASSERT_TRUE(run.SaveBlocks(std::vector<uint8_t>(100, 1), 1000).ok());
  EXPECT_EQ(FirstTimes(Read(run)), std::vector<std::optional<uint64_t>>(6, 1000));
}

TEST(CoverageRowsTest, WritesOnlyWhatIsNew) {
  const TempDir dir;
  RunWriter run = CoveredRun(dir.path());
  ASSERT_TRUE(run.SetCoverage(TestCoverage()).ok());
  const std::vector<uint8_t> hit = {1, 0, 0, 0, 0, 0}, more = {1, 1, 0, 0, 0, 0};
  ASSERT_TRUE(run.SaveBlocks(hit, 1000).ok());
  // While another connection writes, no other can. A call that needs no write does not wait.
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(dir.Under(kDbName).c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_TRUE(run.SaveBlocks(hit, 2000).ok());
  ASSERT_EQ(sqlite3_exec(other, "ROLLBACK", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(other);
  ASSERT_TRUE(run.SaveBlocks(more, 3000).ok());
  const std::vector<std::optional<uint64_t>> times = {1000, 3000, {}, {}, {}, {}};
  EXPECT_EQ(FirstTimes(Read(run)), times);
}

TEST(CoverageRowsTest, WithoutCoverageThereIsAReason) {
  const TempDir dir;
  RunWriter run = CoveredRun(dir.path());
  EXPECT_EQ(Read(run).Coverage().value().reason, "none was recorded");
  ASSERT_TRUE(run.SetCoverage({}).ok());
  EXPECT_EQ(Read(run).Coverage().value().reason, "none was recorded");
  ASSERT_TRUE(run.SetCoverage(TestCoverage()).ok());
  EXPECT_EQ(Read(run).Coverage().value().reason, "");
  ASSERT_TRUE(run.SetNoCoverage("the traps cannot be set").ok());
  EXPECT_EQ(Read(run).Coverage().value().reason, "the traps cannot be set");
  EXPECT_TRUE(Read(run).Coverage().value().blocks.empty());
  ASSERT_TRUE(run.SetNoCoverage("another").ok());
  EXPECT_EQ(Read(run).Coverage().value().reason, "another");
  const std::vector<uint8_t> none(6, 0), hit = {0, 1, 0, 0, 0, 0};
  ASSERT_TRUE(run.SaveBlocks(none, 1000).ok());
  EXPECT_EQ(Read(run).Coverage().value().reason, "another");
  ASSERT_TRUE(run.SaveBlocks(hit, 1000).ok());  // a later child could set the traps
  EXPECT_EQ(Read(run).Coverage().value().reason, "");
  EXPECT_EQ(Read(run).Coverage().value().blocks.size(), 6u);
  ASSERT_TRUE(run.SetNoCoverage("another").ok());  // is stored again, like the first time
  EXPECT_EQ(Read(run).Coverage().value().reason, "another");
}

TEST(CoverageRowsTest, AMapThatDoesNotFitTogetherIsRefused) {
  const TempDir dir;
  RunWriter run = CoveredRun(dir.path());
  CoverageRows code = TestCoverage();
  code.functions[1].blocks = 100;
  EXPECT_FALSE(run.SetCoverage(code).ok());
  code = TestCoverage();
  code.blocks[3].function = 3;
  EXPECT_FALSE(run.SetCoverage(code).ok());
  // Such a map is refused in a file, too.
  ASSERT_TRUE(run.SetCoverage(TestCoverage()).ok());
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(dir.Under(kDbName).c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "UPDATE coverage_function SET first_block = 5 WHERE position = 1",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(other);
  const Result<CoverageRows> read = Read(run).Coverage();
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.failure().code, ExitCode::kBadInput);
}

TEST(CoverageRowsTest, MinimizedInputsAreKnown) {
  const TempDir dir;
  RunWriter run = CoveredRun(dir.path());
  const int64_t small =
      run.AddFinding(TestRecord("crash", "fault", "a", Realism::kGenuine)).value().bucket;
  run.AddFinding(TestRecord("crash", "fault", "b", Realism::kGenuine)).value();
  ASSERT_TRUE(run.SetMinimized(small, 0, 4, 5).ok());
  const std::vector<BucketRow> buckets = Read(run).Buckets().value();
  EXPECT_EQ(buckets[0].minimized_edits, 0);
  EXPECT_EQ(buckets[0].minimized_confirmed, 4);
  EXPECT_EQ(buckets[0].minimized_tries, 5);
  EXPECT_EQ(buckets[1].minimized_edits, std::nullopt);
  EXPECT_FALSE(run.SetMinimized(99, 1, 1, 1).ok());
}

TEST(CoverageRowsTest, TotalsCountEnteredBlocksOfTheMap) {
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
  shared->job.churn = 1;
  const auto churn = TotalsOf(*shared).churn;
  ASSERT_TRUE(churn);
  EXPECT_EQ(churn->collections, 3u);
  EXPECT_EQ(churn->rounds, 4u);
  EXPECT_EQ(churn->unloaded, 5u);
}

}  // namespace
}  // namespace walkhammer
