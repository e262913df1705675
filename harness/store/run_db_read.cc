// SPDX-License-Identifier: Apache-2.0
// The reading half of RunDb.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <tuple>

#include "harness/base/files.h"
#include "harness/store/run_tables.h"

namespace walkhammer {
namespace {

// Opens a run in a folder that cannot be written to. There, SQLite reads a WAL database only if
// told that the file is immutable. SQLite then ignores run.db-wal, so this fails if run.db-wal
// holds anything.
Result<Database> OpenImmutable(const std::string& file, const Failure& first) {
  struct stat wal;
  if (stat((file + "-wal").c_str(), &wal) == 0 && wal.st_size > 0)
    return BadInput(fmt::format(
        "{}: the run was killed and its folder is read-only; copy the folder and read the copy",
        file));
  std::string uri = "file:";
  for (const char c : file) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    } else {
      uri += c;
    }
  }
  Result<Database> db = Database::OpenToRead(file, uri + "?immutable=1", SQLITE_OPEN_URI);
  if (!db.ok()) return first;
  return db;
}

Result<int64_t> ReadNumber(const Database& db, const char* sql) {
  Statement statement(db, sql);
  ASSIGN_OR_RETURN(const bool row, statement.Step());
  return row ? statement.Int() : 0;
}

// True if no file that SQLite opens beside run.db is anything but a regular file: it would wait for
// the other end of a pipe, and follow a link to a file that is not the run's.
Status OnlyRegularFiles(const std::string& file) {
  struct stat info;
  if (stat(file.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    return BadInput(file + " is no regular file");
  for (const char* end : {"-wal", "-shm", "-journal"})
    if (lstat((file + end).c_str(), &info) == 0 && !S_ISREG(info.st_mode))
      return BadInput(file + end + " is no regular file");
  return Ok();
}

// True if all that the file declares are plain tables and indexes: what else a stranger's file
// declares would be run by a query that names it.
Status OnlyTables(const Database& db, const std::string& file) {
  Statement others(db,
                   "SELECT name FROM sqlite_master WHERE type NOT IN ('table', 'index')"
                   " OR rootpage IS NULL OR rootpage < 2"
                   " UNION ALL SELECT m.name FROM sqlite_master m, pragma_table_xinfo(m.name) x"
                   " WHERE m.type = 'table' AND x.hidden <> 0 LIMIT 1");
  ASSIGN_OR_RETURN(const bool found, others.Step());
  if (!found) return Ok();
  return BadInput(fmt::format("{}: {} is no table that a run has, so nothing of it is read", file,
                              others.Text()));
}

// Reads a table of at most one row. `row` stays empty if there is none.
template <typename Row>
Status ReadOnly(const Database& db, const char* table, std::optional<Row>& row) {
  Statement rows(db, fmt::format("SELECT {} FROM {}", NamesOf<Row>(), table));
  return ForEach(rows, [&](Statement& from) { ReadRow(from, row.emplace()); });
}

// Orders buckets: those that replayed come first, those that were replayed in vain last.
int ReplayRank(const BucketRow& bucket) {
  if (bucket.confirmed > 0) return 0;
  return bucket.tries == 0 ? 1 : 2;
}

}  // namespace

bool RunDb::HasWriter(const std::string& dir) {
  const int fd = OpenFile(dir + "/" + kLockName, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return false;
  const bool locked = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(fd);
  return locked;
}

Result<RunDb> RunDb::Open(const std::string& dir) {
  const std::string file = dir + "/" + kDbName;
  struct stat info;
  if (stat(file.c_str(), &info) != 0)
    return BadInput(fmt::format("{}: is no run folder (it has no {})", dir, kDbName));
  RETURN_IF_ERROR(OnlyRegularFiles(file));
  RunDb run;
  run.dir_ = dir;
  ASSIGN_OR_RETURN(auto db, Database::OpenToRead(file, file));
  Result<int64_t> version = ReadNumber(db, "PRAGMA user_version");
  if (!version.ok()) {
    Result<Database> immutable = OpenImmutable(file, version.failure());
    if (!immutable.ok()) return BadInput(immutable.failure().message);
    db = std::move(immutable.value());
    version = ReadNumber(db, "PRAGMA user_version");
    if (!version.ok()) return BadInput(version.failure().message);
  }
  const Result<int64_t> application = ReadNumber(db, "PRAGMA application_id");
  if (!application.ok()) return BadInput(application.failure().message);
  if (application.value() != kApplicationId && application.value() != kUncountedId)
    return BadInput(fmt::format("{}: is not the database of a walkhammer run", file));
  if (application.value() != kApplicationId || version.value() != kSchemaVersion)
    return BadInput(
        fmt::format("{}: another version of walkhammer wrote this run; read it with that version, "
                    "or record the run anew with this one",
                    file));
  RETURN_IF_ERROR(OnlyTables(db, file));
  run.db_ = std::move(db);
  return run;
}

Result<RunRow> RunDb::Run() const {
  RunRow run;
  // Checked before the status: a run that ends in between then reads as ended, never as killed.
  run.writer_alive = lock_fd_ >= 0 || HasWriter(dir_);
  Statement row(db_, "SELECT " + NamesOf<StoredRun>() + " FROM run");
  ASSIGN_OR_RETURN(const bool found, row.Step());
  if (!found) return BadInput(dir_ + ": the run has no identity");
  StoredRun stored;
  ReadRow(row, stored);
  run.identity = std::move(stored.identity);
  run.totals = stored.totals;
  run.status = stored.end.status;
  run.reason = std::move(stored.end.reason);
  RETURN_IF_ERROR(ReadOnly(db_, "churn", run.totals.churn));
  RETURN_IF_ERROR(ReadOnly(db_, "settle", run.totals.settle));
  return run;
}

Result<std::vector<BucketRow>> RunDb::Buckets() const {
  std::vector<BucketRow> buckets;
  // One row per bucket, oracle, outcome, grade and realism, because GradeOf grades each outcome
  // anew.
  Statement rows(db_, "SELECT " + NamesOf<StoredBucket>("b.") +
                          ", f.oracle, f.outcome, f.grade, f.realism,"
                          " (SELECT COUNT(*) FROM finding WHERE bucket = b.id), MIN(f.time_ms),"
                          " MIN(f.sequence) FROM bucket b JOIN finding f ON f.bucket = b.id"
                          " GROUP BY b.id, f.oracle, f.outcome, f.grade, f.realism ORDER BY b.id");
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows.Step());
    if (!more) break;
    StoredBucket stored;
    ReadRow(rows, stored);
    BucketRow part;
    part.id = stored.id.value_or(0);
    part.signature = std::move(stored.signature);
    part.folder = std::move(stored.folder);
    part.confirmed = stored.confirmed;
    part.tries = stored.tries;
    part.minimized_edits = stored.minimized_edits;
    part.minimized_confirmed = stored.minimized_confirmed;
    part.minimized_tries = stored.minimized_tries;
    part.oracle = rows.Text();
    part.outcome = rows.Text();
    part.recorded_grade = GradeFromWord(rows.Text());
    part.grade = GradeOf(part.oracle, part.outcome, part.recorded_grade);
    part.realism = RealismFromWord(rows.Text());
    part.count = std::max(stored.seen, static_cast<uint64_t>(rows.Int()));
    part.first_time_ms = static_cast<uint64_t>(rows.Int());
    part.first_sequence = static_cast<uint64_t>(rows.Int());
    if (buckets.empty() || buckets.back().id != part.id) {
      buckets.push_back(part);
      continue;
    }
    BucketRow& bucket = buckets.back();
    if (part.grade > bucket.grade) {
      bucket.grade = part.grade;
      bucket.oracle = part.oracle;
      bucket.outcome = part.outcome;
    }
    bucket.recorded_grade = std::max(bucket.recorded_grade, part.recorded_grade);
    bucket.realism = std::min(bucket.realism, part.realism);
    bucket.first_time_ms = std::min(bucket.first_time_ms, part.first_time_ms);
    bucket.first_sequence = std::min(bucket.first_sequence, part.first_sequence);
  }
  std::sort(buckets.begin(), buckets.end(), [](const BucketRow& a, const BucketRow& b) {
    if (a.grade != b.grade) return a.grade > b.grade;
    return std::make_tuple(a.realism, ReplayRank(a), a.id) <
           std::make_tuple(b.realism, ReplayRank(b), b.id);
  });
  return buckets;
}

