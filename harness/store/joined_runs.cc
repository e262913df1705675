// SPDX-License-Identifier: Apache-2.0
#include "harness/store/joined_runs.h"

#include <fmt/format.h>

#include <utility>

#include "harness/store/run_tables.h"
#include "harness/store/vm_version.h"

namespace walkhammer {
namespace {

constexpr uint64_t kRowsBetweenChecks = 1000;
constexpr char kRunTable[] = "run";  // whose `id` is the number of the run

// Where a bucket was seen: one row for each bucket, run and build. A run of several builds counts
// what it kept of each, and does not say on which of them it replayed.
constexpr char kSightingView[] = R"(CREATE VIEW sighting AS
SELECT run.id AS run, run.folder, run.kind, run.started_at, bucket.id AS bucket, place.build,
       place.walker, bucket.title, bucket.oracle, bucket.outcome, bucket.grade, bucket.realism,
       iif(place.builds = 1, bucket.seen, place.kept) AS seen,
       iif(place.builds = 1, bucket.confirmed, NULL) AS confirmed,
       iif(place.builds = 1, bucket.tries, NULL) AS tries
FROM bucket JOIN run ON run.id = bucket.run JOIN (
  SELECT finding.run, bucket, ifnull(cell.build, run.build) AS build,
         min(ifnull(cell.walker, run.walker)) AS walker, count(*) AS kept,
         count(*) OVER (PARTITION BY finding.run, bucket) AS builds
  FROM finding JOIN run ON run.id = finding.run
  LEFT JOIN cell ON cell.run = finding.run AND cell.position = finding.cell
  GROUP BY finding.run, bucket, ifnull(cell.build, run.build)
) AS place ON place.run = bucket.run AND place.bucket = bucket.id)";

// --- rows that have more columns here than in run.db ---------------------------------------------

struct JoinedRun {
  int64_t id = 0;
  std::string folder, kind, build;
  StoredRun stored;
};

template <ARow<JoinedRun> Row, typename Column>
void Columns(Row& row, Column column) {
  column("id", row.id);
  column("folder", row.folder);
  column("kind", row.kind);
  column("build", row.build);
  Columns(row.stored, column);
}

struct JoinedCell {
  CellRow cell;
  std::string build;
};

template <ARow<JoinedCell> Row, typename Column>
void Columns(Row& row, Column column) {
  Columns(row.cell, column);
  column("build", row.build);
}

struct JoinedBucket {
  StoredBucket stored;
  std::string outcome;
  Grade grade{};
  Realism realism{};
  uint64_t first_ms = 0;
};

template <ARow<JoinedBucket> Row, typename Column>
void Columns(Row& row, Column column) {
  Columns(row.stored, column);
  column("outcome", row.outcome);
  column("grade", GradeText(row.grade));
  column("realism", RealismText(row.realism));
  column("first_ms", row.first_ms);
}

// What this build makes of a row as it is stored.
template <typename Row>
void Renew(Row&) {}
void Renew(StoredFinding& finding) {
  FindingRecord& record = finding.record;
  record.grade = GradeOf(record.oracle, record.outcome, record.grade);
}

// No keys: they hold within one run alone.
template <typename Row>
std::string CreateJoined(const char* table) {
  std::string columns = table == std::string_view(kRunTable) ? "" : ",\n  run INTEGER NOT NULL";
  EachColumn<Row>([&](const char* name, const char* type, const ColumnInfo&) {
    columns += fmt::format(",\n  {} {}", name, type);
  });
  return fmt::format("CREATE TABLE {} (\n{}\n) STRICT;\n", table, columns.substr(2));
}

template <typename Row>
std::string InsertJoined(const char* table) {
  std::string marks = table == std::string_view(kRunTable) ? "" : ", ?";
  EachColumn<Row>([&](const char*, const char*, const ColumnInfo&) { marks += ", ?"; });
  return fmt::format("INSERT INTO {} VALUES ({})", table, marks.substr(2));
}

}  // namespace

// Takes the rows of one table of one run.
class JoinedRuns::Rows {
 public:
  Rows(Database& db, int64_t run, const std::function<Status()>& go_on)
      : db_(db), run_(run), go_on_(go_on) {}

  int64_t run() const { return run_; }
  uint64_t count() const { return count_; }

