// SPDX-License-Identifier: Apache-2.0
// The part of RunDb for the cells of stress and step runs, and for counts and agreement of all
// runs.
#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <unordered_map>

#include "harness/store/run_tables.h"

namespace walkhammer {
namespace {

// Replaces the rows of `cell` in `table` by `rows`.
template <typename Row>
Status Replace(Database& db, const char* table, int64_t cell, std::span<const Row> rows) {
  Transaction transaction(db);
  if (!transaction.begun().ok()) return transaction.begun();
  Statement drop(db, fmt::format("DELETE FROM {} WHERE cell IS ?", table));
  const std::optional<int64_t> place = cell == kNoCell ? std::nullopt : std::optional(cell);
  RETURN_IF_ERROR(drop.Bind(place).Run());
  Statement insert(db, InsertInto<Row>(table));
  for (const Row& row : rows) {
    insert.Reset();
    Columns(row, [&](const char* name, const auto& field, const ColumnInfo& = {}) {
      if (name == kCellColumn)
        insert.Bind(place);
      else
        BindField(insert, field);
    });
    RETURN_IF_ERROR(insert.Run());
  }
  return transaction.Commit();
}

template <typename Row>
Result<std::vector<Row>> AllOf(const Database& db, const char* table,
                               const char* order = "cell, rowid") {
  return ReadAll<Row>(
      Statement(db, fmt::format("SELECT {} FROM {} ORDER BY {}", NamesOf<Row>(), table, order)));
}

}  // namespace

Status RunDb::SaveCell(const CellRow& cell) {
  // No REPLACE: that would delete a row to which rows of other tables refer. An update of
  // `position`, even to the same value, would make SQLite look for those rows, which may be
  // millions.
  std::string updates;
  EachColumn<CellRow>([&](const char* name, const char*, const ColumnInfo&) {
    if (std::string_view(name) == "position") return;
    updates += fmt::format("{}{} = excluded.{}", updates.empty() ? "" : ", ", name, name);
  });
  Statement insert(db_, fmt::format("{} ON CONFLICT (position) DO UPDATE SET {}",
                                    InsertInto<CellRow>("cell"), updates));
  CellRow row = cell;
  row.label = CellLabel(cell);
  BindRow(insert, row);
  return insert.Run();
}

Status RunDb::SaveCellThreads(int64_t cell, std::span<const CellThreadRow> threads) {
  return Replace(db_, "cell_thread", cell, threads);
}

Result<bool> RunDb::SaveStacks(int64_t cell, StackTree& stacks, size_t most_rows) {
  Transaction transaction(db_);
  if (!transaction.begun().ok()) return transaction.begun().failure();
  Statement name(db_, InsertInto<StackFrameRow>("stack_frame"));
  for (uint32_t i = stacks.saved_names(); i < stacks.names().size(); i++) {
    name.Reset();
    BindRow(name, StackFrameRow{cell, i, stacks.names()[i]});
    RETURN_IF_ERROR(name.Run());
  }
  Statement insert(db_, InsertInto<StackNodeRow>("stack"));
  Statement update(db_, "UPDATE stack SET count = ? WHERE cell = ? AND id = ?");
  uint32_t next = stacks.next_to_save();
  for (size_t rows = 0; next < stacks.nodes().size() && rows < most_rows; next++) {
    if (!stacks.IsChanged(next)) continue;
    const StackTree::Node& now = stacks.nodes()[next];
    Statement& save = stacks.IsSaved(next) ? update : insert;
    save.Reset();
    if (stacks.IsSaved(next))
      update.Bind(now.count).Bind(cell).Bind(static_cast<int64_t>(next));
    else
      BindRow(insert, StackNodeRow{cell, next, now.parent, now.name, now.count});
    RETURN_IF_ERROR(save.Run());
    rows++;
  }
  RETURN_IF_ERROR(transaction.Commit());
  stacks.MarkSaved(next);
  return next == stacks.nodes().size();
}

Status RunDb::SaveAgreement(int64_t cell, std::span<const AgreementRow> agreement) {
  return Replace(db_, "agreement", cell, agreement);
}

Status RunDb::SaveEvidence(int64_t cell, std::span<const EvidenceRow> evidence) {
  return Replace(db_, "evidence", cell, evidence);
}

Status RunDb::SaveWalkEnds(int64_t cell, std::span<const WalkEndRow> ends) {
  return Replace(db_, "walk_end", cell, ends);
}

Status RunDb::SaveStepRegions(int64_t cell, std::span<const StepRegionRow> regions) {
  return Replace(db_, "step_region", cell, regions);
}

Status RunDb::SaveStepRanges(int64_t cell, std::span<const StepRangeRow> ranges) {
  return Replace(db_, "step_range", cell, ranges);
}

Status RunDb::SaveNotes(int64_t cell, std::span<const NoteRow> notes) {
  return Replace(db_, "note", cell, notes);
}

Status RunDb::SaveCountRows(std::span<const CountRow> counts) {
  Transaction transaction(db_);
  if (!transaction.begun().ok()) return transaction.begun();
  RETURN_IF_ERROR(InsertAll(Statement(db_, InsertInto<CountRow>("count", "OR REPLACE")), counts));
  return transaction.Commit();
}

Result<std::vector<CellRow>> RunDb::Cells() const {
  return AllOf<CellRow>(db_, "cell", "position");
}

Result<std::vector<CellThreadRow>> RunDb::CellThreads() const {
  return AllOf<CellThreadRow>(db_, "cell_thread");
}

Result<StackTree> RunDb::Stacks(int64_t cell) const {
  StackTree tree;
  RETURN_IF_ERROR(AddStacks(cell, tree));
  return tree;
}

Status RunDb::AddStacks(int64_t cell, StackTree& tree) const {
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

Result<std::vector<StackTotals>> RunDb::CountStacks() const {
  return ReadAll<StackTotals>(
      Statement(db_,
                "SELECT cell, COUNT(*), SUM(count) FROM stack WHERE count > 0 GROUP BY cell "
                "ORDER BY cell"));
}

Result<std::vector<AgreementRow>> RunDb::Agreement() const {
  return AllOf<AgreementRow>(db_, "agreement");
}

Result<std::vector<EvidenceRow>> RunDb::Evidence() const {
  return AllOf<EvidenceRow>(db_, "evidence");
}

Result<std::vector<WalkEndRow>> RunDb::WalkEnds() const {
  return AllOf<WalkEndRow>(db_, "walk_end");
}

Result<std::vector<StepRegionRow>> RunDb::StepRegions() const {
  return AllOf<StepRegionRow>(db_, "step_region");
}

Result<std::vector<StepRangeRow>> RunDb::StepRanges() const {
  return AllOf<StepRangeRow>(db_, "step_range");
}

Result<std::vector<NoteRow>> RunDb::Notes() const { return AllOf<NoteRow>(db_, "note"); }

Result<std::vector<std::pair<int64_t, int64_t>>> RunDb::BucketCells() const {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  Statement rows(db_,
                 "SELECT DISTINCT bucket, cell FROM finding WHERE cell IS NOT NULL ORDER BY 1, 2");
  RETURN_IF_ERROR(ForEach(rows, [&](Statement& row) {
    const int64_t bucket = row.Int();
    pairs.emplace_back(bucket, row.Int());
  }));
  return pairs;
}

}  // namespace walkhammer
