// SPDX-License-Identifier: Apache-2.0
// Run folders that were made to harm their reader: refused with one sentence, in little time and
// memory. Each has a neighbour that is read, as no bound may refuse a true run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/base/testing/fails_with.h"
#include "harness/store/record_testing.h"
#include "harness/store/run_writer.h"

namespace walkhammer {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class HostileRun : public ::testing::Test {
 protected:
  // The reader's own time limit: a FIFO or an endless query would take all of ctest's.
  void SetUp() override { alarm(60); }
  void TearDown() override { alarm(0); }

  // Makes an intact run with one finding, then changes it by `sql`.
  void Make(const std::string& sql) {
    RunWriter run = NewRun(dir());
    ASSERT_OK(run.AddFinding(TestRecord("crash", "fault", "t", Realism::kGenuine)));
    ASSERT_OK(run.Finish(RunStatus::kCleanEnd, TestTotals()));
    ExecSql(dir(), sql);
  }

  // Reads all that a report of a fuzz run begins with. "" if it can be read.
  std::string Read() const {
    const Result<RunReader> run = RunReader::Open(dir());
    if (!run.ok()) return Said(run.failure());
    if (const auto row = run.value().Run(); !row.ok()) return Said(row.failure());
    const auto buckets = run.value().Buckets();
    if (!buckets.ok()) return Said(buckets.failure());
    for (const BucketRow& bucket : buckets.value())
      if (const auto all = run.value().Findings(bucket.id); !all.ok()) return Said(all.failure());
    return "";
  }
  static std::string Said(const Failure& failure) {
    EXPECT_EQ(failure.code, ExitCode::kBadInput) << failure.message;
    return failure.message;
  }

  std::string dir() const { return temp_.Under("run"); }
  std::string File(const char* name) const { return dir() + "/" + name; }

