// SPDX-License-Identifier: Apache-2.0
// The part of RunDb for coverage (which of the walker's blocks were entered, and when) and for
// minimised inputs.
#include <fmt/format.h>

#include <algorithm>

#include "harness/store/run_tables.h"

namespace walkhammer {
namespace {

template <typename Row>
std::vector<Placed<Row>> InPlaces(const std::vector<Row>& rows) {
  std::vector<Placed<Row>> placed;
  placed.reserve(rows.size());
  for (const Row& row : rows) placed.push_back({static_cast<int64_t>(placed.size()), row});
  return placed;
}

template <typename Row>
Result<std::vector<Row>> InOrder(const Database& db, const char* table, const char* order) {
  return ReadAll<Row>(
      Statement(db, fmt::format("SELECT {} FROM {} ORDER BY {}", NamesOf<Row>(), table, order)));
}

// True if the blocks of each function and the function of each block exist, for readers index by
// these, and if functions share no blocks as to their number, for readers look at all of each.
bool IsWhole(const CoverageRows& code) {
  uint64_t blocks = 0;
  for (const CoverageFunctionRow& function : code.functions) {
    if (function.first_block > code.blocks.size() ||
        function.blocks > code.blocks.size() - function.first_block)
      return false;
    blocks += function.blocks;
  }
  if (blocks > code.blocks.size()) return false;
  return std::all_of(code.blocks.begin(), code.blocks.end(), [&](const CoverageBlockRow& block) {
    return block.function < code.functions.size();
  });
}

}  // namespace

Status RunDb::SetCoverage(const CoverageRows& code) {
  if (!IsWhole(code)) return ToolFailed(dir_ + ": the block map does not fit together");
  Transaction transaction(db_);
  if (!transaction.begun().ok()) return transaction.begun();
  RETURN_IF_ERROR(db_.Exec(
      "DELETE FROM coverage_block; DELETE FROM coverage_function; DELETE FROM coverage_left_out"));
  RETURN_IF_ERROR(
      InsertAll(Statement(db_, InsertInto<Placed<CoverageFunctionRow>>("coverage_function")),
                InPlaces(code.functions)));
  std::vector<Placed<CoverageBlockRow>> blocks = InPlaces(code.blocks);
  for (auto& block : blocks) block.row.first_ms.reset();
  RETURN_IF_ERROR(
      InsertAll(Statement(db_, InsertInto<Placed<CoverageBlockRow>>("coverage_block")), blocks));
  RETURN_IF_ERROR(
      InsertAll(Statement(db_, InsertInto<LeftOutRow>("coverage_left_out")), code.left_out));
  Statement update(db_, "UPDATE run SET " + AssignmentsOf<CoverageSource>());
  BindRow(update, CoverageSource{code.file, code.build_id, ""});
  RETURN_IF_ERROR(update.Run());
  RETURN_IF_ERROR(transaction.Commit());
  saved_.assign(code.blocks.size(), 0);
  why_no_coverage_.reset();
  return Ok();
}

Status RunDb::SetNoCoverage(std::string_view reason) {
  if (why_no_coverage_ == reason) return Ok();  // callers say it once a second
  Statement update(db_, "UPDATE run SET coverage_reason = ?");
  Status status = update.Bind(reason).Run();
  if (status.ok()) why_no_coverage_ = reason;
  return status;
}

Status RunDb::SaveBlocks(std::span<const uint8_t> hit, uint64_t time_ms) {
  const size_t count = std::min(hit.size(), saved_.size());
  std::vector<size_t> fresh;
  for (size_t i = 0; i < count; i++)
    if (hit[i] != 0 && saved_[i] == 0) fresh.push_back(i);
  if (fresh.empty()) return Ok();
  Transaction transaction(db_);
  if (!transaction.begun().ok()) return transaction.begun();
  Statement update(db_, "UPDATE coverage_block SET first_ms = ? WHERE position = ?");
  for (const size_t i : fresh) {
    update.Reset();
    update.Bind(time_ms).Bind(static_cast<int64_t>(i));
    if (Status status = update.Run(); !status.ok()) return status;
  }
  if (why_no_coverage_)
    if (Status status = db_.Exec("UPDATE run SET coverage_reason = ''"); !status.ok())
      return status;
  if (Status status = transaction.Commit(); !status.ok()) return status;
  for (const size_t i : fresh) saved_[i] = 1;
  why_no_coverage_.reset();
  return Ok();
}

Status RunDb::SetMinimized(int64_t bucket, int edits, int confirmed, int tries) {
  Statement update(db_,
                   "UPDATE bucket SET minimized_edits = ?, minimized_confirmed = ?,"
                   " minimized_tries = ? WHERE id = ?");
  return UpdateBucket(update.Bind(edits).Bind(confirmed).Bind(tries).Bind(bucket), bucket);
}

Result<CoverageRows> RunDb::Coverage() const {
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
  ASSIGN_OR_RETURN(code.functions,
                   InOrder<CoverageFunctionRow>(db_, "coverage_function", "position"));
  ASSIGN_OR_RETURN(code.blocks, InOrder<CoverageBlockRow>(db_, "coverage_block", "position"));
  ASSIGN_OR_RETURN(code.left_out, InOrder<LeftOutRow>(db_, "coverage_left_out", "rowid"));
  if (!IsWhole(code)) return BadInput(dir_ + ": is no intact run database: its blocks do not fit");
  if (code.blocks.empty()) return CoverageRows{"", "", "none was recorded", {}, {}, {}};
  return code;
}

}  // namespace walkhammer
