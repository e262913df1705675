// SPDX-License-Identifier: Apache-2.0
// RunReader: reads the results of one campaign from its folder, also while the run goes on or after
// it was killed. Trusts nothing that it reads: see docs/reference/run-folder.md. Every failure is
// kBadInput. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_STORE_RUN_READER_H_
#define WALKHAMMER_HARNESS_STORE_RUN_READER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/result.h"
#include "harness/findings/finding_record.h"
#include "harness/store/periods.h"
#include "harness/store/run_rows.h"
#include "harness/store/sqlite.h"
#include "harness/store/stack_tree.h"
#include "harness/store/stress_rows.h"

namespace walkhammer {

// The name of a bucket's folder, "crashes/<name>"; empty if it is another path.
std::string NameInCrashes(const std::string& folder);

class RunReader {
 public:
  static Result<RunReader> Open(const std::string& dir);
  // The same for readers of several runs, which take only what has ended: fails if a process still
  // writes the run.
  static Result<RunReader> OpenEnded(const std::string& dir);

  const std::string& dir() const { return dir_; }
  const Database& db() const { return db_; }  // for the store's own use

  Result<RunRow> Run() const;
  // The runs that were merged into this folder, in order; of a run that is not merged, itself
  // alone. Each has a run_id of 32 hex digits: what two folders share is known.
  Result<std::vector<RunRow>> Parts() const;
  Result<std::vector<BucketRow>> Buckets() const;  // most real, most severe, replayed, oldest first
  Result<std::vector<FindingRecord>> Findings(int64_t bucket) const;  // oldest first
  Result<CoverageRows> Coverage() const;
  // All rows of one type: CountRow; SceneRow, in the order of the scene table; ProgressRow;
  // CellRow; CellThreadRow, AgreementRow, EvidenceRow, WalkEndRow, StepRegionRow, StepRangeRow,
  // FramePlaceRow, FrameWalkerRow, FrameDifferenceRow, FramePredictionRow, FrameRefutedRow and
  // NoteRow, those of the run as a whole first, then in the order of the cells and of saving;
  // PeriodRow, PeriodCountRow, PeriodTimeRow and PeriodBucketRow, in the order of the parts.
  template <typename Row>
  Result<std::vector<Row>> Rows() const;
  Result<StackTree> Stacks(int64_t cell) const;
  // Adds the stacks of the cell to `tree`.
  Status AddStacks(int64_t cell, StackTree& tree) const;
  Result<std::vector<StackTotals>> CountStacks() const;  // only of cells that have stacks
  // Which cells saw a bucket: distinct pairs of BucketRow::id and CellRow::position, sorted.
  Result<std::vector<std::pair<int64_t, int64_t>>> BucketCells() const;

 private:
  RunReader() = default;

  std::string dir_;
  Database db_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_STORE_RUN_READER_H_