 private:
  TemporaryFolder temp_;
};

TEST_F(HostileRun, AnIntactRunIsRead) {
  Make("CREATE TABLE somebodys (a TEXT); CREATE INDEX own ON somebodys (a); ANALYZE");
  EXPECT_EQ(Read(), "");
}

TEST_F(HostileRun, WhatIsNotATableOfARunIsRefused) {
  const struct {
    const char *what, *sql, *refusal;
  } kCases[] = {
      {"a view without end",
       "ALTER TABLE bucket RENAME TO old;"
       "CREATE VIEW bucket AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
       " SELECT old.* FROM old, n",
       "bucket is not a table that a run has"},
      {"a view that names itself a table",
       "ALTER TABLE bucket RENAME TO old; CREATE VIEW bucket AS SELECT * FROM old;"
       "PRAGMA writable_schema = ON; UPDATE sqlite_master SET type = 'table', rootpage = 5"
       " WHERE name = 'bucket'",
       "the run database is damaged"},
      {"a trigger", "CREATE TRIGGER fires AFTER UPDATE ON run BEGIN SELECT 1; END",
       "fires is not a table that a run has"},
      {"a virtual table", "CREATE VIRTUAL TABLE place USING rtree (id, a, b)",
       "place is not a table that a run has"},
      {"a column that is computed",
       "ALTER TABLE bucket ADD COLUMN made TEXT AS (printf('%.*c', 1000000, 'x'))",
       "bucket is not a table that a run has"},
      {"a table that lacks columns", "ALTER TABLE bucket RENAME COLUMN title TO other",
       "another version of walkhammer wrote this run, or the run database is damaged (no such"},
      // A query that is quadratic where the file makes it so.
      {"work without end",
       "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
       " INSERT INTO finding SELECT i + 10, bucket, sequence, time_ms, oracle, 'o' || i, grade,"
       " realism, detail, request, frames, native, fault, cell FROM finding, n",
       "takes far more work than its size explains"},
  };
  for (const auto& [what, sql, refusal] : kCases) {
    SCOPED_TRACE(what);
    alarm(60);
    Make(sql);
    EXPECT_THAT(Read(), AllOf(HasSubstr(refusal), Not(HasSubstr("SQLite error"))));
    std::filesystem::remove_all(dir());
  }
}

TEST_F(HostileRun, ManyRowsAreRead) {
  Make(
      "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
      " INSERT INTO bucket SELECT i + 10, 'key ' || i, title, oracle, expect, folder, seen,"
      " confirmed, tries, minimized_edits, minimized_confirmed, minimized_tries FROM bucket, n;"
      "INSERT INTO finding SELECT b.id, b.id, sequence, time_ms, f.oracle, outcome, grade, realism,"
      " detail, request, frames, native, fault, cell FROM bucket b, finding f WHERE b.id > 10;");
  EXPECT_EQ(Read(), "");
}

TEST_F(HostileRun, AHugeFieldTakesNoMemory) {
  Make("UPDATE bucket SET title = CAST(zeroblob(100000000) AS TEXT)");
  sqlite3_memory_highwater(1);
  EXPECT_THAT(Read(), HasSubstr("the run database is damaged"));
  EXPECT_LT(sqlite3_memory_highwater(0), 32 << 20);
}

TEST_F(HostileRun, ALargeFieldIsRead) {
  Make("UPDATE finding SET frames = CAST(zeroblob(8000000) AS TEXT)");
  EXPECT_EQ(Read(), "");
}

TEST_F(HostileRun, PipesInPlaceOfFilesAreNotWaitedFor) {
  for (const char* name : {"run.db-wal", "run.db-journal", "run.db-shm"}) {
    SCOPED_TRACE(name);
    Make("");
    ASSERT_EQ(mkfifo(File(name).c_str(), 0600), 0);
    EXPECT_THAT(Read(), HasSubstr(std::string(name) + " is not a regular file"));
    std::filesystem::remove_all(dir());
  }
  Make("");
  std::filesystem::remove(File("run.lock"));
  ASSERT_EQ(mkfifo(File("run.lock").c_str(), 0600), 0);
  EXPECT_EQ(Read(), "");
  std::filesystem::remove(File("run.db"));
  ASSERT_EQ(mkfifo(File("run.db").c_str(), 0600), 0);
  EXPECT_THAT(Read(), HasSubstr("run.db is not a regular file"));
}

// A link beside run.db would have SQLite read, and lock, a file of somebody's else.
TEST_F(HostileRun, LinksBesideTheDatabaseAreRefused) {
  Make("");
  ASSERT_EQ(symlink("/etc/hostname", File("run.db-wal").c_str()), 0);
  EXPECT_THAT(Read(), HasSubstr("run.db-wal is not a regular file"));
}

TEST_F(HostileRun, AFolderOutsideOfTheRunIsRefused) {
  for (const char* folder : {"crashes/../../secret", "/etc", "../secret", "crashes/a/..", ""}) {
    Make("UPDATE bucket SET folder = '" + std::string(folder) + "'");
    EXPECT_THAT(Read(), HasSubstr("a bucket has its folder outside of the run")) << folder;
    std::filesystem::remove_all(dir());
  }
  Make("PRAGMA user_version = -5");
  EXPECT_THAT(Read(), HasSubstr("another version of walkhammer wrote this run"));
}

TEST_F(HostileRun, BlocksThatFunctionsShareAreRefused) {
  Make(
      "INSERT INTO coverage_function SELECT 0, 'f', 0, 1, 'root', 0, 2"
      " UNION ALL SELECT 1, 'g', 1, 1, 'root', 1, 1;"
      "INSERT INTO coverage_block SELECT 0, 0, 1, 0, NULL UNION ALL SELECT 1, 1, 1, 1, NULL");
  const auto run = Must(RunReader::Open(dir()));
  EXPECT_FALSE(run.Coverage().ok());
}

}  // namespace
}  // namespace walkhammer
