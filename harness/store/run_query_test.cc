// SPDX-License-Identifier: Apache-2.0
#include "harness/store/run_query.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "harness/store/record_testing.h"
#include "harness/store/run_db.h"
#include "harness/store/vm_version.h"

namespace walkhammer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Text = std::vector<std::string>;

class RunQueryTest : public testing::Test {
 protected:
  // A fuzz run on the JDK of this version. Its folder is `name`.
  RunDb Begin(const char* name, const char* started_at, const char* version = "25") {
    RunIdentity identity = TestIdentity();
    identity.started_at = started_at;
    identity.vm_version = std::string("Vendor VM ") + version;
    Result<RunDb> run = RunDb::Create(Path(name), identity);
    EXPECT_TRUE(run.ok()) << run.failure().message;
    dirs_.push_back(Path(name));
    return std::move(run.value());
  }
  // The same with one bucket.
  int64_t Bucket(RunDb& run, const char* title, const char* oracle = "crash",
                 const char* outcome = "fault") {
    const auto added = run.AddFinding(TestRecord(oracle, outcome, title, Realism::kGenuine));
    EXPECT_TRUE(added.ok());
    return added.value().bucket;
  }

  Result<QueryAnswer> Query(std::string_view sql, const QueryLimits& limits = {}) const {
    return QueryRuns(dirs_, sql, limits);
  }
  // The rows, their values with blanks between. A failure is a row that says so.
  Text Ask(std::string_view sql, const QueryLimits& limits = {}) const {
    const auto answer = Query(sql, limits);
    if (!answer.ok())
      return {
          fmt::format("{} {}", static_cast<int>(answer.failure().code), answer.failure().message)};
    Text rows;
    for (const auto& row : answer.value().rows) {
      std::string line;
      for (const QueryValue& value : row) line += (line.empty() ? "" : " ") + Word(value);
      rows.push_back(line);
    }
    return rows;
  }
  // The same of a question with a name, only the columns that are named.
  Text AskNamed(std::string_view name, const std::string& columns) const {
    for (const RunQuestion& question : RunQuestions())
      if (question.name == name)
        return Ask(fmt::format("SELECT {} FROM ({})", columns, question.sql));
    return {"no such question"};
  }
  static std::string Word(const QueryValue& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
    if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
    return "NULL";
  }

