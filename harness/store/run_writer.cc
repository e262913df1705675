// SPDX-License-Identifier: Apache-2.0
#include "harness/store/run_writer.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "harness/store/run_tables.h"

namespace walkhammer {
namespace {

// A night must not end because somebody looks at it: without WAL, a reader locks the writer out.
constexpr int kWriterWaitsMs = 300'000;

// 32 random hex digits; empty if the kernel gives none.
std::string NewRunId() {
  std::array<uint64_t, 2> random{};
  // At least 256 bytes always come in one piece: getrandom(2).
  if (getrandom(random.data(), sizeof random, 0) != sizeof random) return "";
  return fmt::format("{:016x}{:016x}", random[0], random[1]);
}

// True if `finding` would be the best of `bucket`: see RunWriter::Added.
Result<bool> IsBest(const Database& db, int64_t bucket, const FindingRecord& finding) {
  Statement others(db,
                   "SELECT realism, LENGTH(CAST(request AS BLOB)) FROM finding"
                   " WHERE bucket = ?");
  others.Bind(bucket);
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, others.Step());
    if (!more) return true;
    const Realism realism = RealismFromWord(others.Text());
    const auto size = static_cast<size_t>(others.Int());
    if (std::tie(realism, size) <= std::make_tuple(finding.realism, finding.request.size()))
      return false;
  }
}

template <typename Row>
std::vector<Placed<Row>> InPlaces(const std::vector<Row>& rows) {
  std::vector<Placed<Row>> placed;
  placed.reserve(rows.size());
  for (const Row& row : rows) placed.push_back({static_cast<int64_t>(placed.size()), row});
  return placed;
}

// True if a run with a clean end proves nothing about its walker.
bool ProvesNothing(const std::vector<CellRow>& cells, const RunTotals& totals) {
  if (cells.empty()) return totals.pristine_walks == 0;
  return std::any_of(cells.begin(), cells.end(), IsVacuous) ||
         std::none_of(cells.begin(), cells.end(), [](const CellRow& cell) {
           return cell.delivery.walks > 0 || cell.mode == kNoWalkMode;
         });
}

// NULL for kNoCell.
std::optional<int64_t> PlaceOf(int64_t cell) {
  return cell == kNoCell ? std::nullopt : std::optional(cell);
}

}  // namespace

Result<RunWriter> RunWriter::Create(const std::string& dir, const RunIdentity& identity) {
  RunWriter run;
  ASSIGN_OR_RETURN(run.folder_, LockedFolder::Make(dir));
  const std::string file = (std::filesystem::path(run.dir()) / kDbName).string();
  Result<Database> db =
      Database::Open(file, file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW);
  if (!db.ok()) return BadInput("--out " + db.failure().message);
  run.db_ = std::move(db.value());
  sqlite3_busy_timeout(run.db_.handle(), kWriterWaitsMs);
  if (const Status status = run.Initialize(identity); !status.ok())
    return BadInput("--out " + status.failure().message);
  run.folder_->Keep();
  return run;
}

Status RunWriter::Initialize(const RunIdentity& identity) {
  // WAL: a network disk may refuse it, and the run is then slower but as safe. FULL: a finding that
  // was shown survives even a crash of the machine.
  for (const char* pragma :
       {"PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA foreign_keys = ON"})
    RETURN_IF_ERROR(db_.Exec(pragma));
  Transaction transaction(db_);
  RETURN_IF_ERROR(transaction.begun());
  const std::string versions = fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};",
                                           kApplicationId, kSchemaVersion);
  RETURN_IF_ERROR(db_.Exec(versions.c_str()));
  RETURN_IF_ERROR(db_.Exec(RunSchema().c_str()));
  Only<StoredRun> only;
  RunIdentity& stored = only.row.run.identity = identity;
  if (stored.run_id.empty()) stored.run_id = NewRunId();
  RETURN_IF_ERROR(Insert(db_, only));
  return transaction.Commit();
}