  template <typename Row>
  Status Insert(const char* table, const Row& row) {
    if (!insert_) insert_ = std::make_unique<Statement>(db_, InsertJoined<Row>(table));
    insert_->Reset();
    if (table != std::string_view(kRunTable)) insert_->Bind(run_);
    BindRow(*insert_, row);
    RETURN_IF_ERROR(insert_->Run());
    return ++count_ % kRowsBetweenChecks == 0 ? go_on_() : Ok();
  }

 private:
  Database& db_;
  int64_t run_;
  const std::function<Status()>& go_on_;
  std::unique_ptr<Statement> insert_;
  uint64_t count_ = 0;
};

struct JoinedRuns::Table {
  std::string name, schema;
  std::function<Status(const RunDb& from, Rows& to)> copy;
};

template <typename Row>
Status JoinedRuns::CopyRows(const RunDb& from, const char* table, int since, Rows& to) {
  return EachRow<Row>(from.db_, from.schema_, table, since, [&](Row& row) {
    Renew(row);
    return to.Insert(table, row);
  });
}

Status JoinedRuns::CopyRun(const RunDb& from, Rows& to) {
  ASSIGN_OR_RETURN(const RunRow run, from.Run());
  JoinedRun row{
      to.run(), from.dir(), run.identity.Kind(), VersionOfVm(run.identity.vm_version), {}};
  return EachRow<StoredRun>(from.db_, from.schema_, kRunTable, 1, [&](StoredRun& stored) -> Status {
    if (to.count() > 0) return Ok();  // a stranger's
    row.stored = std::move(stored);
    return to.Insert(kRunTable, row);
  });
}

Status JoinedRuns::CopySettle(const RunDb& from, Rows& to) {
  ASSIGN_OR_RETURN(const RunRow run, from.Run());
  return run.totals.settle ? to.Insert("settle", *run.totals.settle) : Ok();
}

Status JoinedRuns::CopyChurn(const RunDb& from, Rows& to) {
  ASSIGN_OR_RETURN(const RunRow run, from.Run());
  return run.totals.churn ? to.Insert("churn", *run.totals.churn) : Ok();
}

Status JoinedRuns::CopyBuckets(const RunDb& from, Rows& to) {
  ASSIGN_OR_RETURN(const auto buckets, from.Buckets());
  for (const BucketRow& bucket : buckets) {
    JoinedBucket row;
    row.stored = {bucket.id,
                  bucket.signature,
                  bucket.folder,
                  bucket.count,
                  bucket.confirmed,
                  bucket.tries,
                  bucket.minimized_edits,
                  bucket.minimized_confirmed,
                  bucket.minimized_tries};
    row.stored.signature.oracle = bucket.oracle;
    row.outcome = bucket.outcome;
    row.grade = bucket.grade;
    row.realism = bucket.realism;
    row.first_ms = bucket.first_time_ms;
    RETURN_IF_ERROR(to.Insert("bucket", row));
  }
  return Ok();
}

Status JoinedRuns::CopyCells(const RunDb& from, Rows& to) {
  return EachRow<CellRow>(from.db_, from.schema_, "cell", 3, [&](CellRow& cell) {
    JoinedCell row{std::move(cell), ""};
    row.build = VersionOfVm(row.cell.vm_version);
    return to.Insert("cell", row);
  });
}

// Stacks have been stored in three forms, which a StackTree hides.
Status JoinedRuns::CopyFrames(const RunDb& from, Rows& to) {
  ASSIGN_OR_RETURN(const auto cells, from.Cells());
  for (const CellRow& cell : cells) {
    ASSIGN_OR_RETURN(const StackTree tree, from.Stacks(cell.position));
    for (size_t i = 0; i < tree.names().size(); i++)
      RETURN_IF_ERROR(to.Insert(
          "stack_frame", StackFrameRow{cell.position, static_cast<int64_t>(i), tree.names()[i]}));
  }
  return Ok();
}

Status JoinedRuns::CopyStacks(const RunDb& from, Rows& to) {
  ASSIGN_OR_RETURN(const auto cells, from.Cells());
  for (const CellRow& cell : cells) {
    ASSIGN_OR_RETURN(const StackTree tree, from.Stacks(cell.position));
    for (size_t i = 1; i < tree.nodes().size(); i++) {
      const StackTree::Node& node = tree.nodes()[i];
      RETURN_IF_ERROR(to.Insert("stack", StackNodeRow{cell.position, static_cast<int64_t>(i),
                                                      node.parent, node.name, node.count}));
    }
  }
  return Ok();
}

