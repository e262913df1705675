// SPDX-License-Identifier: Apache-2.0
#include "harness/store/run_reader.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "harness/store/locked_folder.h"
#include "harness/store/run_tables.h"

namespace walkhammer {
namespace {

// Opens a run in a folder that cannot be written to. There, SQLite reads a WAL database only if
// it is opened as immutable. SQLite then ignores run.db-wal, so this fails if run.db-wal
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
    return BadInput(file + " is not a regular file");
  for (const char* end : {"-wal", "-shm", "-journal"})
    if (lstat((file + end).c_str(), &info) == 0 && !S_ISREG(info.st_mode))
      return BadInput(file + end + " is not a regular file");
  return Ok();
}

// True if all that the file declares are plain tables and indexes: what else an untrusted file
// declares would be run by a query that names it.
Status OnlyTables(const Database& db, const std::string& file) {
  Statement others(db,
                   "SELECT name FROM sqlite_master WHERE type NOT IN ('table', 'index')"
                   " OR rootpage IS NULL OR rootpage < 2"
                   " UNION ALL SELECT m.name FROM sqlite_master m, pragma_table_xinfo(m.name) x"
                   " WHERE m.type = 'table' AND x.hidden <> 0 LIMIT 1");
  ASSIGN_OR_RETURN(const bool found, others.Step());
  if (!found) return Ok();
  return BadInput(fmt::format("{}: {} is not a table that a run has, so nothing of it is read",
                              file, others.Text()));
}

bool IsRunId(const std::string& text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Orders buckets: those that replayed come first, those that were replayed in vain last.
int ReplayRank(const BucketRow& bucket) {
  if (bucket.confirmed > 0) return 0;
  return bucket.tries == 0 ? 1 : 2;
}

}  // namespace

std::string NameInCrashes(const std::string& folder) {
  constexpr std::string_view kUnder = "crashes/";
  if (!folder.starts_with(kUnder)) return "";
  std::string name = folder.substr(kUnder.size());
  if (name.empty() || name.front() == '.' || name.find('/') != std::string::npos ||
      name.find('\0') != std::string::npos)
    return "";
  return name;
}

Result<RunReader> RunReader::Open(const std::string& dir) {
  const std::string file = dir + "/" + kDbName;
  struct stat info;
  if (stat(file.c_str(), &info) != 0)
    return BadInput(fmt::format("{}: is not a run folder (it has no {})", dir, kDbName));
  RETURN_IF_ERROR(OnlyRegularFiles(file));
  RunReader run;
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

Result<RunReader> RunReader::OpenEnded(const std::string& dir) {
  ASSIGN_OR_RETURN(RunReader run, Open(dir));
  if (IsWritten(dir))
    return BadInput(fmt::format("{}: this run still goes on; try again when it has ended", dir));
  return run;
}

template <typename Row>
Result<std::vector<Row>> RunReader::Rows() const {
  return ReadAll<Row>(SelectAll<Row>(db_));
}

Result<RunRow> RunReader::Run() const {
  // Checked before the status: a run that ends in between then reads as ended, never as killed.
  const bool writer_alive = IsWritten(dir_);
  ASSIGN_OR_RETURN(auto runs, Rows<StoredRun>());
  if (runs.empty()) return BadInput(dir_ + ": the run has no identity");
  RunRow run = std::move(runs.front().run);
  run.writer_alive = writer_alive;
  ASSIGN_OR_RETURN(const auto churn, Rows<ChurnTotals>());
  if (!churn.empty()) run.totals.churn = churn.front();
  ASSIGN_OR_RETURN(const auto failed_loads, Rows<FailedLoadTotals>());
  if (!failed_loads.empty()) run.totals.failed_loads = failed_loads.front();
  ASSIGN_OR_RETURN(const auto settle, Rows<SettleTotals>());
  if (!settle.empty()) run.totals.settle = settle.front();
  return run;
}

Result<std::vector<RunRow>> RunReader::Parts() const {
  ASSIGN_OR_RETURN(auto parts, Rows<RunRow>());
  if (parts.empty()) {
    ASSIGN_OR_RETURN(RunRow run, Run());
    parts.push_back(std::move(run));
  }
  for (const RunRow& part : parts)
    if (!IsRunId(part.identity.run_id))
      return BadInput(fmt::format("{}: a run in it has no id of 32 hex digits", dir_));
  return parts;
}

Result<std::vector<BucketRow>> RunReader::Buckets() const {
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
    if (NameInCrashes(stored.folder).empty())
      return BadInput(dir_ +
                      ": the run database is damaged: a bucket has its folder outside of the run");
    part.id = stored.id.value_or(0);
    static_cast<BucketFacts&>(part) = stored;
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
    if (a.realism != b.realism) return a.realism < b.realism;
    if (a.grade != b.grade) return a.grade > b.grade;
    return std::pair(ReplayRank(a), a.id) < std::pair(ReplayRank(b), b.id);
  });
  return buckets;
}