Result<RunWriter::Added> RunWriter::AddFinding(const FindingRecord& finding) {
  Transaction transaction(db_);
  RETURN_IF_ERROR(transaction.begun());
  const Signature& signature = finding.signature;
  Added added{0, true, true, "crashes/" + BucketName(signature)};
  Statement find(db_, "SELECT id, folder FROM bucket WHERE key = ?");
  find.Bind(signature.key);
  ASSIGN_OR_RETURN(const bool found, find.Step());
  if (found) {
    added.is_new = false;
    added.bucket = find.Int();
    added.folder = find.Text();
    ASSIGN_OR_RETURN(added.is_best, IsBest(db_, added.bucket, finding));
  } else {
    StoredBucket bucket;
    bucket.signature = signature;
    bucket.folder = added.folder;
    RETURN_IF_ERROR(Insert(db_, bucket));
    added.bucket = sqlite3_last_insert_rowid(db_.handle());
  }
  RETURN_IF_ERROR(Insert(db_, StoredFinding{std::nullopt, added.bucket, finding}));
  RETURN_IF_ERROR(transaction.Commit());
  return added;
}

Status RunWriter::SetConfirmed(int64_t bucket, int confirmed, int tries) {
  Statement update(db_, "UPDATE bucket SET confirmed = ?, tries = ? WHERE id = ?");
  return UpdateBucket(update.Bind(confirmed).Bind(tries).Bind(bucket), bucket);
}

Status RunWriter::SetSeen(int64_t bucket, uint64_t times) {
  Statement update(db_, "UPDATE bucket SET seen = ? WHERE id = ?");
  return UpdateBucket(update.Bind(times).Bind(bucket), bucket);
}

Status RunWriter::UpdateBucket(Statement& update, int64_t bucket) {
  RETURN_IF_ERROR(update.Run());
  if (sqlite3_changes(db_.handle()) != 1)
    return ToolFailed(fmt::format("{}: there is no bucket {}", dir(), bucket));
  return Ok();
}

Status RunWriter::SetVm(std::string_view vm_version, std::string_view vm_gc) {
  return Statement(db_, "UPDATE run SET vm_version = ?, vm_gc = ?")
      .Bind(vm_version)
      .Bind(vm_gc)
      .Run();
}

Status RunWriter::SetCoverage(const CoverageRows& code) {
  if (!IsWhole(code)) return ToolFailed(dir() + ": the block map does not fit together");
  Transaction transaction(db_);
  RETURN_IF_ERROR(transaction.begun());
  RETURN_IF_ERROR(db_.Exec(
      "DELETE FROM coverage_block; DELETE FROM coverage_function; DELETE FROM coverage_left_out"));
  RETURN_IF_ERROR(InsertAll(db_, InPlaces(code.functions)));
  std::vector<Placed<CoverageBlockRow>> blocks = InPlaces(code.blocks);
  for (auto& block : blocks) block.row.first_ms.reset();
  RETURN_IF_ERROR(InsertAll(db_, blocks));
  RETURN_IF_ERROR(InsertAll(db_, code.left_out));
  Statement update(db_, "UPDATE run SET " + AssignmentsOf<CoverageSource>());
  BindRow(update, CoverageSource{code.file, code.build_id, ""});
  RETURN_IF_ERROR(update.Run());
  RETURN_IF_ERROR(transaction.Commit());
  saved_.assign(code.blocks.size(), 0);
  why_no_coverage_.reset();
  return Ok();
}

Status RunWriter::SetNoCoverage(std::string_view reason) {
  if (why_no_coverage_ == reason) return Ok();  // callers say it once a second
  Statement update(db_, "UPDATE run SET coverage_reason = ?");
  Status status = update.Bind(reason).Run();
  if (status.ok()) why_no_coverage_ = reason;
  return status;
}

Status RunWriter::SaveBlocks(std::span<const uint8_t> hit, uint64_t time_ms) {
  const size_t count = std::min(hit.size(), saved_.size());
  std::vector<size_t> fresh;
  for (size_t i = 0; i < count; i++)
    if (hit[i] != 0 && saved_[i] == 0) fresh.push_back(i);
  if (fresh.empty()) return Ok();
  Transaction transaction(db_);
  RETURN_IF_ERROR(transaction.begun());
  Statement update(db_, "UPDATE coverage_block SET first_ms = ? WHERE position = ?");
  for (const size_t i : fresh) {
    update.Reset();
    update.Bind(time_ms).Bind(static_cast<int64_t>(i));
    RETURN_IF_ERROR(update.Run());
  }
  if (why_no_coverage_) RETURN_IF_ERROR(db_.Exec("UPDATE run SET coverage_reason = ''"));
  RETURN_IF_ERROR(transaction.Commit());
  for (const size_t i : fresh) saved_[i] = 1;
  why_no_coverage_.reset();
  return Ok();
}

