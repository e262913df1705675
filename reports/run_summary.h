// SPDX-License-Identifier: Apache-2.0
// RunSummary: everything that a report says about one run, read once, with the verdict.
// Called by the report writers; needs only the run folder, also of a run that is still going or
// was killed. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_RUN_SUMMARY_H_
#define WALKHAMMER_REPORTS_RUN_SUMMARY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/store/run_db.h"

namespace walkhammer {

struct Verdict {
  // "VACUOUS", "FAILED", "FINDINGS", "SKIPPED", "NO COVERAGE", "BELOW GOAL" or "CLEAN"
  std::string word;
  std::string sentence;  // why, without a trailing newline
  ExitCode exit = ExitCode::kClean;
};

// How often one return code was seen while one thread state was presented.
struct CodeShare {
  std::string code;       // "frames", "crash", "hang", "other", or the number
  std::string code_name;  // as the walker declares it; may be empty
  uint64_t count = 0;
  double share = 0;  // of the walks in this state, 0 .. 1
};

struct StateCodes {
  std::string walker, state;
  uint64_t walks = 0;
  std::vector<CodeShare> codes;  // most frequent first
};

// A cell of a stress or step run and what belongs to it.
struct CellSummary {
  CellRow row;
  std::vector<StateCodes> codes;
  std::vector<CellThreadRow> threads;
  std::vector<AgreementRow> agreement;
  std::vector<EvidenceRow> evidence;
  std::vector<StepRegionRow> regions;
  std::vector<StepRangeRow> ranges;
  StackTotals stacks;
};

// The inputs of a bucket: paths below RunSummary::dir, empty where there is none.
struct BucketFiles {
  std::string input, minimized;
};

// A bar for coverage, and whether a run cleared it.
struct CoverageGoal {
  double percent = 0;   // of the blocks; above 0, at most 100
  uint64_t needed = 0;  // blocks that make it
  bool met = false;
};

struct RunSummary {
  std::string dir;
  RunRow run;
  Verdict verdict;
  std::vector<BucketRow> buckets;  // gravest, most real, replayed, oldest first
  std::vector<BucketFiles> files;  // by bucket
  std::vector<CountRow> counts;
  std::vector<StateCodes> codes;
  std::vector<SceneRow> scenes;
  std::vector<CellSummary> cells;  // empty: a fuzz run
  // Of a fuzz run of several walkers; that of cells is theirs.
  std::vector<AgreementRow> agreement;
  // By bucket: positions of the cells that saw it.
  std::vector<std::vector<int64_t>> bucket_cells;
  std::vector<ProgressRow> progress;
  CoverageRows coverage;
  std::optional<CoverageGoal> goal;  // see HoldToGoal

  double WalksPerSecond() const;
};

Result<RunSummary> ReadRun(const RunDb& db);

// The distribution of codes by walker and presented state, most walks first.
std::vector<StateCodes> GroupByState(const std::vector<CountRow>& counts);

// Holds the run to a bar of `percent` of the blocks: sets `goal` and what the verdict says.
// A run that proves nothing (VACUOUS, FAILED) stays so, and findings stay findings: only a clean
// run can fail for its coverage. Below the bar: BELOW GOAL, exit code 1. Without coverage nobody
// can tell: NO COVERAGE, exit code 3.
void HoldToGoal(RunSummary& summary, double percent);

// "ended", "is still going", "was killed before it could finish", ...: what the run did.
std::string RunStateText(const RunRow& run);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_RUN_SUMMARY_H_
