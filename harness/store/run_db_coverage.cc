// SPDX-License-Identifier: Apache-2.0
// The part of RunDb that knows which of the walker's blocks were entered, and when.
#include <fmt/format.h>

#include <algorithm>

#include "harness/store/run_db.h"

namespace walkhammer {
namespace {

Status InsertFunctions(const Database& db, const std::vector<CoverageFunctionRow>& functions) {
  Statement insert(db, "INSERT INTO coverage_function VALUES (?, ?, ?, ?, ?, ?, ?)");
  for (size_t i = 0; i < functions.size(); i++) {
    const CoverageFunctionRow& function = functions[i];
    insert.Reset();
    insert.Bind(static_cast<int64_t>(i)).Bind(function.name).Bind(function.address);
    insert.Bind(function.size).Bind(function.reach).Bind(int64_t{function.first_block});
    if (Status status = insert.Bind(int64_t{function.blocks}).Run(); !status.ok()) return status;
  }
  return Ok();
}

Status InsertBlocks(const Database& db, const std::vector<CoverageBlockRow>& blocks) {
  Statement insert(db, "INSERT INTO coverage_block VALUES (?, ?, ?, ?, NULL)");
  for (size_t i = 0; i < blocks.size(); i++) {
    insert.Reset();
    insert.Bind(static_cast<int64_t>(i)).Bind(blocks[i].address).Bind(int64_t{blocks[i].size});
    if (Status status = insert.Bind(int64_t{blocks[i].function}).Run(); !status.ok()) return status;
  }
  return Ok();
}

Status InsertLeftOut(const Database& db, const std::vector<LeftOutRow>& left_out) {
  Statement insert(db, "INSERT INTO coverage_left_out VALUES (?, ?)");
  for (const LeftOutRow& row : left_out) {
    insert.Reset();
    if (Status status = insert.Bind(row.name).Bind(row.reason).Run(); !status.ok()) return status;
  }
  return Ok();
}

// Calls `take` for each row.
template <typename Take>
Status ForEach(Statement& rows, const Take& take) {
  for (;;) {
    const Result<bool> more = rows.Step();
    if (!more.ok()) return more.failure();
    if (!more.value()) return Ok();
    take(rows);
  }
}

Status ReadFunctions(const Database& db, std::vector<CoverageFunctionRow>& functions) {
  Statement rows(db,
                 "SELECT name, address, size, reach, first_block, blocks FROM coverage_function"
                 " ORDER BY position");
  return ForEach(rows, [&](Statement& row) {
    CoverageFunctionRow function;
    function.name = row.Text();
    function.address = static_cast<uint64_t>(row.Int());
    function.size = static_cast<uint64_t>(row.Int());
    function.reach = row.Text();
    function.first_block = static_cast<uint32_t>(row.Int());
    function.blocks = static_cast<uint32_t>(row.Int());
    functions.push_back(std::move(function));
  });
}

Status ReadBlocks(const Database& db, std::vector<CoverageBlockRow>& blocks) {
  Statement rows(db,
                 "SELECT address, size, function, first_ms FROM coverage_block ORDER BY position");
  return ForEach(rows, [&](Statement& row) {
    CoverageBlockRow block;
    block.address = static_cast<uint64_t>(row.Int());
    block.size = static_cast<uint32_t>(row.Int());
    block.function = static_cast<uint32_t>(row.Int());
    block.first_ms = row.OptionalInt();
    blocks.push_back(block);
  });
}

// Whether each function's blocks are where it says: the readers index by it.
bool IsWhole(const CoverageRows& code) {
  for (const CoverageFunctionRow& function : code.functions)
    if (function.first_block > code.blocks.size() ||
        function.blocks > code.blocks.size() - function.first_block)
      return false;
  return std::all_of(code.blocks.begin(), code.blocks.end(), [&](const CoverageBlockRow& block) {
    return block.function < code.functions.size();
  });
}

}  // namespace

Status RunDb::SetCoverage(const CoverageRows& code) {
  if (!IsWhole(code)) return ToolFailed(dir_ + ": the block map does not fit together");
  Transaction transaction(db_);
  if (!transaction.begun().ok()) return transaction.begun();
  Status status = db_.Exec(
      "DELETE FROM coverage_block; DELETE FROM coverage_function; DELETE FROM coverage_left_out");
  if (status.ok()) status = InsertFunctions(db_, code.functions);
  if (status.ok()) status = InsertBlocks(db_, code.blocks);
  if (status.ok()) status = InsertLeftOut(db_, code.left_out);
  Statement update(db_,
                   "UPDATE run SET coverage_file = ?, coverage_build_id = ?, coverage_reason = ''");
  if (status.ok()) status = update.Bind(code.file).Bind(code.build_id).Run();
  if (status.ok()) status = transaction.Commit();
  if (!status.ok()) return status;
  saved_.assign(code.blocks.size(), 0);
  why_no_coverage_.reset();
  return Ok();
}

Status RunDb::SetNoCoverage(std::string_view reason) {
  if (why_no_coverage_ == reason) return Ok();  // said once a second
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
  Status status = update.Bind(edits).Bind(confirmed).Bind(tries).Bind(bucket).Run();
  if (status.ok() && sqlite3_changes(db_.handle()) != 1)
    return ToolFailed(fmt::format("{}: there is no bucket {}", dir_, bucket));
  return status;
}

Result<CoverageRows> RunDb::Coverage() const {
  CoverageRows code;
  if (schema_ < 2) {
    code.reason = "it was recorded by a walkhammer that knew no coverage";
    return code;
  }
  // `row` stays open to the end: all is read from one snapshot.
  Statement row(db_, "SELECT coverage_file, coverage_build_id, coverage_reason FROM run");
  const Result<bool> found = row.Step();
  if (!found.ok()) return found.failure();
  if (!found.value()) return BadInput(dir_ + ": the run has no identity");
  const std::string file = row.Text(), build_id = row.Text();
  code.reason = row.Text();
  if (!code.reason.empty()) return code;
  code.file = file;
  code.build_id = build_id;
  Status status = ReadFunctions(db_, code.functions);
  if (status.ok()) status = ReadBlocks(db_, code.blocks);
  Statement left_out(db_, "SELECT name, reason FROM coverage_left_out ORDER BY rowid");
  if (status.ok())
    status = ForEach(left_out, [&](Statement& each) {
      std::string name = each.Text();
      code.left_out.push_back({std::move(name), each.Text()});
    });
  if (!status.ok()) return status.failure();
  if (!IsWhole(code)) return BadInput(dir_ + ": is no intact run database: its blocks do not fit");
  if (code.blocks.empty()) return CoverageRows{"", "", "none was recorded", {}, {}, {}};
  return code;
}

}  // namespace walkhammer