Status RunWriter::SetMinimized(int64_t bucket, int edits, int confirmed, int tries) {
  Statement update(db_,
                   "UPDATE bucket SET minimized_edits = ?, minimized_confirmed = ?,"
                   " minimized_tries = ? WHERE id = ?");
  return UpdateBucket(update.Bind(edits).Bind(confirmed).Bind(tries).Bind(bucket), bucket);
}

Status RunWriter::SaveScenes(const std::vector<SceneRow>& scenes) {
  Transaction transaction(db_);
  RETURN_IF_ERROR(transaction.begun());
  RETURN_IF_ERROR(InsertAll(db_, InPlaces(scenes), "OR REPLACE"));
  return transaction.Commit();
}

Status RunWriter::SaveCounts(const std::vector<CountRow>& counts) {
  Transaction transaction(db_);
  RETURN_IF_ERROR(transaction.begun());
  RETURN_IF_ERROR(InsertAll(db_, counts, "OR REPLACE"));
  return transaction.Commit();
}

Status RunWriter::SaveCell(const CellRow& cell) {
  // No REPLACE: that would delete a row to which rows of other tables refer. An update of
  // `position`, even to the same value, would make SQLite look for those rows, which may be
  // millions.
  std::string updates;
  EachColumn<CellRow>([&](const char* name, const char*, const ColumnInfo&) {
    if (std::string_view(name) == "position") return;
    updates += fmt::format("{}{} = excluded.{}", updates.empty() ? "" : ", ", name, name);
  });
  Statement insert(db_, fmt::format("{} ON CONFLICT (position) DO UPDATE SET {}",
                                    InsertInto<CellRow>(), updates));
  CellRow row = cell;
  row.label = CellLabel(cell);
  BindRow(insert, row);
  return insert.Run();
}

Result<bool> RunWriter::SaveStacks(int64_t cell, StackTree& stacks, size_t most_rows) {
  Transaction transaction(db_);
  RETURN_IF_ERROR(transaction.begun());
  Statement name(db_, InsertInto<StackFrameRow>());
  for (uint32_t i = stacks.saved_names(); i < stacks.names().size(); i++) {
    RETURN_IF_ERROR(RunWith(name, StackFrameRow{cell, i, stacks.names()[i]}));
  }
  Statement insert(db_, InsertInto<StackNodeRow>());
  Statement update(db_, "UPDATE stack SET count = ? WHERE cell = ? AND id = ?");
  uint32_t next = stacks.next_to_save();
  for (size_t rows = 0; next < stacks.nodes().size() && rows < most_rows; next++) {
    if (!stacks.IsChanged(next)) continue;
    const StackTree::Node& now = stacks.nodes()[next];
    if (stacks.IsSaved(next)) {
      update.Reset();
      update.Bind(now.count).Bind(cell).Bind(static_cast<int64_t>(next));
      RETURN_IF_ERROR(update.Run());
    } else {
      RETURN_IF_ERROR(RunWith(insert, StackNodeRow{cell, next, now.parent, now.name, now.count}));
    }
    rows++;
  }
  RETURN_IF_ERROR(transaction.Commit());
  stacks.MarkSaved(next);
  return next == stacks.nodes().size();
}

template <typename Row>
Status RunWriter::Replace(int64_t cell, const std::vector<Row>& rows) {
  Transaction transaction(db_);
  RETURN_IF_ERROR(transaction.begun());
  Statement drop(db_, fmt::format("DELETE FROM {} WHERE cell IS ?", kTable<Row>.name));
  RETURN_IF_ERROR(drop.Bind(PlaceOf(cell)).Run());
  Statement insert(db_, InsertInto<Row>());
  for (Row row : rows) {
    row.cell = cell;
    RETURN_IF_ERROR(RunWith(insert, row));
  }
  return transaction.Commit();
}

