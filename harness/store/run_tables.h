// SPDX-License-Identifier: Apache-2.0
// The tables of run.db, each described once: see columns.h and docs/reference/run-folder.md. For
// the store, and for the JSON report, which names values as these tables do. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_STORE_RUN_TABLES_H_
#define WALKHAMMER_HARNESS_STORE_RUN_TABLES_H_

#include "harness/store/columns.h"
#include "harness/store/periods.h"
#include "harness/store/run_rows.h"
#include "harness/store/stress_tables.h"

namespace walkhammer {

inline constexpr int kSchemaVersion = 1;
// "WALK": lets file(1) and a reader tell a run from any other SQLite file.
inline constexpr int kApplicationId = 0x57414c4b;
// That of the runs that walkhammer made before its schemas were counted from 1.
inline constexpr int kUncountedId = 0x5748524e;

std::string RunSchema();  // the SQL that makes all tables

// True if the blocks of each function and the function of each block exist, for readers index by
// these, and if functions share no blocks as to their number, for readers look at all of each.
bool IsWhole(const CoverageRows& code);

constexpr auto RunStatusText(auto& field) {
  return AsWord<&RunStatusWord, &RunStatusFromWord>(field);
}
constexpr auto GradeText(auto& field) { return AsWord<&GradeWord, &GradeFromWord>(field); }

// --- rows that are stored in another form than readers return
// -------------------------------------

// A row whose key is its position in the table.
template <typename Row>
struct Placed {
  int64_t position = 0;
  Row row;
};

// The row of a table that has at most one row.
template <typename Row>
struct Only {
  int64_t id = 1;
  Row row;
};

struct CoverageSource {
  std::string file, build_id, reason;
};

struct StoredRun {
  RunRow run;
  CoverageSource coverage;
};

struct StoredBucket : BucketFacts {
  std::optional<int64_t> id;  // nullopt: SQLite assigns the next id
  uint64_t seen = 0;
};

struct StoredFinding {
  std::optional<int64_t> id;  // nullopt: SQLite assigns the next id
  int64_t bucket = 0;
  FindingRecord record;
};

// --- columns -----------------------------------------------------------------------------------

template <typename Row, typename Column>
requires ARow<Row, Placed<decltype(Row::row)>>
void Columns(Row& placed, Column column) {
  column("position", placed.position, kPrimaryKey);
  Columns(placed.row, column);
}

template <typename Row, typename Column>
requires ARow<Row, Only<decltype(Row::row)>>
void Columns(Row& only, Column column) {
  column("id", only.id, ColumnInfo{.more = "PRIMARY KEY CHECK (id = 1)"});
  Columns(only.row, column);
}

template <ARow<RunIdentity> Row, typename Column>
void Columns(Row& row, Column column) {
  column("tool_version", row.tool_version);
  column("jdk_path", row.jdk_path);
  column("vm_version", row.vm_version);
  column("vm_gc", row.vm_gc);
  column("libjvm_build_id", row.libjvm_build_id);
  column("jvm_flags", row.jvm_flags);
  column("walker", row.walker);
  column("provider", row.provider);
  column("engine", row.engine);
  column("seed", Decimal{row.seed});
  column("cpu_model", row.cpu_model);
  column("kernel", row.kernel);
  column("started_at", row.started_at);
  column("aslr", row.aslr);
  column("command_line", row.command_line);
  column("workers", row.workers);
  column("run_id", row.run_id);
  column("shard", row.shard);
}

template <ARow<RunTotals> Row, typename Column>
void Columns(Row& row, Column column) {
  column("time_ms", row.time_ms, kSum);
  column("walking_cpu_ms", row.walking_cpu_ms, kSum);
  column("walks", row.walks, kSum);
  column("successful", row.successful, kSum);
  column("pristine_walks", row.pristine_walks, kSum);
  column("pristine_true", row.pristine_true, kSum);
  column("contained_crashes", row.contained_crashes, kSum);
  column("request_hash", HexDigits{row.request_hash});
  column("children_started", row.children_started, kSum);
  column("children_retired", row.children_retired, kSum);
  column("children_died", row.children_died, kSum);
  column("blocks", row.blocks);
}

template <ARow<CoverageSource> Row, typename Column>
void Columns(Row& row, Column column) {
  column("coverage_file", row.file);
  column("coverage_build_id", row.build_id);
  column("coverage_reason", row.reason);
}

template <ARow<RunRow> Row, typename Column>
void Columns(Row& row, Column column) {
  Columns(row.identity, column);
  column("status", RunStatusText(row.status));
  column("reason", row.reason);
  Columns(row.totals, column);
}

template <ARow<StoredRun> Row, typename Column>
void Columns(Row& row, Column column) {
  Columns(row.run, column);
  Columns(row.coverage, column);
}

template <ARow<SettleTotals> Row, typename Column>
void Columns(Row& row, Column column) {
  column("most_ms", row.most_ms, kSum);
  column("took_ms", row.took_ms, kSum);
  column("unconfirmed", row.unconfirmed, kSum);
  column("unminimized", row.unminimized, kSum);
}

template <ARow<ChurnTotals> Row, typename Column>
void Columns(Row& row, Column column) {
  column("collections", row.collections, kSum);
  column("rounds", row.rounds, kSum);
  column("unloaded", row.unloaded, kSum);
}

template <ARow<FailedLoadTotals> Row, typename Column>
void Columns(Row& row, Column column) {
  column("loads", row.loads, kSum);
  column("contained", row.contained, kSum);
  column("crashed", row.crashed, kSum);
  column("hung", row.hung, kSum);
  column("missed", row.missed, kSum);
  column("unseen", row.unseen, kSum);
  column("finished", row.finished, kSum);
}

template <ARow<StoredBucket> Row, typename Column>
void Columns(Row& row, Column column) {
  column("id", row.id, kPrimaryKey);
  column("key", row.signature.key, kUnique);
  column("title", row.signature.title);
  column("oracle", row.signature.oracle);
  column("expect", row.signature.expect);
  column("folder", row.folder);
  column("seen", row.seen);
  column("confirmed", row.confirmed);
  column("tries", row.tries);
  column("minimized_edits", row.minimized_edits);
  column("minimized_confirmed", row.minimized_confirmed);
  column("minimized_tries", row.minimized_tries);
}

template <ARow<StoredFinding> Row, typename Column>
void Columns(Row& row, Column column) {
  column("id", row.id, kPrimaryKey);
  column("bucket", row.bucket, ColumnInfo{.more = "REFERENCES bucket (id)"});
  auto& record = row.record;
  column("sequence", record.sequence);
  column("time_ms", record.time_ms);
  column("oracle", record.oracle);
  column("outcome", record.outcome);
  column("grade", GradeText(record.grade));
  column("realism", RealismText(record.realism));
  column("detail", record.detail);
  column("request", record.request);
  column("frames", record.frames);
  column("native", record.native);
  column("fault", record.fault);
  column("cell", record.cell);
}

template <ARow<CountRow> Row, typename Column>
void Columns(Row& row, Column column) {
  column("walker", row.walker);
  column("scene", row.scene);
  column("state", row.state);
  column("region", row.region);
  column("code", row.code);
  column("count", row.count, kSum);
}

template <ARow<SceneRow> Row, typename Column>
void Columns(Row& row, Column column) {
  column("name", row.name, kUnique);
  column("available", row.available);
  column("pristine_true", row.pristine_true);
  column("tried", row.tried);
  column("truth_frames", row.truth_frames);
  column("reason", row.reason);
}

template <ARow<ProgressRow> Row, typename Column>
void Columns(Row& row, Column column) {
  column("time_ms", row.time_ms, kPrimaryKey);
  column("walks", row.walks);
  column("buckets", row.buckets);
  column("blocks", row.blocks);
}

template <ARow<CoverageFunctionRow> Row, typename Column>
void Columns(Row& row, Column column) {
  column("name", row.name);
  column("address", row.address);
  column("size", row.size);
  column("reach", row.reach);
  column("first_block", row.first_block);
  column("blocks", row.blocks);
}

template <ARow<CoverageBlockRow> Row, typename Column>
void Columns(Row& row, Column column) {
  column("address", row.address);
  column("size", row.size);
  column("function", row.function, ColumnInfo{.more = "REFERENCES coverage_function (position)"});
  column("first_ms", row.first_ms);
}

template <ARow<LeftOutRow> Row, typename Column>
void Columns(Row& row, Column column) {
  column("name", row.name);
  column("reason", row.reason);
}

template <ARow<NoteRow> Row, typename Column>
void Columns(Row& row, Column column) {
  column(kCellColumn, AsOrNone<kNoCell>(row.cell), kOfCell);
  column("kind", AsWord<&NoteKindWord, &NoteKindFromWord>(row.kind));
  column("name", row.name);
  column("count", row.count, kSum);
  column("detail", row.detail, kFirst);
}

template <ARow<PeriodRow> Row, typename Column>
void Columns(Row& row, Column column) {
  column(kCellColumn, AsOrNone<kNoCell>(row.cell), kOfCell);
  column("position", row.position);
  column("begin_ms", row.begin_ms);
  column("end_ms", row.end_ms);
  column("part", row.part);
}

template <ARow<PeriodCountRow> Row, typename Column>
void Columns(Row& row, Column column) {
  column("part", row.part);
  column("walker", row.walker);
  column("scene", row.scene);
  column("state", row.state);
  column("region", row.region);
  column("code", row.code);
  column("counts", row.counts);
}

template <ARow<PeriodTimeRow> Row, typename Column>
void Columns(Row& row, Column column) {
  column("part", row.part);
  column("walker", row.walker);
  column("scene", row.scene);
  column("least_frames", row.least_frames);
  column("from_ns", row.from_ns);
  column("counts", row.counts);
}

template <ARow<PeriodBucketRow> Row, typename Column>
void Columns(Row& row, Column column) {
  column("part", row.part);
  column("bucket", row.bucket, ColumnInfo{.more = "REFERENCES bucket (id)"});
  column("counts", row.counts);
}

// --- tables ------------------------------------------------------------------------------------

template <>
inline constexpr Table kTable<StoredRun> = {"run"};
template <>
inline constexpr Table kTable<RunRow> = {"part", "position"};
template <>
inline constexpr Table kTable<ChurnTotals> = {"churn"};
template <>
inline constexpr Table kTable<FailedLoadTotals> = {"failed_loads"};
template <>
inline constexpr Table kTable<SettleTotals> = {"settle"};
template <>
inline constexpr Table kTable<StoredBucket> = {"bucket"};
template <>
inline constexpr Table kTable<StoredFinding> = {"finding"};
template <>
inline constexpr Table kTable<CountRow> = {"count", "walker, scene, state, region, code",
                                           Table::kKeyed};
template <>
inline constexpr Table kTable<SceneRow> = {"scene", "position"};
template <>
inline constexpr Table kTable<ProgressRow> = {"progress", "time_ms"};
template <>
inline constexpr Table kTable<CoverageFunctionRow> = {"coverage_function", "position"};
template <>
inline constexpr Table kTable<CoverageBlockRow> = {"coverage_block", "position"};
template <>
inline constexpr Table kTable<LeftOutRow> = {"coverage_left_out"};
template <>
inline constexpr Table kTable<NoteRow> = {"note", "cell, rowid", Table::kOfCell};
template <>
inline constexpr Table kTable<PeriodRow> = {"period", "part, cell, position"};
template <>
inline constexpr Table kTable<PeriodCountRow> = {
    "period_count", "part, walker, scene, state, region, code", Table::kKeyed};
template <>
inline constexpr Table kTable<PeriodTimeRow> = {
    "period_time", "part, walker, scene, least_frames, from_ns", Table::kKeyed};
template <>
inline constexpr Table kTable<PeriodBucketRow> = {"period_bucket", "part, bucket", Table::kKeyed};
template <typename Row>
inline constexpr Table kTable<Placed<Row>> = kTable<Row>;
template <typename Row>
inline constexpr Table kTable<Only<Row>> = kTable<Row>;

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_STORE_RUN_TABLES_H_