Result<std::vector<FindingRecord>> RunReader::Findings(int64_t bucket) const {
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

Result<CoverageRows> RunReader::Coverage() const {
  CoverageRows code;
  // `row` stays open to the end, so that all queries read the same snapshot.
  Statement row(db_, "SELECT " + NamesOf<CoverageSource>() + " FROM run");
  ASSIGN_OR_RETURN(const bool found, row.Step());
  if (!found) return BadInput(dir_ + ": the run has no identity");
  CoverageSource source;
  ReadRow(row, source);
  code.reason = source.reason;
  if (!code.reason.empty()) return code;
  code.file = source.file;
  code.build_id = source.build_id;
  ASSIGN_OR_RETURN(code.functions, Rows<CoverageFunctionRow>());
  ASSIGN_OR_RETURN(code.blocks, Rows<CoverageBlockRow>());
  ASSIGN_OR_RETURN(code.left_out, Rows<LeftOutRow>());
  if (!IsWhole(code))
    return BadInput(dir_ + ": the run database is damaged: its blocks do not fit");
  if (code.blocks.empty()) return CoverageRows{"", "", "none was recorded", {}, {}, {}};
  return code;
}

Result<StackTree> RunReader::Stacks(int64_t cell) const {
  StackTree tree;
  RETURN_IF_ERROR(AddStacks(cell, tree));
  return tree;
}

Status RunReader::AddStacks(int64_t cell, StackTree& tree) const {
  std::unordered_map<int64_t, uint32_t> names, nodes{{StackTree::kRoot, StackTree::kRoot}};
  Statement frames(db_, "SELECT id, name FROM stack_frame WHERE cell = ? ORDER BY id");
  RETURN_IF_ERROR(ForEach(frames.Bind(cell), [&](Statement& row) {
    const int64_t id = row.Int();
    names[id] = tree.NameId(row.Text());
  }));
  Statement rows(db_, "SELECT id, parent, frame, count FROM stack WHERE cell = ? ORDER BY id");
  return ForEach(rows.Bind(cell), [&](Statement& row) {
    const int64_t id = row.Int();
    const auto parent = nodes.find(row.Int()), frame = names.find(row.Int());
    if (parent == nodes.end() || frame == names.end()) return;  // somebody else wrote it
    const uint32_t node = nodes[id] = tree.Child(parent->second, frame->second);
    if (const int64_t count = row.Int(); count > 0) tree.Count(node, static_cast<uint64_t>(count));
  });
}

Result<std::vector<StackTotals>> RunReader::CountStacks() const {
  return ReadAll<StackTotals>(
      Statement(db_,
                "SELECT cell, COUNT(*), SUM(count) FROM stack WHERE count > 0 GROUP BY cell "
                "ORDER BY cell"));
}

Result<std::vector<std::pair<int64_t, int64_t>>> RunReader::BucketCells() const {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  Statement rows(db_,
                 "SELECT DISTINCT bucket, cell FROM finding WHERE cell IS NOT NULL ORDER BY 1, 2");
  RETURN_IF_ERROR(ForEach(rows, [&](Statement& row) {
    const int64_t bucket = row.Int();
    pairs.emplace_back(bucket, row.Int());
  }));
  return pairs;
}

template Result<std::vector<CountRow>> RunReader::Rows() const;
template Result<std::vector<SceneRow>> RunReader::Rows() const;
template Result<std::vector<ProgressRow>> RunReader::Rows() const;
template Result<std::vector<CellRow>> RunReader::Rows() const;
template Result<std::vector<CellThreadRow>> RunReader::Rows() const;
template Result<std::vector<AgreementRow>> RunReader::Rows() const;
template Result<std::vector<EvidenceRow>> RunReader::Rows() const;
template Result<std::vector<WalkEndRow>> RunReader::Rows() const;
template Result<std::vector<StepRegionRow>> RunReader::Rows() const;
template Result<std::vector<StepRangeRow>> RunReader::Rows() const;
template Result<std::vector<FramePlaceRow>> RunReader::Rows() const;
template Result<std::vector<FrameWalkerRow>> RunReader::Rows() const;
template Result<std::vector<FrameDifferenceRow>> RunReader::Rows() const;
template Result<std::vector<FramePredictionRow>> RunReader::Rows() const;
template Result<std::vector<FrameRefutedRow>> RunReader::Rows() const;
template Result<std::vector<NoteRow>> RunReader::Rows() const;
template Result<std::vector<PeriodRow>> RunReader::Rows() const;
template Result<std::vector<PeriodCountRow>> RunReader::Rows() const;
template Result<std::vector<PeriodTimeRow>> RunReader::Rows() const;
template Result<std::vector<PeriodBucketRow>> RunReader::Rows() const;

}  // namespace walkhammer
