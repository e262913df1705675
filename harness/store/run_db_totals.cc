// SPDX-License-Identifier: Apache-2.0
// The part of RunDb for the totals, the progress and the end of a run.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/store/run_tables.h"

namespace walkhammer {
namespace {

// True if a run with a clean end proves nothing about its walker.
bool ProvesNothing(const std::vector<CellRow>& cells, const RunTotals& totals) {
  if (cells.empty()) return totals.pristine_true == 0 || totals.successful == 0;
  return std::any_of(cells.begin(), cells.end(), IsVacuous) ||
         std::none_of(cells.begin(), cells.end(), [](const CellRow& cell) {
           return cell.delivery.walks > 0 || cell.mode == kNoWalkMode;
         });
}

template <typename Row>
Status SaveOnly(const Database& db, const char* table, const Row& row) {
  return InsertAll(Statement(db, InsertInto<Only<Row>>(table, "OR REPLACE")),
                   std::array{Only<Row>{1, row}});
}

}  // namespace

const char* RunStatusWord(RunStatus status) {
  switch (status) {
    case RunStatus::kRunning:
      return "running";
    case RunStatus::kCleanEnd:
      return "clean-end";
    case RunStatus::kInterrupted:
      return "interrupted";
    case RunStatus::kFailed:
      return "failed";
    case RunStatus::kVacuous:
      return "vacuous";
  }
  return "failed";
}

RunTotals TotalsOf(const SharedState& shared) {
  RunTotals totals;
  totals.walks = shared.walks.load();
  totals.successful = shared.successful.load();
  totals.pristine_walks = shared.pristine_walks.load();
  totals.pristine_true = shared.pristine_true.load();
  totals.contained_crashes = shared.contained_crashes.load();
  totals.request_hash = shared.request_hash.load();
  if (shared.job.churn != 0)
    totals.churn = {shared.churn.collections.load(), shared.churn.java.rounds.load(),
                    shared.churn.java.unloaded.load()};
  const uint32_t blocks = std::min(shared.covered.blocks.load(), Covered::kMaxBlocks);
  for (uint32_t i = 0; i < blocks; i++) totals.blocks += shared.covered.hit[i] != 0;
  return totals;
}

Status RunDb::UpdateTotals(const RunTotals& totals) {
  Statement update(db_, "UPDATE run SET " + AssignmentsOf<RunTotals>());
  BindRow(update, totals);
  RETURN_IF_ERROR(update.Run());
  if (totals.settle) RETURN_IF_ERROR(SaveOnly(db_, "settle", *totals.settle));
  if (totals.churn) RETURN_IF_ERROR(SaveOnly(db_, "churn", *totals.churn));
  return Ok();
}

Status RunDb::SaveProgress(const RunTotals& totals) {
  Transaction transaction(db_);
  if (!transaction.begun().ok()) return transaction.begun();
  RETURN_IF_ERROR(UpdateTotals(totals));
  ProgressRow point{totals.time_ms, totals.walks, 0, totals.blocks};
  Statement buckets(db_, "SELECT COUNT(*) FROM bucket");
  RETURN_IF_ERROR(
      ForEach(buckets, [&](Statement& row) { point.buckets = static_cast<uint64_t>(row.Int()); }));
  RETURN_IF_ERROR(InsertAll(Statement(db_, InsertInto<ProgressRow>("progress", "OR REPLACE")),
                            std::array{point}));
  return transaction.Commit();
}

Result<RunStatus> RunDb::Finish(RunStatus status, const RunTotals& totals,
                                std::string_view reason) {
  ASSIGN_OR_RETURN(const auto cells, Cells());
  if (status == RunStatus::kCleanEnd && ProvesNothing(cells, totals)) status = RunStatus::kVacuous;
  RETURN_IF_ERROR(SaveProgress(totals));
  Statement update(db_, "UPDATE run SET " + AssignmentsOf<RunEnd>());
  BindRow(update, RunEnd{status, std::string(reason)});
  RETURN_IF_ERROR(update.Run());
  // Without -wal and -shm files, a run can be read in a read-only folder. A reader may prevent the
  // switch, which does no harm.
  sqlite3_busy_timeout(db_.handle(), 0);
  (void)db_.Exec("PRAGMA journal_mode = DELETE");
  return status;
}

}  // namespace walkhammer