  // Changes the file of a run as a stranger would.
  void Change(const char* name, const char* sql) const {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open((Path(name) + "/run.db").c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, sql, nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(handle);
    sqlite3_close(handle);
  }

  std::string Path(const char* name) const { return temp_.Under(name); }

  TempDir temp_;
  Text dirs_;
};

TEST_F(RunQueryTest, TablesOfAllRunsAreJoined) {
  RunDb a = Begin("a", "2026-01-02T00:00:00Z", "17"), b = Begin("b", "2026-01-03T00:00:00Z");
  Bucket(a, "first");
  Bucket(a, "second");
  Bucket(b, "first");
  EXPECT_THAT(Ask("SELECT id, kind, build, walker FROM run ORDER BY id"),
              ElementsAre("1 fuzz 17 agct", "2 fuzz 25 agct"));
  EXPECT_THAT(Ask("SELECT run, id, title, grade, outcome, first_ms FROM bucket ORDER BY run, id"),
              ElementsAre("1 1 first Forbidden fault 1500", "1 2 second Forbidden fault 1500",
                          "2 1 first Forbidden fault 1500"));
  EXPECT_THAT(Ask("SELECT count(*) FROM run JOIN finding ON finding.run = run.id"),
              ElementsAre("3"));
  EXPECT_EQ(Ask("SELECT folder FROM run WHERE id = 2"), Text{Path("b")});
}

TEST_F(RunQueryTest, TablesWithoutRowsAreNamed) {
  RunDb a = Begin("a", "2026-01-02T00:00:00Z");
  Bucket(a, "t");
  const auto none = Query("SELECT * FROM step_region, bucket");
  ASSERT_TRUE(none.ok());
  EXPECT_THAT(none.value().rows, IsEmpty());
  EXPECT_THAT(none.value().empty, ElementsAre("step_region"));
  EXPECT_THAT(Query("SELECT 1 FROM bucket WHERE id = 7").value().empty, IsEmpty());
}

TEST_F(RunQueryTest, NoRunCountsTwice) {
  (void)Begin("a", "2026-01-02T00:00:00Z");
  EXPECT_THAT(Ask("SELECT 1"), ElementsAre("1"));
  std::filesystem::copy(Path("a"), Path("copy"));
  dirs_.push_back(Path("copy"));
  EXPECT_THAT(Ask("SELECT 1"), ElementsAre(HasSubstr("hold the same run")));
}

TEST_F(RunQueryTest, ARunOfAnOlderSchemaIsReadAsItWas) {
  RunDb a = Begin("a", "2026-01-02T00:00:00Z");
  Bucket(a, "t");
  ASSERT_TRUE(a.SaveCell(TestCell(0)).ok());
  EXPECT_THAT(Ask("SELECT count(*) FROM cell"), ElementsAre("1"));
  Change("a", "PRAGMA user_version = 2");
  EXPECT_THAT(Ask("SELECT count(*) FROM cell"), ElementsAre("0"));
  EXPECT_THAT(Ask("SELECT title, run_id = '' FROM bucket, run"), ElementsAre("t 1"));
}

TEST_F(RunQueryTest, StacksAreATreeInEverySchema) {
  RunDb a = Begin("a", "2026-01-02T00:00:00Z");
  ASSERT_TRUE(a.SaveCell(TestCell(0)).ok());
  StackTree tree{{"main\nrun", 3}, {"main", 1}};
  ASSERT_TRUE(a.SaveStacks(0, tree).ok());
  EXPECT_THAT(Ask("SELECT s.run, s.id, s.parent, f.name, s.count FROM stack s JOIN stack_frame f"
                  " ON f.run = s.run AND f.cell = s.cell AND f.id = s.frame ORDER BY s.id"),
              ElementsAre("1 1 0 main 1", "1 2 1 run 3"));
}

TEST_F(RunQueryTest, SqlThatDoesMoreThanReadIsRefused) {
  (void)Begin("a", "2026-01-02T00:00:00Z");
  const std::string file = temp_.Under("planted");
  const Text bad = {"DELETE FROM run",
                    "UPDATE run SET walks = 0",
                    "INSERT INTO run SELECT * FROM run",
                    "DROP TABLE run",
                    "CREATE TABLE t (a)",
                    "CREATE TEMP TABLE t (a)",
                    "CREATE VIRTUAL TABLE t USING rtree (id, a, b)",
                    "ATTACH '" + file + "' AS other",
                    "DETACH main",
                    "VACUUM INTO '" + file + "'",
                    "VACUUM",
                    "REINDEX",
                    "ANALYZE",
                    "PRAGMA cache_size = -1000000",
                    "PRAGMA user_version",
                    "SELECT * FROM pragma_database_list",
                    "SELECT * FROM dbstat",
                    "SELECT load_extension('/tmp/x')",
                    "BEGIN",
                    "COMMIT",
                    "ROLLBACK",
                    "SAVEPOINT a",
                    "EXPLAIN DELETE FROM run"};
  for (const std::string& sql : bad)
    EXPECT_THAT(Ask(sql), ElementsAre("2 the SQL does more than read; give one SELECT, without "
                                      "pragmas and extensions"))
        << sql;
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_THAT(Ask("SELECT count(*) FROM run"), ElementsAre("1"));
}

TEST_F(RunQueryTest, SqlThatReadsIsRun) {
  (void)Begin("a", "2026-01-02T00:00:00Z");
  EXPECT_THAT(Ask("SELECT value FROM json_each('[3, 4]');\n-- the end\n"), ElementsAre("3", "4"));
  EXPECT_THAT(Ask("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3)"
                  " SELECT i, sum(i) OVER (ORDER BY i) FROM n"),
              ElementsAre("1 1", "2 3", "3 6"));
  EXPECT_THAT(Ask("VALUES (NULL, 1.5, x'0aff', 'text')"), ElementsAre("NULL 1.5 0aff text"));
}

TEST_F(RunQueryTest, WrongSqlIsOneSentence) {
  (void)Begin("a", "2026-01-02T00:00:00Z");
  EXPECT_THAT(Ask("SELECT nosuch FROM run"),
              ElementsAre("2 the SQL is wrong: no such column: nosuch"));
  EXPECT_THAT(Ask("SELEC"), ElementsAre(HasSubstr("2 the SQL is wrong: near \"SELEC\"")));
  EXPECT_THAT(Ask("SELECT 1; SELECT 2"), ElementsAre(HasSubstr("2 the SQL has more than one")));
  EXPECT_THAT(Ask("SELECT 1; DELETE FROM run"), ElementsAre(HasSubstr("more than one statement")));
  EXPECT_THAT(Ask(" -- nothing"), ElementsAre(HasSubstr("2 the SQL is empty")));
  EXPECT_THAT(Ask("SELECT zeroblob(100000000)"), ElementsAre(HasSubstr("too big")));
  dirs_ = {Path("none")};
  EXPECT_THAT(Ask("SELECT 1"), ElementsAre(HasSubstr("is no run folder")));
}

constexpr char kEndless[] =
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";

TEST_F(RunQueryTest, TimeIsLimited) {
  (void)Begin("a", "2026-01-02T00:00:00Z");
  QueryLimits limits;
  limits.time = std::chrono::milliseconds(300);
  EXPECT_THAT(Ask(kEndless, limits), ElementsAre(HasSubstr("2 the query takes longer")));
  limits.time = std::chrono::nanoseconds(1);
  EXPECT_THAT(Ask("SELECT count(*) FROM run", limits),
              ElementsAre(HasSubstr("2 the query takes longer")));
}

TEST_F(RunQueryTest, AnInterruptEndsIt) {
  (void)Begin("a", "2026-01-02T00:00:00Z");
  QueryLimits limits;
  int asked = 0;
  limits.interrupted = [&] { return ++asked > 5; };
  EXPECT_THAT(Ask(kEndless, limits), ElementsAre("4 the query was interrupted"));
}

TEST_F(RunQueryTest, RowsAreLimited) {
  (void)Begin("a", "2026-01-02T00:00:00Z");
  QueryLimits limits;
  limits.rows = 2;
  const auto two = Query("VALUES (1), (2)", limits), three = Query("VALUES (1), (2), (3)", limits);
  EXPECT_EQ(two.value().rows.size(), 2U);
  EXPECT_FALSE(two.value().more);
  EXPECT_EQ(three.value().rows.size(), 2U);
  EXPECT_TRUE(three.value().more);
}

TEST_F(RunQueryTest, AStrangersRunIsReadWithCare) {
  RunDb a = Begin("a", "2026-01-02T00:00:00Z");
  Bucket(a, "t");
  Change("a", "UPDATE run SET walker = 'a' || char(27) || '[2J'");
  EXPECT_THAT(Ask("SELECT hex(walker) FROM run"), ElementsAre("611B5B324A"));
  Change("a",
         "ALTER TABLE bucket RENAME TO old; CREATE VIEW bucket AS WITH RECURSIVE n (i) AS"
         " (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT old.* FROM old, n");
  EXPECT_THAT(Ask("SELECT 1 FROM bucket"), ElementsAre(HasSubstr("bucket is no table that a run")));
}

// --- the questions that have a name
// ---------------------------------------------------------------

TEST_F(RunQueryTest, EveryQuestionIsSqlThatReads) {
  (void)Begin("a", "2026-01-02T00:00:00Z");
  for (const RunQuestion& question : RunQuestions()) {
    const auto answer = Query(question.sql);
    EXPECT_TRUE(answer.ok()) << question.name << ": " << answer.failure().message;
    EXPECT_EQ(question.what.back(), '.') << question.name;
  }
}

TEST_F(RunQueryTest, Runs) {
  RunDb b = Begin("b", "2026-01-03T00:00:00Z"), a = Begin("a", "2026-01-02T00:00:00Z", "17");
  Bucket(b, "t");
  ASSERT_TRUE(b.Finish(RunStatus::kInterrupted, TestTotals()).ok());
  EXPECT_THAT(AskNamed("runs", "run, build, status, seconds, walks, buckets, forbidden"),
              ElementsAre("2 17 running 0 0 0 0", "1 25 interrupted 2 1234567 1 1"));
}

TEST_F(RunQueryTest, NewBuckets) {
  RunDb old = Begin("old", "2026-01-02T00:00:00Z"), now = Begin("now", "2026-02-02T00:00:00Z"),
        last = Begin("last", "2026-02-08T00:00:00Z", "26");
  Bucket(old, "known");
  Bucket(now, "known");
  Bucket(now, "new");
  Bucket(last, "new");
  EXPECT_THAT(AskNamed("new-buckets", "title, first_seen, runs, older_runs"),
              ElementsAre("new 2026-02-02T00:00:00Z 2 1"));
  dirs_.erase(dirs_.begin());  // who has no older run cannot tell, and says so
  EXPECT_THAT(AskNamed("new-buckets", "title, runs, older_runs"),
              ElementsAre("known 1 0", "new 2 0"));
}

TEST_F(RunQueryTest, Crashes) {
  RunDb a = Begin("a", "2026-01-02T00:00:00Z", "17"), b = Begin("b", "2026-01-03T00:00:00Z");
  ASSERT_TRUE(a.SetConfirmed(Bucket(a, "falls"), 3, 5).ok());
  ASSERT_TRUE(b.SetConfirmed(Bucket(b, "falls"), 0, 5).ok());
  Bucket(b, "waits", "hang", "hang");
  Bucket(b, "lies", "bci", "wrong-bci");
  EXPECT_THAT(AskNamed("crashes", "title, build, replayed, tries, confirmed"),
              ElementsAre("falls 17 3 5 yes", "falls 25 0 5 no", "waits 25 0 0 not tried"));
}

// A run of several JDKs does not say on which of them a bucket replayed.
TEST_F(RunQueryTest, CrashesOfOneRunOnTwoBuilds) {
  RunDb a = Begin("a", "2026-01-02T00:00:00Z");
  for (int64_t cell = 0; cell < 2; cell++) {
    CellRow row = TestCell(cell);
    row.vm_version = cell == 0 ? "VM 17" : "VM 21";
    ASSERT_TRUE(a.SaveCell(row).ok());
    FindingRecord record = TestRecord("crash", "fault", "t", Realism::kGenuine);
    record.cell = cell;
    ASSERT_TRUE(a.AddFinding(record).ok());
  }
  ASSERT_TRUE(a.SetConfirmed(1, 5, 5).ok());
  EXPECT_THAT(AskNamed("crashes", "build, seen, tries, confirmed"),
              ElementsAre("17 1 NULL not known", "21 1 NULL not known"));
}

TEST_F(RunQueryTest, Failures) {
  RunDb a = Begin("a", "2026-01-02T00:00:00Z");
  const std::vector<CountRow> counts = {
      {"agct", "c2", "in_Java", "body", "frames", 300}, {"agct", "c2", "in_Java", "body", "-5", 80},
      {"agct", "c2", "in_Java", "stub", "-5", 10},      {"agct", "c2", "in_Java", "stub", "-6", 10},
      {"agct", "c2", "in_vm", "body", "frames", 100},   {"agct", "c2", "blocked", "body", "-5", 99},
      {"jfr", "c2", "CPUTimeSample", "", "gap", 500}};
  ASSERT_TRUE(a.SaveCountRows(counts).ok());
  EXPECT_THAT(AskNamed("failures", "walker, state, walks, failed, percent, mostly"),
              ElementsAre("agct in_Java 400 100 25 -5", "agct in_vm 100 0 0 NULL"));
}

TEST_F(RunQueryTest, Unwalkable) {
  RunDb a = Begin("a", "2026-01-02T00:00:00Z"), b = Begin("b", "2026-01-03T00:00:00Z");
  const auto save = [](RunDb& run, const char* version, uint64_t bad, uint64_t good) {
    CellRow cell = TestCell(0);
    cell.vm_version = std::string("VM ") + version;
    ASSERT_TRUE(run.SaveCell(cell).ok());
    const std::vector<StepRegionRow> regions = {
        {0, "body", "a.B.c()V", 4, 9, 50, bad, 50 - bad, 0},
        {0, "body", "a.B.d()V", 4, 9, 50, good, 50 - good, 0},
        {0, "stub", "never", -1, 9, 50, 0, 50, 0}};
    ASSERT_TRUE(run.SaveStepRegions(0, regions).ok());
  };
  save(a, "25", 40, 50);
  save(b, "27", 0, 1);
  EXPECT_THAT(AskNamed("unwalkable", "name, unwalkable_on, steps, walkable_on, percent_answered"),
              ElementsAre("a.B.c()V 27 50 25 80"));
}

TEST_F(RunQueryTest, Coverage) {
  RunDb a = Begin("a", "2026-01-02T00:00:00Z"), b = Begin("b", "2026-01-03T00:00:00Z"),
        none = Begin("none", "2026-01-04T00:00:00Z");
  RunTotals totals = TestTotals();
  for (RunDb* run : {&a, &b}) {
    totals.blocks += 2;
    ASSERT_TRUE(run->SetCoverage(TestCoverage()).ok());
    ASSERT_TRUE(run->SaveProgress(totals).ok());
  }
  EXPECT_THAT(AskNamed("coverage", "build, blocks, all_blocks, percent, change"),
              ElementsAre("25 2 6 33.33 NULL", "25 4 6 66.67 2"));
}

TEST(VersionOfVmTest, IsTheLastWord) {
  EXPECT_EQ(VersionOfVm("Eclipse Adoptium, OpenJDK 64-Bit Server VM, 25.0.3+9-LTS"),
            "25.0.3+9-LTS");
  EXPECT_EQ(VersionOfVm("Debian OpenJDK 64-Bit Server VM 25.504-b08"), "8u504-b08");
  EXPECT_EQ(VersionOfVm("VM 25.x-b08"), "25.x-b08");
  EXPECT_EQ(VersionOfVm("VM 25-b08"), "25-b08");
  EXPECT_EQ(VersionOfVm("VM \x1b[2J"), "?[2J");
  EXPECT_EQ(VersionOfVm(""), "");
}

}  // namespace
}  // namespace walkhammer
