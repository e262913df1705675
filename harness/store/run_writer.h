// SPDX-License-Identifier: Apache-2.0
// RunWriter: writes the results of one campaign as one SQLite file (run.db) in one folder. Schema
// and units: docs/reference/run-folder.md. Every write reports its failure, and is committed when
// the call returns. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_STORE_RUN_WRITER_H_
#define WALKHAMMER_HARNESS_STORE_RUN_WRITER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/store/locked_folder.h"
#include "harness/store/periods.h"
#include "harness/store/run_rows.h"
#include "harness/store/sqlite.h"
#include "harness/store/stack_tree.h"
#include "harness/store/stress_rows.h"

namespace walkhammer {

class RunWriter {
 public:
  // Makes the folder and locks it until the object dies: see LockedFolder::Make.
  static Result<RunWriter> Create(const std::string& dir, const RunIdentity& identity);

  const std::string& dir() const { return folder_->dir(); }
  Database& db() { return db_; }  // for the store's own use

  struct Added {
    int64_t bucket;
    bool is_new;         // the first finding of its bucket
    bool is_best;        // the most real, then shortest request of its bucket so far
    std::string folder;  // the bucket's, relative to dir()
  };
  // Adds the finding to the bucket with its signature key. Makes the bucket if there is none.
  Result<Added> AddFinding(const FindingRecord& finding);
  Status SetConfirmed(int64_t bucket, int confirmed, int tries);
  // Sets how often the bucket was seen: a child counts more findings than it hands over.
  Status SetSeen(int64_t bucket, uint64_t times);
  // Records the smallest input of the bucket: it has `edits` edits, and `confirmed` of `tries`
  // replays of that input showed the finding.
  Status SetMinimized(int64_t bucket, int edits, int confirmed, int tries);
  Status SetVm(std::string_view vm_version, std::string_view vm_gc);
  Status SaveScenes(const std::vector<SceneRow>& scenes);
  // Saves the code for which coverage is measured, without `first_ms` and `reason`. Call once,
  // before SaveBlocks.
  Status SetCoverage(const CoverageRows& code);
  // Saves why there is no coverage. A later SaveBlocks with a new block removes the reason.
  Status SetNoCoverage(std::string_view reason);
  // hit[i] != 0: block i was entered by `time_ms`. Writes only the blocks that are new, if any.
  // Ignores entries beyond the blocks of SetCoverage: a dying child may have written anything.
  Status SaveBlocks(std::span<const uint8_t> hit, uint64_t time_ms);
  // Saves one point of the curve, and `totals` as those of the run so far.
  Status SaveProgress(const RunTotals& totals);
  // Saves totals so far, not increments. In a run with cells, `scene` is the CellLabel of a cell.
  Status SaveCounts(const std::vector<CountRow>& counts);
  // For stress and step runs. Save every cell of the matrix before the first cell starts, and
  // before its rows: the verdict on the run knows only saved cells.
  Status SaveCell(const CellRow& cell);
  // Replaces the cell's rows of one type: CellThreadRow, AgreementRow, EvidenceRow, WalkEndRow,
  // StepRegionRow, StepRangeRow, FramePlaceRow, FrameWalkerRow, FrameDifferenceRow,
  // FramePredictionRow, FrameRefutedRow or NoteRow. kNoCell: agreement or notes of the run as a
  // whole.
  template <typename Row>
  Status Replace(int64_t cell, const std::vector<Row>& rows);
  // Saves what is not saved yet of the cell's stacks, at most `most_rows` nodes of it. True: that
  // was the last; the next call begins a new round.
  Result<bool> SaveStacks(int64_t cell, StackTree& stacks, size_t most_rows = SIZE_MAX);
  // Replaces the periods of the cell and their counts; kNoCell: those of the run as a whole.
  Status SavePeriods(int64_t cell, const Periods& periods);
  // Stores the end of the run and returns the status stored: kVacuous for a clean end without a
  // true undisturbed walk or without a successful walk; in a run with cells, for a clean end where
  // a cell IsVacuous or no cell has a walk. Afterwards run.db is a single file, readable on
  // read-only media, unless a reader has the run open. On a disk that has run full, the end is
  // written where LockedFolder kept room.
  Result<RunStatus> Finish(RunStatus status, const RunTotals& totals, std::string_view reason = {});

 private:
  RunWriter() = default;
  Status Initialize(const RunIdentity& identity);
  Status UpdateTotals(const RunTotals& totals);
  // Runs `update`, an UPDATE of the row of `bucket` with bound parameters. Fails without such a
  // row.
  Status UpdateBucket(Statement& update, int64_t bucket);

  std::unique_ptr<LockedFolder> folder_;
  Database db_;
  std::vector<uint8_t> saved_;                  // by block: 1 if saved as entered
  std::optional<std::string> why_no_coverage_;  // as stored by this object
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_STORE_RUN_WRITER_H_