Result<std::vector<FindingRecord>> RunDb::Findings(int64_t bucket) const {
  std::vector<FindingRecord> findings;
  Signature signature;
  Statement of(db_, "SELECT key, title, oracle, expect FROM bucket WHERE id = ?");
  of.Bind(bucket);
  RETURN_IF_ERROR(ForEach(of, [&](Statement& row) {
    for (std::string* text :
         {&signature.key, &signature.title, &signature.oracle, &signature.expect})
      *text = row.Text();
  }));
  Statement rows(db_, "SELECT " + NamesOf<StoredFinding>() +
                          " FROM finding WHERE bucket = ? ORDER BY sequence, id");
  rows.Bind(bucket);
  RETURN_IF_ERROR(ForEach(rows, [&](Statement& row) {
    StoredFinding stored;
    ReadRow(row, stored);
    FindingRecord& finding = stored.record;
    finding.signature = signature;
    finding.grade = GradeOf(finding.oracle, finding.outcome, finding.grade);
    findings.push_back(std::move(finding));
  }));
  return findings;
}

Result<std::vector<CountRow>> RunDb::Counts() const {
  return ReadAll<CountRow>(Statement(db_, "SELECT " + NamesOf<CountRow>() +
                                              " FROM count ORDER BY walker, scene, state, region,"
                                              " code"));
}

Result<std::vector<SceneRow>> RunDb::Scenes() const {
  return ReadAll<SceneRow>(
      Statement(db_, "SELECT " + NamesOf<SceneRow>() + " FROM scene ORDER BY position"));
}

Result<std::vector<ProgressRow>> RunDb::Progress() const {
  return ReadAll<ProgressRow>(
      Statement(db_, "SELECT " + NamesOf<ProgressRow>() + " FROM progress ORDER BY time_ms"));
}

}  // namespace walkhammer
