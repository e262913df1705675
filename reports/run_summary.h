// SPDX-License-Identifier: Apache-2.0
// RunSummary: everything that a report says about one run, read once, with the verdict.
// Used by the report writers. Needs only the run folder; the run may still be going or may have
// been killed. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_RUN_SUMMARY_H_
#define WALKHAMMER_REPORTS_RUN_SUMMARY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/bugs/runs/known_bugs.h"
#include "harness/store/run_reader.h"

namespace walkhammer {

struct Verdict {
  // "VACUOUS", "FAILED", "FINDINGS", "SKIPPED", "NO COVERAGE", "BELOW GOAL", "KNOWN" or "CLEAN"
  std::string word;
  std::string sentence;  // why, without a trailing newline
  ExitCode exit = ExitCode::kClean;
};

// How often one return code was seen while one thread state was presented.
struct CodeShare {
  std::string code;       // "frames", "crash", "hang", "other", or the walker's return code
  std::string code_name;  // see CodeNameOf
  uint64_t count = 0;
  double share = 0;  // of the walks in this state, 0 .. 1
};

struct StateCodes {
  std::string walker, state;
  uint64_t walks = 0;
  std::vector<CodeShare> codes;  // most frequent first
};

// A cell of a stress or step run, with all rows that belong to the cell.
struct CellSummary {
  CellRow row;
  std::vector<StateCodes> codes;
  std::vector<CellThreadRow> threads;
  std::vector<AgreementRow> agreement;
  std::vector<EvidenceRow> evidence;
  std::vector<WalkEndRow> ends;
  std::vector<StepRegionRow> regions;
  std::vector<StepRangeRow> ranges;
  std::vector<FramePlaceRow> frame_places;
  std::vector<FrameWalkerRow> frame_walkers;
  std::vector<FrameDifferenceRow> frame_differences;
  std::vector<FramePredictionRow> frame_predictions;
  std::vector<FrameRefutedRow> frame_refuted;
  StackTotals stacks;
};

// The inputs of a bucket: paths below RunSummary::dir; empty if there is no such input.
struct BucketFiles {
  std::string input, minimized;
};

// A goal for coverage, and whether a run met the goal.
struct CoverageGoal {
  double percent = 0;   // of the blocks; above 0, at most 100
  uint64_t needed = 0;  // least number of blocks that meets the goal
  bool met = false;
};

struct RunSummary {
  std::string dir;
  RunRow run;
  Verdict verdict;
  std::vector<BucketRow> buckets;  // new, most real, most severe, replayed, oldest first
  std::vector<BucketFiles> files;  // by bucket
  std::vector<KnownAs> names;      // by bucket
  std::vector<CountRow> counts;
  std::vector<StateCodes> codes;
  std::vector<SceneRow> scenes;
  std::vector<NoteRow> notes;
  std::vector<CellSummary> cells;  // empty: a fuzz run
  // For a fuzz run with several walkers. The agreement in a cell is in CellSummary.
  std::vector<AgreementRow> agreement;
  // By bucket: positions of the cells that saw the bucket.
  std::vector<std::vector<int64_t>> bucket_cells;
  std::vector<ProgressRow> progress;
  CoverageRows coverage;
  std::optional<CoverageGoal> goal;  // see HoldToGoal

  double WalksPerSecond() const;
};

// What a run's findings are compared with.
struct Judging {
  std::shared_ptr<const KnownBugs> known;  // null: nothing is known
  Day today{};
  bool strict = false;  // known bugs fail a run, too
};
// Fails as RunReader does.
Result<RunSummary> ReadRun(const RunReader& db, const Judging& judging = {});

// True if a bucket makes a run fail: it is Forbidden, and nobody knows it.
bool IsNews(const BucketRow& bucket, const KnownAs& name);

// The cells of the run, those that did not pass first.
std::vector<const CellSummary*> CellsByNeed(const RunSummary& summary);

// How the cell ended: "vacuous" if IsVacuous(cell), "unfinished" if the cell is running in a run
// that no longer goes on, else the word of the status.
std::string CellWord(const CellRow& cell, const RunRow& run);

// What was dropped or not in force, and incidents: lines that belong next to the verdict, since
// they limit what it says; empty if nothing does.
std::string LimitsText(const RunSummary& summary);
// "interposition, ASLR control": what was in force everywhere; empty if nothing was noted.
std::string InForceText(const RunSummary& summary);

// Name of a code as the walker declares it: "unknown_Java" of "-5"; "not declared"; empty for codes
// that are words, such as "frames", and for unknown walkers.
std::string CodeNameOf(const std::string& walker, const std::string& code);

// "replays 5/5" or "not replayed": how often replays showed a bucket again.
std::string ReplaysText(const BucketRow& bucket);
// "NEW", or the id of what the bucket is known as.
std::string ShortName(const KnownAs& name);
// "NEW"; "NEW: looks like JDK-1, was fixed in 17.0.9"; "known: WH-01, no stack while ...".
std::string NameText(const KnownAs& name);

// Since when a bug is known: "2026-01-02 on 17.0.9+9"; empty if its store does not say.
std::string SinceText(const KnownAs& name);

// The distribution of codes by walker and presented state, most walks first.
std::vector<StateCodes> GroupByState(const std::vector<CountRow>& counts);

// Holds the run to a coverage of `percent` of the blocks: sets summary.goal and adds to the
// verdict's sentence. The verdict itself changes only for a CLEAN run: to BELOW GOAL (exit code 1)
// below the goal, to NO COVERAGE (exit code 3) without coverage.
void HoldToGoal(RunSummary& summary, double percent);

// "ended", "is still going", "was killed before it could finish", ...: what the run did.
std::string RunStateText(const RunRow& run);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_RUN_SUMMARY_H_