template <typename Row>
JoinedRuns::Table JoinedRuns::PlainTable(const char* name, int since) {
  return {name, CreateJoined<Row>(name),
          [=](const RunDb& from, Rows& to) { return CopyRows<Row>(from, name, since, to); }};
}

std::vector<JoinedRuns::Table> JoinedRuns::Tables() {
  return {{kRunTable, CreateJoined<JoinedRun>(kRunTable), CopyRun},
          {"settle", CreateJoined<SettleTotals>("settle"), CopySettle},
          {"churn", CreateJoined<ChurnTotals>("churn"), CopyChurn},
          {"bucket", CreateJoined<JoinedBucket>("bucket"), CopyBuckets},
          {"cell", CreateJoined<JoinedCell>("cell"), CopyCells},
          {"stack_frame", CreateJoined<StackFrameRow>("stack_frame"), CopyFrames},
          {"stack", CreateJoined<StackNodeRow>("stack"), CopyStacks},
          PlainTable<Placed<PartRow>>("part", 9),
          PlainTable<StoredFinding>("finding", 1),
          PlainTable<CountRow>("count", 1),
          PlainTable<Placed<SceneRow>>("scene", 1),
          PlainTable<ProgressRow>("progress", 1),
          PlainTable<Placed<CoverageFunctionRow>>("coverage_function", 2),
          PlainTable<Placed<CoverageBlockRow>>("coverage_block", 2),
          PlainTable<LeftOutRow>("coverage_left_out", 2),
          PlainTable<CellThreadRow>("cell_thread", 3),
          PlainTable<AgreementRow>("agreement", 4),
          PlainTable<EvidenceRow>("evidence", 5),
          PlainTable<WalkEndRow>("walk_end", 7),
          PlainTable<StepRegionRow>("step_region", 3),
          PlainTable<StepRangeRow>("step_range", 3),
          PlainTable<NoteRow>("note", 7),
          PlainTable<PeriodRow>("period", 8),
          PlainTable<PeriodCountRow>("period_count", 8),
          PlainTable<PeriodTimeRow>("period_time", 8),
          PlainTable<PeriodBucketRow>("period_bucket", 8)};
}

Result<JoinedRuns> JoinedRuns::Make() {
  JoinedRuns joined;
  ASSIGN_OR_RETURN(joined.db_, Database::OpenTemporary());
  std::string schema;
  for (const Table& table : Tables()) schema += table.schema;
  // One transaction for everything: nothing of it is ever kept. json_each and json_tree are made
  // here because making a virtual table asks the authorizer for more than reading: other virtual
  // tables are refused.
  RETURN_IF_ERROR(joined.db_.Exec(
      (schema + kSightingView + "; BEGIN; SELECT 1 FROM json_each('[]'), json_tree('[]')")
          .c_str()));
  return joined;
}

Status JoinedRuns::CountOnce(const RunDb& from) {
  ASSIGN_OR_RETURN(const auto parts, from.Parts());
  for (const PartRow& part : parts) {
    const auto [at, is_new] = holders_.emplace(part.identity.run_id, from.dir());
    if (!is_new)
      return BadInput(fmt::format("{} and {} hold the same run, which would count twice; give one",
                                  at->second, from.dir()));
  }
  return Ok();
}

Status JoinedRuns::Add(const std::string& dir, const std::set<std::string>& tables,
                       const std::function<Status()>& go_on) {
  ASSIGN_OR_RETURN(const RunDb from, RunDb::Open(dir));
  RETURN_IF_ERROR(CountOnce(from));
  runs_++;
  for (const Table& table : Tables()) {
    if (!tables.contains(table.name)) continue;
    RETURN_IF_ERROR(go_on());
    Rows rows(db_, runs_, go_on);
    RETURN_IF_ERROR(table.copy(from, rows));
    if (rows.count() > 0) filled_.insert(table.name);
  }
  return Ok();
}

std::vector<std::string> JoinedRuns::Empty(const std::set<std::string>& tables) const {
  std::vector<std::string> empty;
  for (const Table& table : Tables())
    if (tables.contains(table.name) && !filled_.contains(table.name)) empty.push_back(table.name);
  return empty;
}

}  // namespace walkhammer
