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

#include "harness/store/run_db.h"
#include "harness/store/run_schema.h"

namespace walkhammer {
namespace {

// SQLite cannot read a WAL database in a folder that it cannot write to, unless told that nobody
// else writes. That skips run.db-wal, so it is right only when there is none.
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
  Result<Database> db =
      Database::Open(file, uri + "?immutable=1", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
  if (!db.ok()) return first;
  return db;
}

Result<int64_t> ReadNumber(const Database& db, const char* sql) {
  Statement statement(db, sql);
  const Result<bool> row = statement.Step();
  if (!row.ok()) return row.failure();
  return row.value() ? statement.Int() : 0;
}

// The numbers of a table of one row; none where there is no row, or no such table yet.
Result<bool> ReadOnly(const Database& db, const std::string& table, const std::string& columns,
                      std::initializer_list<uint64_t*> numbers) {
  const Result<int64_t> tables =
      ReadNumber(db, ("SELECT COUNT(*) FROM sqlite_master WHERE name = '" + table + "'").c_str());
  if (!tables.ok()) return tables.failure();
  if (tables.value() == 0) return false;
  Statement row(db, "SELECT " + columns + " FROM " + table);
  const Result<bool> found = row.Step();
  if (!found.ok() || !found.value()) return found;
  for (uint64_t* number : numbers) *number = static_cast<uint64_t>(row.Int());
  return true;
}

Status ReadChurn(const Database& db, RunTotals& totals) {
  ChurnTotals churn;
  const Result<bool> found = ReadOnly(db, "churn", "collections, rounds, unloaded",
                                      {&churn.collections, &churn.rounds, &churn.unloaded});
  if (!found.ok()) return found.failure();
  if (found.value()) totals.churn = churn;
  return Ok();
}

Status ReadSettle(const Database& db, RunTotals& totals) {
  SettleTotals settle;
  const Result<bool> found =
      ReadOnly(db, "settle", "most_ms, took_ms, unconfirmed, unminimized",
               {&settle.most_ms, &settle.took_ms, &settle.unconfirmed, &settle.unminimized});
  if (!found.ok()) return found.failure();
  if (found.value()) totals.settle = settle;
  return Ok();
}

RunStatus StatusFromWord(std::string_view word) {
  for (const RunStatus status : {RunStatus::kRunning, RunStatus::kCleanEnd, RunStatus::kInterrupted,
                                 RunStatus::kFailed, RunStatus::kVacuous})
    if (word == RunStatusWord(status)) return status;
  return RunStatus::kFailed;
}

// What replays comes first, what was replayed in vain last.
int ReplayRank(const BucketRow& bucket) {
  if (bucket.confirmed > 0) return 0;
  return bucket.tries == 0 ? 1 : 2;
}

bool WriterAlive(const std::string& dir) {
  const int fd = open((dir + "/" + kLockName).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool locked = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(fd);
  return locked;
}

}  // namespace

Result<RunDb> RunDb::Open(const std::string& dir) {
  const std::string file = dir + "/" + kDbName;
  struct stat info;
  if (stat(file.c_str(), &info) != 0)
    return BadInput(fmt::format("{}: is no run folder (it has no {})", dir, kDbName));
  RunDb run;
  run.dir_ = dir;
  Result<Database> db = Database::Open(file, file, SQLITE_OPEN_READONLY);
  if (!db.ok()) return BadInput(db.failure().message);
  Result<int64_t> version = ReadNumber(db.value(), "PRAGMA user_version");
  if (!version.ok()) {
    Result<Database> immutable = OpenImmutable(file, version.failure());
    if (!immutable.ok()) return BadInput(immutable.failure().message);
    db = std::move(immutable);
    version = ReadNumber(db.value(), "PRAGMA user_version");
    if (!version.ok()) return BadInput(version.failure().message);
  }
  const Result<int64_t> application = ReadNumber(db.value(), "PRAGMA application_id");
  if (!application.ok()) return BadInput(application.failure().message);
  if (version.value() == 0 || application.value() != kApplicationId)
    return BadInput(fmt::format("{}: is not the database of a walkhammer run", file));
  if (version.value() > kSchemaVersion)
    return BadInput(
        fmt::format("{}: has schema {}, this walkhammer reads up to {}; use a newer one", file,
                    version.value(), kSchemaVersion));
  run.db_ = std::move(db.value());
  run.schema_ = static_cast<int>(version.value());
  return run;
}

Result<RunRow> RunDb::Run() const {
  RunRow run;
  // Asked first: a run that ends in between reads as ended, never as killed.
  run.writer_alive = lock_fd_ >= 0 || WriterAlive(dir_);
  Statement row(
      db_,
      std::string("SELECT tool_version, jdk_path, vm_version, vm_gc, libjvm_build_id, jvm_flags,"
                  " walker, provider, engine, seed, cpu_model, kernel, started_at, aslr,"
                  " command_line, status, reason, time_ms, walks, successful, pristine_walks,"
                  " pristine_true, contained_crashes, request_hash, children_started,"
                  " children_retired, children_died") +
          (schema_ < 2 ? ", 1, 0" : ", workers, blocks") + " FROM run");
  const Result<bool> found = row.Step();
  if (!found.ok()) return found.failure();
  if (!found.value()) return BadInput(dir_ + ": the run has no identity");
  RunIdentity& identity = run.identity;
  for (std::string* text : {&identity.tool_version, &identity.jdk_path, &identity.vm_version,
                            &identity.vm_gc, &identity.libjvm_build_id, &identity.jvm_flags,
                            &identity.walker, &identity.provider, &identity.engine})
    *text = row.Text();
  identity.seed = std::strtoull(row.Text().c_str(), nullptr, 10);
  for (std::string* text : {&identity.cpu_model, &identity.kernel, &identity.started_at})
    *text = row.Text();
  identity.aslr = row.Int() != 0;
  identity.command_line = row.Text();
  run.status = StatusFromWord(row.Text());
  run.reason = row.Text();
  RunTotals& totals = run.totals;
  for (uint64_t* number :
       {&totals.time_ms, &totals.walks, &totals.successful, &totals.pristine_walks,
        &totals.pristine_true, &totals.contained_crashes})
    *number = static_cast<uint64_t>(row.Int());
  totals.request_hash = std::strtoull(row.Text().c_str(), nullptr, 16);
  for (uint32_t* number :
       {&totals.children_started, &totals.children_retired, &totals.children_died})
    *number = static_cast<uint32_t>(row.Int());
  identity.workers = static_cast<int>(row.Int());
  totals.blocks = static_cast<uint64_t>(row.Int());
  RETURN_IF_ERROR(ReadChurn(db_, totals));
  RETURN_IF_ERROR(ReadSettle(db_, totals));
  return run;
}

Result<std::vector<BucketRow>> RunDb::Buckets() const {
  std::vector<BucketRow> buckets;
  // One row per bucket, oracle, outcome and realism: grades are looked up, not stored truths.
  Statement rows(
      db_,
      std::string("SELECT b.id, b.key, b.title, b.oracle, b.expect, b.folder, b.seen, b.confirmed,"
                  " b.tries, f.oracle, f.outcome, f.grade, f.realism,"
                  " (SELECT COUNT(*) FROM finding WHERE bucket = b.id), MIN(f.time_ms),"
                  " MIN(f.sequence)") +
          (schema_ < 2 ? ", NULL, 0, 0"
                       : ", b.minimized_edits, b.minimized_confirmed, b.minimized_tries") +
          " FROM bucket b JOIN finding f ON f.bucket = b.id"
          " GROUP BY b.id, f.oracle, f.outcome, f.grade, f.realism ORDER BY b.id");
  for (;;) {
    const Result<bool> more = rows.Step();
    if (!more.ok()) return more.failure();
    if (!more.value()) break;
    BucketRow part;
    part.id = rows.Int();
    for (std::string* text : {&part.signature.key, &part.signature.title, &part.signature.oracle,
                              &part.signature.expect, &part.folder})
      *text = rows.Text();
    const uint64_t seen = static_cast<uint64_t>(rows.Int());
    part.confirmed = static_cast<int32_t>(rows.Int());
    part.tries = static_cast<int32_t>(rows.Int());
    part.oracle = rows.Text();
    part.outcome = rows.Text();
    part.recorded_grade = GradeFromWord(rows.Text());
    part.grade = GradeOf(part.oracle, part.outcome, part.recorded_grade);
    part.realism = RealismFromWord(rows.Text());
    part.count = std::max(seen, static_cast<uint64_t>(rows.Int()));
    part.first_time_ms = static_cast<uint64_t>(rows.Int());
    part.first_sequence = static_cast<uint64_t>(rows.Int());
    part.minimized_edits = rows.OptionalInt();
    part.minimized_confirmed = static_cast<int32_t>(rows.Int());
    part.minimized_tries = static_cast<int32_t>(rows.Int());
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
  Statement rows(
      db_, std::string("SELECT b.key, b.title, b.oracle, b.expect, f.oracle, f.outcome, f.grade,"
                       " f.realism, f.detail, f.request, f.frames, f.native, f.fault, f.sequence,"
                       " f.time_ms, ") +
               (schema_ < 3 ? "NULL" : "f.cell") +
               " FROM finding f JOIN bucket b ON b.id = f.bucket WHERE b.id = ?"
               " ORDER BY f.sequence, f.id");
  rows.Bind(bucket);
  for (;;) {
    const Result<bool> more = rows.Step();
    if (!more.ok()) return more.failure();
    if (!more.value()) return findings;
    FindingRecord finding;
    for (std::string* text :
         {&finding.signature.key, &finding.signature.title, &finding.signature.oracle,
          &finding.signature.expect, &finding.oracle, &finding.outcome})
      *text = rows.Text();
    finding.grade = GradeOf(finding.oracle, finding.outcome, GradeFromWord(rows.Text()));
    finding.realism = RealismFromWord(rows.Text());
    for (std::string* text :
         {&finding.detail, &finding.request, &finding.frames, &finding.native, &finding.fault})
      *text = rows.Text();
    finding.sequence = static_cast<uint64_t>(rows.Int());
    finding.time_ms = static_cast<uint64_t>(rows.Int());
    finding.cell = rows.OptionalInt();
    findings.push_back(std::move(finding));
  }
}

Result<std::vector<CountRow>> RunDb::Counts() const {
  std::vector<CountRow> counts;
  Statement rows(db_,
                 "SELECT walker, scene, state, region, code, count FROM count"
                 " ORDER BY walker, scene, state, region, code");
  for (;;) {
    const Result<bool> more = rows.Step();
    if (!more.ok()) return more.failure();
    if (!more.value()) return counts;
    CountRow count;
    for (std::string* text :
         {&count.walker, &count.scene, &count.state, &count.region, &count.code})
      *text = rows.Text();
    count.count = static_cast<uint64_t>(rows.Int());
    counts.push_back(std::move(count));
  }
}

Result<std::vector<SceneRow>> RunDb::Scenes() const {
  std::vector<SceneRow> scenes;
  Statement rows(db_,
                 "SELECT name, available, pristine_true, tried, truth_frames, reason FROM scene"
                 " ORDER BY position");
  for (;;) {
    const Result<bool> more = rows.Step();
    if (!more.ok()) return more.failure();
    if (!more.value()) return scenes;
    SceneRow scene;
    scene.name = rows.Text();
    scene.available = rows.Int() != 0;
    scene.pristine_true = rows.Int() != 0;
    scene.tried = static_cast<int32_t>(rows.Int());
    scene.truth_frames = static_cast<int32_t>(rows.Int());
    scene.reason = rows.Text();
    scenes.push_back(std::move(scene));
  }
}

Result<std::vector<ProgressRow>> RunDb::Progress() const {
  std::vector<ProgressRow> points;
  Statement rows(db_, std::string("SELECT time_ms, walks, buckets, ") +
                          (schema_ < 2 ? "0" : "blocks") + " FROM progress ORDER BY time_ms");
  for (;;) {
    const Result<bool> more = rows.Step();
    if (!more.ok()) return more.failure();
    if (!more.value()) return points;
    ProgressRow point;
    for (uint64_t* number : {&point.time_ms, &point.walks, &point.buckets, &point.blocks})
      *number = static_cast<uint64_t>(rows.Int());
    points.push_back(point);
  }
}

}  // namespace walkhammer