Status RunWriter::SavePeriods(int64_t cell, const Periods& periods) {
  Transaction transaction(db_);
  RETURN_IF_ERROR(transaction.begun());
  Statement drop(db_, "DELETE FROM period WHERE cell IS ?");
  RETURN_IF_ERROR(drop.Bind(PlaceOf(cell)).Run());
  RETURN_IF_ERROR(InsertAll(db_, periods.Rows(cell)));
  RETURN_IF_ERROR(InsertAll(db_, periods.Counts(), "OR REPLACE"));
  RETURN_IF_ERROR(InsertAll(db_, periods.Times(), "OR REPLACE"));
  RETURN_IF_ERROR(InsertAll(db_, periods.Buckets(), "OR REPLACE"));
  return transaction.Commit();
}

Status RunWriter::UpdateTotals(const RunTotals& totals) {
  Statement update(db_, "UPDATE run SET " + AssignmentsOf<RunTotals>());
  BindRow(update, totals);
  RETURN_IF_ERROR(update.Run());
  if (totals.settle)
    RETURN_IF_ERROR(
        InsertAll(db_, std::vector{Only<SettleTotals>{1, *totals.settle}}, "OR REPLACE"));
  if (totals.churn)
    RETURN_IF_ERROR(InsertAll(db_, std::vector{Only<ChurnTotals>{1, *totals.churn}}, "OR REPLACE"));
  if (totals.failed_loads)
    RETURN_IF_ERROR(
        InsertAll(db_, std::vector{Only<FailedLoadTotals>{1, *totals.failed_loads}}, "OR REPLACE"));
  return Ok();
}

Status RunWriter::SaveProgress(const RunTotals& totals) {
  Transaction transaction(db_);
  RETURN_IF_ERROR(transaction.begun());
  RETURN_IF_ERROR(UpdateTotals(totals));
  ProgressRow point{totals.time_ms, totals.walks, 0, totals.blocks};
  Statement buckets(db_, "SELECT COUNT(*) FROM bucket");
  RETURN_IF_ERROR(
      ForEach(buckets, [&](Statement& row) { point.buckets = static_cast<uint64_t>(row.Int()); }));
  RETURN_IF_ERROR(InsertAll(db_, std::vector{point}, "OR REPLACE"));
  return transaction.Commit();
}

Result<RunStatus> RunWriter::Finish(RunStatus status, const RunTotals& totals,
                                    std::string_view reason) {
  folder_->FreeReserve();
  ASSIGN_OR_RETURN(const auto cells, ReadAll<CellRow>(SelectAll<CellRow>(db_)));
  if (status == RunStatus::kCleanEnd && ProvesNothing(cells, totals)) status = RunStatus::kVacuous;
  RETURN_IF_ERROR(SaveProgress(totals));
  Statement update(db_, "UPDATE run SET status = ?, reason = ?");
  RETURN_IF_ERROR(update.Bind(RunStatusWord(status)).Bind(reason).Run());
  // Without -wal and -shm files, a run can be read in a read-only folder. A reader may prevent the
  // switch, which does no harm.
  sqlite3_busy_timeout(db_.handle(), 0);
  (void)db_.Exec("PRAGMA journal_mode = DELETE");
  return status;
}

template Status RunWriter::Replace(int64_t, const std::vector<CellThreadRow>&);
template Status RunWriter::Replace(int64_t, const std::vector<AgreementRow>&);
template Status RunWriter::Replace(int64_t, const std::vector<EvidenceRow>&);
template Status RunWriter::Replace(int64_t, const std::vector<WalkEndRow>&);
template Status RunWriter::Replace(int64_t, const std::vector<StepRegionRow>&);
template Status RunWriter::Replace(int64_t, const std::vector<StepRangeRow>&);
template Status RunWriter::Replace(int64_t, const std::vector<FramePlaceRow>&);
template Status RunWriter::Replace(int64_t, const std::vector<FrameWalkerRow>&);
template Status RunWriter::Replace(int64_t, const std::vector<FrameDifferenceRow>&);
template Status RunWriter::Replace(int64_t, const std::vector<FramePredictionRow>&);
template Status RunWriter::Replace(int64_t, const std::vector<FrameRefutedRow>&);
template Status RunWriter::Replace(int64_t, const std::vector<NoteRow>&);

}  // namespace walkhammer
