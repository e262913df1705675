// SPDX-License-Identifier: Apache-2.0
// The part of RunDb that knows the cells of stress and step runs, and agreement of all runs.
#include <fmt/format.h>

#include <array>
#include <optional>
#include <string_view>

#include "harness/store/collapsed.h"
#include "harness/store/run_db.h"

namespace walkhammer {
namespace {

// Of the table cell: the key, texts, the status, numbers.
constexpr std::string_view kCellColumns[] = {"position",        "label",
                                             "workload",        "jdk_path",
                                             "vm_version",      "vm_gc",
                                             "profile",         "jvm_flags",
                                             "walker",          "mode",
                                             "sampler",         "sampler_reason",
                                             "clock",           "status",
                                             "reason",          "interval_min_ns",
                                             "interval_max_ns", "time_ms",
                                             "starts",          "requested",
                                             "delivered",       "coalesced",
                                             "missed",          "walks",
                                             "successful",      "contained_crashes",
                                             "agent_kib",       "output_bytes"};

// The same columns of a row and of a const row, in the order of kCellColumns.
template <typename Row>
auto TextsOf(Row& cell) {
  return std::array{&cell.label, &cell.workload, &cell.jdk_path,       &cell.vm_version,
                    &cell.vm_gc, &cell.profile,  &cell.jvm_flags,      &cell.walker,
                    &cell.mode,  &cell.sampler,  &cell.sampler_reason, &cell.clock};
}
template <typename Row>
auto NumbersOf(Row& cell) {
  auto& delivery = cell.delivery;
  return std::array{&cell.interval_min_ns, &cell.interval_max_ns,   &cell.time_ms,
                    &cell.starts,          &delivery.requested,     &delivery.delivered,
                    &delivery.coalesced,   &delivery.missed,        &delivery.walks,
                    &delivery.successful,  &cell.contained_crashes, &cell.agent_kib,
                    &cell.output_bytes};
}

uint64_t Number(Statement& row) { return static_cast<uint64_t>(row.Int()); }

void Bind(Statement& statement, const Delivery& delivery) {
  statement.Bind(delivery.requested).Bind(delivery.delivered).Bind(delivery.coalesced);
  statement.Bind(delivery.missed).Bind(delivery.walks).Bind(delivery.successful);
}

void Read(Statement& row, Delivery& delivery) {
  for (uint64_t* number : {&delivery.requested, &delivery.delivered, &delivery.coalesced,
                           &delivery.missed, &delivery.walks, &delivery.successful})
    *number = Number(row);
}

void Bind(Statement& statement, const CellThreadRow& thread) {
  statement.Bind(thread.tid).Bind(thread.name).Bind(thread.java).Bind(thread.cpu_ms);
  Bind(statement, thread.delivery);
}

void Read(Statement& row, CellThreadRow& thread) {
  thread.cell = row.Int();
  thread.tid = row.Int();
  thread.name = row.Text();
  thread.java = row.Int() != 0;
  thread.cpu_ms = Number(row);
  Read(row, thread.delivery);
}

void Bind(Statement& statement, const StackRow& stack) {
  statement.Bind(stack.frames).Bind(stack.count);
}

void Read(Statement& row, StackRow& stack) {
  stack.cell = row.Int();
  stack.frames = row.Text();
  stack.count = Number(row);
}

void Read(Statement& row, StackTotals& totals) {
  totals.cell = row.Int();
  totals.distinct = Number(row);
  totals.count = Number(row);
}

void Bind(Statement& statement, const AgreementRow& row) {
  statement.Bind(row.walker).Bind(row.other).Bind(RealismWord(row.realism)).Bind(row.region);
  statement.Bind(row.kind).Bind(row.samples);
}

void Read(Statement& row, AgreementRow& agreement) {
  agreement.cell = row.OptionalInt().value_or(kNoCell);
  for (std::string* text : {&agreement.walker, &agreement.other}) *text = row.Text();
  agreement.realism = RealismFromWord(row.Text());
  for (std::string* text : {&agreement.region, &agreement.kind}) *text = row.Text();
  agreement.samples = Number(row);
}

// The same texts of a row and of a const row.
template <typename Row>
auto EvidenceTextsOf(Row& row) {
  return std::array{&row.walker, &row.other, &row.region, &row.kind, &row.witness, &row.against};
}

void Bind(Statement& statement, const EvidenceRow& row) {
  for (const std::string* text : EvidenceTextsOf(row)) statement.Bind(*text);
  statement.Bind(row.samples);
}

void Read(Statement& row, EvidenceRow& evidence) {
  evidence.cell = row.Int();
  for (std::string* text : EvidenceTextsOf(evidence)) *text = row.Text();
  evidence.samples = Number(row);
}

void Bind(Statement& statement, const StepRegionRow& region) {
  statement.Bind(region.kind).Bind(region.name).Bind(region.level).Bind(region.pcs);
  statement.Bind(region.steps).Bind(region.answered).Bind(region.failed).Bind(region.wrong);
}

void Read(Statement& row, StepRegionRow& region) {
  region.cell = row.Int();
  region.kind = row.Text();
  region.name = row.Text();
  region.level = static_cast<int>(row.Int());
  for (uint64_t* number :
       {&region.pcs, &region.steps, &region.answered, &region.failed, &region.wrong})
    *number = Number(row);
}

void Bind(Statement& statement, const StepRangeRow& range) {
  statement.Bind(range.kind).Bind(range.name).Bind(range.level).Bind(range.answer);
  statement.Bind(range.begin).Bind(range.end).Bind(range.steps).Bind(range.disassembly);
}

void Read(Statement& row, StepRangeRow& range) {
  range.cell = row.Int();
  range.kind = row.Text();
  range.name = row.Text();
  range.level = static_cast<int>(row.Int());
  range.answer = row.Text();
  for (uint64_t* number : {&range.begin, &range.end, &range.steps}) *number = Number(row);
  range.disassembly = row.Text();
}

void Read(Statement& row, CellRow& cell) {
  cell.position = row.Int();
  for (std::string* text : TextsOf(cell)) *text = row.Text();
  cell.status = CellStatusFromWord(row.Text());
  cell.reason = row.Text();
  for (uint64_t* number : NumbersOf(cell)) *number = Number(row);
}

void Read(Statement& row, std::pair<int64_t, int64_t>& pair) {
  pair.first = row.Int();
  pair.second = row.Int();
}

// Puts `rows` into the place of all that `table` has of the cell.
template <typename Row>
Status Replace(Database& db, const char* table, std::string_view columns, int64_t cell,
               std::span<const Row> rows) {
  Transaction transaction(db);
  if (!transaction.begun().ok()) return transaction.begun();
  Statement drop(db, fmt::format("DELETE FROM {} WHERE cell IS ?", table));
  const std::optional<int64_t> place = cell == kNoCell ? std::nullopt : std::optional(cell);
  if (Status status = drop.Bind(place).Run(); !status.ok()) return status;
  std::string marks = "?";
  for (const char c : columns)
    if (c == ',') marks += ", ?";
  Statement insert(db, fmt::format("INSERT INTO {} ({}) VALUES ({})", table, columns, marks));
  for (const Row& row : rows) {
    insert.Reset();
    insert.Bind(place);
    Bind(insert, row);
    if (Status status = insert.Run(); !status.ok()) return status;
  }
  return transaction.Commit();
}

template <typename Row>
Result<std::vector<Row>> ReadAll(Statement rows) {
  std::vector<Row> all;
  for (;;) {
    const Result<bool> more = rows.Step();
    if (!more.ok()) return more.failure();
    if (!more.value()) return all;
    Read(rows, all.emplace_back());
  }
}

constexpr char kThreadColumns[] =
    "cell, tid, name, java, cpu_ms, requested, delivered, coalesced, missed, walks, successful";
constexpr char kStackColumns[] = "cell, frames, count";
constexpr char kAgreementColumns[] = "cell, walker, other, realism, region, kind, samples";
constexpr char kEvidenceColumns[] = "cell, walker, other, region, kind, witness, against, samples";
constexpr char kRegionColumns[] = "cell, kind, name, level, pcs, steps, answered, failed, wrong";
constexpr char kRangeColumns[] =
    "cell, kind, name, level, answer, first_byte, end_byte, steps, disassembly";

// How stacks were joined before schema 6.
std::string FromCollapsed(std::string_view collapsed) {
  std::string frames;
  for (const std::string_view frame : SplitCollapsed(collapsed)) AppendFrame(frames, frame);
  return frames;
}

std::string AllOf(const char* columns, const char* table) {
  return fmt::format("SELECT {} FROM {} ORDER BY cell, rowid", columns, table);
}

}  // namespace

Status RunDb::SaveCell(const CellRow& cell) {
  // No REPLACE: that would take the rows away that others refer to.
  std::string columns, marks, updates;
  for (const std::string_view column : kCellColumns) {
    const char* comma = columns.empty() ? "" : ", ";
    columns += fmt::format("{}{}", comma, column);
    marks += fmt::format("{}?", comma);
    updates += fmt::format("{}{} = excluded.{}", comma, column, column);
  }
  Statement insert(
      db_, fmt::format("INSERT INTO cell ({}) VALUES ({}) ON CONFLICT (position) DO UPDATE SET {}",
                       columns, marks, updates));
  CellRow row = cell;
  row.label = CellLabel(cell);
  insert.Bind(row.position);
  for (const std::string* text : TextsOf(row)) insert.Bind(*text);
  insert.Bind(CellStatusWord(row.status)).Bind(row.reason);
  for (const uint64_t* number : NumbersOf(row)) insert.Bind(*number);
  return insert.Run();
}

Status RunDb::SaveCellThreads(int64_t cell, std::span<const CellThreadRow> threads) {
  return Replace(db_, "cell_thread", kThreadColumns, cell, threads);
}

Status RunDb::SaveStacks(int64_t cell, std::span<const StackRow> stacks) {
  return Replace(db_, "stack", kStackColumns, cell, stacks);
}

Status RunDb::SaveAgreement(int64_t cell, std::span<const AgreementRow> agreement) {
  return Replace(db_, "agreement", kAgreementColumns, cell, agreement);
}

Status RunDb::SaveEvidence(int64_t cell, std::span<const EvidenceRow> evidence) {
  return Replace(db_, "evidence", kEvidenceColumns, cell, evidence);
}

Status RunDb::SaveStepRegions(int64_t cell, std::span<const StepRegionRow> regions) {
  return Replace(db_, "step_region", kRegionColumns, cell, regions);
}

Status RunDb::SaveStepRanges(int64_t cell, std::span<const StepRangeRow> ranges) {
  return Replace(db_, "step_range", kRangeColumns, cell, ranges);
}

Status RunDb::SaveCountRows(std::span<const CountRow> counts) {
  Transaction transaction(db_);
  if (!transaction.begun().ok()) return transaction.begun();
  Statement insert(db_,
                   "INSERT OR REPLACE INTO count (walker, scene, state, region, code, count)"
                   " VALUES (?, ?, ?, ?, ?, ?)");
  for (const CountRow& row : counts) {
    insert.Reset();
    insert.Bind(row.walker).Bind(row.scene).Bind(row.state).Bind(row.region);
    if (Status status = insert.Bind(row.code).Bind(row.count).Run(); !status.ok()) return status;
  }
  return transaction.Commit();
}

Result<std::vector<CellRow>> RunDb::Cells() const {
  if (schema_ < 3) return std::vector<CellRow>();
  return ReadAll<CellRow>(Statement(
      db_, fmt::format("SELECT {} FROM cell ORDER BY position", fmt::join(kCellColumns, ", "))));
}

Result<std::vector<CellThreadRow>> RunDb::CellThreads() const {
  if (schema_ < 3) return std::vector<CellThreadRow>();
  return ReadAll<CellThreadRow>(Statement(db_, AllOf(kThreadColumns, "cell_thread")));
}

Result<std::vector<StackRow>> RunDb::Stacks(std::optional<int64_t> cell) const {
  if (schema_ < 3) return std::vector<StackRow>();
  Statement rows(db_, cell ? "SELECT cell, frames, count FROM stack WHERE cell = ? ORDER BY rowid"
                           : AllOf(kStackColumns, "stack"));
  if (cell) rows.Bind(*cell);
  auto stacks = ReadAll<StackRow>(std::move(rows));
  if (!stacks.ok() || schema_ >= 6) return stacks;
  for (StackRow& row : stacks.value()) row.frames = FromCollapsed(row.frames);
  return stacks;
}

Result<std::vector<StackTotals>> RunDb::CountStacks() const {
  if (schema_ < 3) return std::vector<StackTotals>();
  return ReadAll<StackTotals>(
      Statement(db_, "SELECT cell, COUNT(*), SUM(count) FROM stack GROUP BY cell ORDER BY cell"));
}

Result<std::vector<AgreementRow>> RunDb::Agreement() const {
  if (schema_ < 4) return std::vector<AgreementRow>();
  // Samples alone were compared before schema 5.
  const char* columns =
      schema_ < 5 ? "cell, walker, other, 'genuine', region, kind, samples" : kAgreementColumns;
  return ReadAll<AgreementRow>(Statement(db_, AllOf(columns, "agreement")));
}

Result<std::vector<EvidenceRow>> RunDb::Evidence() const {
  if (schema_ < 5) return std::vector<EvidenceRow>();
  return ReadAll<EvidenceRow>(Statement(db_, AllOf(kEvidenceColumns, "evidence")));
}

Result<std::vector<StepRegionRow>> RunDb::StepRegions() const {
  if (schema_ < 3) return std::vector<StepRegionRow>();
  return ReadAll<StepRegionRow>(Statement(db_, AllOf(kRegionColumns, "step_region")));
}

Result<std::vector<StepRangeRow>> RunDb::StepRanges() const {
  if (schema_ < 3) return std::vector<StepRangeRow>();
  return ReadAll<StepRangeRow>(Statement(db_, AllOf(kRangeColumns, "step_range")));
}

Result<std::vector<std::pair<int64_t, int64_t>>> RunDb::BucketCells() const {
  if (schema_ < 3) return std::vector<std::pair<int64_t, int64_t>>();
  return ReadAll<std::pair<int64_t, int64_t>>(Statement(
      db_, "SELECT DISTINCT bucket, cell FROM finding WHERE cell IS NOT NULL ORDER BY 1, 2"));
}

}  // namespace walkhammer
