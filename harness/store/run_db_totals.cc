// SPDX-License-Identifier: Apache-2.0
// The part of RunDb that knows how far a run came and how it ended.
#include <fmt/format.h>

#include <algorithm>

#include "harness/store/run_db.h"

namespace walkhammer {
namespace {

// Whether a run that ended regularly says nothing about its walker.
bool ProvesNothing(const std::vector<CellRow>& cells, const RunTotals& totals) {
  if (cells.empty()) return totals.pristine_true == 0 || totals.successful == 0;
  return std::any_of(cells.begin(), cells.end(), IsVacuous) ||
         std::none_of(cells.begin(), cells.end(),
                      [](const CellRow& cell) { return cell.delivery.walks > 0; });
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
  Statement update(db_,
                   "UPDATE run SET time_ms = ?, walks = ?, successful = ?, pristine_walks = ?,"
                   " pristine_true = ?, contained_crashes = ?, request_hash = ?,"
                   " children_started = ?, children_retired = ?, children_died = ?,"
                   " blocks = ?");
  update.Bind(totals.time_ms).Bind(totals.walks).Bind(totals.successful);
  update.Bind(totals.pristine_walks).Bind(totals.pristine_true).Bind(totals.contained_crashes);
  update.Bind(fmt::format("{:016x}", totals.request_hash));
  update.Bind(int64_t{totals.children_started}).Bind(int64_t{totals.children_retired});
  update.Bind(int64_t{totals.children_died}).Bind(totals.blocks);
  if (Status status = update.Run(); !status.ok()) return status;
  if (totals.settle) {
    const SettleTotals& settle = *totals.settle;
    Statement insert(db_, "INSERT OR REPLACE INTO settle VALUES (1, ?, ?, ?, ?)");
    insert.Bind(settle.most_ms).Bind(settle.took_ms);
    insert.Bind(settle.unconfirmed).Bind(settle.unminimized);
    if (Status status = insert.Run(); !status.ok()) return status;
  }
  if (!totals.churn) return Ok();
  const ChurnTotals& churn = *totals.churn;
  Statement insert(db_, "INSERT OR REPLACE INTO churn VALUES (1, ?, ?, ?)");
  return insert.Bind(churn.collections).Bind(churn.rounds).Bind(churn.unloaded).Run();
}

Status RunDb::SaveProgress(const RunTotals& totals) {
  Transaction transaction(db_);
  if (!transaction.begun().ok()) return transaction.begun();
  if (Status status = UpdateTotals(totals); !status.ok()) return status;
  Statement insert(db_,
                   "INSERT OR REPLACE INTO progress"
                   " VALUES (?, ?, (SELECT COUNT(*) FROM bucket), ?)");
  insert.Bind(totals.time_ms).Bind(totals.walks).Bind(totals.blocks);
  if (Status status = insert.Run(); !status.ok()) return status;
  return transaction.Commit();
}

Result<RunStatus> RunDb::Finish(RunStatus status, const RunTotals& totals,
                                std::string_view reason) {
  const Result<std::vector<CellRow>> cells = Cells();
  if (!cells.ok()) return cells.failure();
  if (status == RunStatus::kCleanEnd && ProvesNothing(cells.value(), totals))
    status = RunStatus::kVacuous;
  RETURN_IF_ERROR(SaveProgress(totals));
  Statement update(db_, "UPDATE run SET status = ?, reason = ?");
  RETURN_IF_ERROR(update.Bind(RunStatusWord(status)).Bind(reason).Run());
  // Without -wal and -shm files a run can be read where nothing can be written. A reader may
  // prevent this, which harms nothing.
  sqlite3_busy_timeout(db_.handle(), 0);
  (void)db_.Exec("PRAGMA journal_mode = DELETE");
  return status;
}

}  // namespace walkhammer
