// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "harness/store/record_testing.h"
#include "harness/store/run_db.h"
#include "harness/store/run_tables.h"

namespace walkhammer {
namespace {

RunDb RunWithWorkers(const std::string& dir, int workers = 1) {
  RunIdentity identity = TestIdentity();
  identity.workers = workers;
  return std::move(RunDb::Create(dir, identity).value());
}

std::vector<std::optional<uint64_t>> FirstTimes(const RunDb& run) {
  std::vector<std::optional<uint64_t>> times;
  const CoverageRows code = run.Coverage().value();
  for (const CoverageBlockRow& block : code.blocks) times.push_back(block.first_ms);
  return times;
}

TEST(RunDbCoverage, KeepsTheMapAndWhenEachBlockWasFirstEntered) {
  const TempDir dir;
  RunDb run = RunWithWorkers(dir.path(), 4);
  const CoverageRows wanted = TestCoverage();
  ASSERT_TRUE(run.SetCoverage(wanted).ok());
  const std::vector<uint8_t> first = {1, 0, 0, 0, 0, 0}, second = {1, 0, 7, 0, 0, 1};
  ASSERT_TRUE(run.SaveBlocks(first, 1000).ok());
  ASSERT_TRUE(run.SaveBlocks(second, 2000).ok());
  ASSERT_TRUE(run.SaveBlocks(first, 3000).ok());  // entered blocks stay entered
  RunTotals totals = TestTotals();
  totals.blocks = 3;
  ASSERT_TRUE(run.Finish(RunStatus::kCleanEnd, totals).ok());

  const RunDb reader = std::move(RunDb::Open(dir.path()).value());
  const Result<CoverageRows> code = reader.Coverage();
  ASSERT_TRUE(code.ok()) << code.failure().message;
  EXPECT_EQ(code.value().reason, "");
  EXPECT_EQ(code.value().file, wanted.file);
  EXPECT_EQ(code.value().build_id, wanted.build_id);
  ASSERT_EQ(code.value().functions.size(), wanted.functions.size());
  for (size_t i = 0; i < wanted.functions.size(); i++) {
    EXPECT_EQ(code.value().functions[i].name, wanted.functions[i].name);
    EXPECT_EQ(code.value().functions[i].address, wanted.functions[i].address);
    EXPECT_EQ(code.value().functions[i].size, wanted.functions[i].size);
    EXPECT_EQ(code.value().functions[i].reach, wanted.functions[i].reach);
    EXPECT_EQ(code.value().functions[i].first_block, wanted.functions[i].first_block);
    EXPECT_EQ(code.value().functions[i].blocks, wanted.functions[i].blocks);
  }
  ASSERT_EQ(code.value().blocks.size(), wanted.blocks.size());
  for (size_t i = 0; i < wanted.blocks.size(); i++) {
    EXPECT_EQ(code.value().blocks[i].address, wanted.blocks[i].address);
    EXPECT_EQ(code.value().blocks[i].size, wanted.blocks[i].size);
    EXPECT_EQ(code.value().blocks[i].function, wanted.blocks[i].function);
  }
  const std::vector<std::optional<uint64_t>> times = {1000, {}, 2000, {}, {}, 2000};
  EXPECT_EQ(FirstTimes(reader), times);
  ASSERT_EQ(code.value().left_out.size(), 1u);
  EXPECT_EQ(code.value().left_out[0].name, wanted.left_out[0].name);
  EXPECT_EQ(code.value().left_out[0].reason, wanted.left_out[0].reason);
  EXPECT_EQ(reader.Run().value().totals.blocks, 3u);
  EXPECT_EQ(reader.Run().value().identity.workers, 4);
  EXPECT_EQ(reader.Progress().value().back().blocks, 3u);
}

TEST(RunDbCoverage, BlocksBeyondTheMapAreIgnored) {
  const TempDir dir;
  RunDb run = RunWithWorkers(dir.path());
  ASSERT_TRUE(run.SaveBlocks(std::vector<uint8_t>(100, 1), 500).ok());  // no map yet
  ASSERT_TRUE(run.SetCoverage(TestCoverage()).ok());
  ASSERT_TRUE(run.SaveBlocks(std::vector<uint8_t>(100, 1), 1000).ok());
  EXPECT_EQ(FirstTimes(run), std::vector<std::optional<uint64_t>>(6, 1000));
}

TEST(RunDbCoverage, WritesOnlyWhatIsNew) {
  const TempDir dir;
  RunDb run = RunWithWorkers(dir.path());
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
  EXPECT_EQ(FirstTimes(run), times);
}

TEST(RunDbCoverage, WithoutCoverageThereIsAReason) {
  const TempDir dir;
  RunDb run = RunWithWorkers(dir.path());
  EXPECT_EQ(run.Coverage().value().reason, "none was recorded");
  ASSERT_TRUE(run.SetCoverage({}).ok());
  EXPECT_EQ(run.Coverage().value().reason, "none was recorded");
  ASSERT_TRUE(run.SetCoverage(TestCoverage()).ok());
  EXPECT_EQ(run.Coverage().value().reason, "");
  ASSERT_TRUE(run.SetNoCoverage("the traps cannot be set").ok());
  EXPECT_EQ(run.Coverage().value().reason, "the traps cannot be set");
  EXPECT_TRUE(run.Coverage().value().blocks.empty());
  ASSERT_TRUE(run.SetNoCoverage("another").ok());
  EXPECT_EQ(run.Coverage().value().reason, "another");
  const std::vector<uint8_t> none(6, 0), hit = {0, 1, 0, 0, 0, 0};
  ASSERT_TRUE(run.SaveBlocks(none, 1000).ok());
  EXPECT_EQ(run.Coverage().value().reason, "another");
  ASSERT_TRUE(run.SaveBlocks(hit, 1000).ok());  // a later child could set the traps
  EXPECT_EQ(run.Coverage().value().reason, "");
  EXPECT_EQ(run.Coverage().value().blocks.size(), 6u);
  ASSERT_TRUE(run.SetNoCoverage("another").ok());  // is stored again, like the first time
  EXPECT_EQ(run.Coverage().value().reason, "another");
}

TEST(RunDbCoverage, AMapThatDoesNotFitTogetherIsRefused) {
  const TempDir dir;
  RunDb run = RunWithWorkers(dir.path());
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
  const Result<CoverageRows> read = run.Coverage();
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.failure().code, ExitCode::kBadInput);
}

TEST(RunDbCoverage, MinimizedInputsAreKnown) {
  const TempDir dir;
  RunDb run = RunWithWorkers(dir.path());
  const int64_t small =
      run.AddFinding(TestRecord("crash", "fault", "a", Realism::kGenuine)).value().bucket;
  run.AddFinding(TestRecord("crash", "fault", "b", Realism::kGenuine)).value();
  ASSERT_TRUE(run.SetMinimized(small, 0, 4, 5).ok());
  const std::vector<BucketRow> buckets = run.Buckets().value();
  EXPECT_EQ(buckets[0].minimized_edits, 0);
  EXPECT_EQ(buckets[0].minimized_confirmed, 4);
  EXPECT_EQ(buckets[0].minimized_tries, 5);
  EXPECT_EQ(buckets[1].minimized_edits, std::nullopt);
  EXPECT_FALSE(run.SetMinimized(99, 1, 1, 1).ok());
}

TEST(RunDbCoverage, TotalsCountEnteredBlocksOfTheMap) {
  const auto shared = std::make_unique<SharedState>();
  shared->covered.hit[0] = shared->covered.hit[2] = shared->covered.hit[5] = 1;
  EXPECT_EQ(TotalsOf(*shared).blocks, 0u);
  shared->covered.blocks = 5;
  EXPECT_EQ(TotalsOf(*shared).blocks, 2u);
  shared->covered.blocks = UINT32_MAX;  // a dying child may have written anything
  EXPECT_EQ(TotalsOf(*shared).blocks, 3u);
}

TEST(RunDbTotals, ChurnIsToldOnlyWhereThereWasSome) {
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

// A database as walkhammer wrote it with schema 1. Never change this text.
constexpr char kSchema1[] = R"(
PRAGMA application_id = 0x5748524e; PRAGMA user_version = 1;
CREATE TABLE run (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  tool_version TEXT NOT NULL, jdk_path TEXT NOT NULL, vm_version TEXT NOT NULL,
  vm_gc TEXT NOT NULL, libjvm_build_id TEXT NOT NULL, jvm_flags TEXT NOT NULL,
  walker TEXT NOT NULL, provider TEXT NOT NULL, engine TEXT NOT NULL, seed TEXT NOT NULL,
  cpu_model TEXT NOT NULL, kernel TEXT NOT NULL, started_at TEXT NOT NULL,
  aslr INTEGER NOT NULL, command_line TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'running', reason TEXT NOT NULL DEFAULT '',
  time_ms INTEGER NOT NULL DEFAULT 0, walks INTEGER NOT NULL DEFAULT 0,
  successful INTEGER NOT NULL DEFAULT 0, pristine_walks INTEGER NOT NULL DEFAULT 0,
  pristine_true INTEGER NOT NULL DEFAULT 0, contained_crashes INTEGER NOT NULL DEFAULT 0,
  request_hash TEXT NOT NULL DEFAULT '', children_started INTEGER NOT NULL DEFAULT 0,
  children_retired INTEGER NOT NULL DEFAULT 0, children_died INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE bucket (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, title TEXT NOT NULL, oracle TEXT NOT NULL,
  expect TEXT NOT NULL, folder TEXT NOT NULL, seen INTEGER NOT NULL DEFAULT 0,
  confirmed INTEGER NOT NULL DEFAULT 0, tries INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE finding (
  id INTEGER PRIMARY KEY, bucket INTEGER NOT NULL REFERENCES bucket (id),
  sequence INTEGER NOT NULL, time_ms INTEGER NOT NULL, oracle TEXT NOT NULL,
  outcome TEXT NOT NULL, grade TEXT NOT NULL, realism TEXT NOT NULL, detail TEXT NOT NULL,
  request TEXT NOT NULL, frames TEXT NOT NULL, native TEXT NOT NULL, fault TEXT NOT NULL
) STRICT;
CREATE INDEX finding_of_bucket ON finding (bucket, sequence);
CREATE TABLE count (
  walker TEXT NOT NULL, scene TEXT NOT NULL, state TEXT NOT NULL, region TEXT NOT NULL,
  code TEXT NOT NULL, count INTEGER NOT NULL,
  PRIMARY KEY (walker, scene, state, region, code)
) STRICT, WITHOUT ROWID;
CREATE TABLE scene (
  position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, available INTEGER NOT NULL,
  pristine_true INTEGER NOT NULL, tried INTEGER NOT NULL, truth_frames INTEGER NOT NULL,
  reason TEXT NOT NULL
) STRICT;
CREATE TABLE progress (
  time_ms INTEGER PRIMARY KEY, walks INTEGER NOT NULL, buckets INTEGER NOT NULL
) STRICT;
INSERT INTO run VALUES (1, '0.1', 'jdk', 'VM', 'G1', '00ff', '', 'agct', 'jdk', 'random', '7',
  'cpu', 'k', '2026-01-02T03:04:05Z', 1, 'c', 'clean-end', '', 2000, 100, 90, 12, 11, 3,
  '00000000000000aa', 3, 2, 1);
INSERT INTO bucket VALUES (1, 'k', 't', 'crash', 'e', 'crashes/x', 9, 2, 3);
INSERT INTO finding VALUES (1, 1, 42, 1500, 'crash', 'fault', 'Forbidden', 'genuine', 'd', 'r',
  'f', 'n', '{}');
INSERT INTO progress VALUES (1000, 50, 1), (2000, 100, 1);
)";

TEST(RunDbCoverage, RunsOfSchemaOneAreRead) {
  const TempDir dir;
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(dir.Under(kDbName).c_str(), &handle), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(handle, kSchema1, nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(handle);
  sqlite3_close(handle);
  const Result<RunDb> opened = RunDb::Open(dir.path());
  ASSERT_TRUE(opened.ok()) << opened.failure().message;
  const RunDb& run = opened.value();
  const Result<RunRow> row = run.Run();
  ASSERT_TRUE(row.ok()) << row.failure().message;
  EXPECT_EQ(row.value().totals.children_died, 1u);
  EXPECT_EQ(row.value().totals.blocks, 0u);
  EXPECT_EQ(row.value().identity.workers, 1);
  const Result<std::vector<BucketRow>> buckets = run.Buckets();
  ASSERT_TRUE(buckets.ok()) << buckets.failure().message;
  ASSERT_EQ(buckets.value().size(), 1u);
  EXPECT_EQ(buckets.value()[0].first_sequence, 42u);
  EXPECT_EQ(buckets.value()[0].minimized_edits, std::nullopt);
  const Result<std::vector<ProgressRow>> progress = run.Progress();
  ASSERT_TRUE(progress.ok()) << progress.failure().message;
  ASSERT_EQ(progress.value().size(), 2u);
  EXPECT_EQ(progress.value()[1].buckets, 1u);
  EXPECT_EQ(progress.value()[1].blocks, 0u);
  const Result<CoverageRows> code = run.Coverage();
  ASSERT_TRUE(code.ok()) << code.failure().message;
  EXPECT_EQ(code.value().reason, "it was recorded by a walkhammer that knew no coverage");
  EXPECT_TRUE(run.Findings(1).ok());
  EXPECT_TRUE(run.Counts().ok());
  EXPECT_TRUE(run.Scenes().ok());
}

}  // namespace
}  // namespace walkhammer
