// SPDX-License-Identifier: Apache-2.0
// RunDb: the results of one campaign, as one SQLite file (run.db) in one folder. The parent of a
// run writes the file; reports and gates only read. Schema, units and version rule:
// docs/run-folder.md. Every write reports its failure, and is committed when the call returns.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_STORE_RUN_DB_H_
#define WALKHAMMER_HARNESS_STORE_RUN_DB_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/result.h"
#include "harness/findings/finding_record.h"
#include "harness/shared/shared_state.h"
#include "harness/store/note_rows.h"
#include "harness/store/periods.h"
#include "harness/store/sqlite.h"
#include "harness/store/stack_tree.h"
#include "harness/store/stress_rows.h"

namespace walkhammer {

// What was tested, with which tool and options, on which machine.
struct RunIdentity {
  std::string tool_version;
  std::string jdk_path;
  std::string vm_version;       // vendor, name, version; SetVm sets it once a child has booted
  std::string vm_gc;            // garbage collector; SetVm sets it once a child has booted
  std::string libjvm_build_id;  // hex; empty if libjvm has none
  std::string jvm_flags;        // as given, space-separated
  std::string walker;
  std::string provider;  // "jdk", "ref" or the path of a library
  std::string engine;    // "random", ...
  uint64_t seed = 0;
  std::string cpu_model;
  std::string kernel;
  std::string started_at;  // UTC, ISO 8601
  bool aslr = true;
  std::string command_line;
  int workers = 1;     // children that walked side by side
  std::string run_id;  // 32 hex digits that no other run has; Create makes them if it is empty
  std::string shard;   // "2/8": which part of a campaign the run did; empty: all of it
  // "fuzz", "stress" or "step".
  std::string Kind() const { return engine == "stress" || engine == "step" ? engine : "fuzz"; }
  // True if an engine chose the requests by what earlier ones met. How often such a run got an
  // answer says more of its search than of the build.
  bool IsGuided() const { return engine == "libfuzzer" || engine == "afl"; }
};

// Confirming and minimising of findings, after the walks.
struct SettleTotals {
  uint64_t most_ms = 0, took_ms = 0;          // limit; time taken
  uint64_t unconfirmed = 0, unminimized = 0;  // buckets for which there was no time left
};

// What the Java threads of --churn did; see ChurnCounts.
struct ChurnTotals {
  uint64_t collections = 0, rounds = 0, unloaded = 0;
};

struct RunTotals {
  uint64_t time_ms = 0;  // since the run's start
  uint64_t walks = 0;    // judged walks
  uint64_t successful = 0;
  uint64_t pristine_walks = 0;
  uint64_t pristine_true = 0;
  uint64_t contained_crashes = 0;
  uint64_t request_hash = 0;
  uint32_t children_started = 0;
  uint32_t children_retired = 0;
  uint32_t children_died = 0;
  uint64_t blocks = 0;                 // blocks of the walker's code entered at least once
  std::optional<ChurnTotals> churn;    // nullopt: a run without --churn
  std::optional<SettleTotals> settle;  // nullopt: nothing to confirm, or the run goes on
};
// The totals that `shared` has; times, children and `settle` stay unset.
RunTotals TotalsOf(const SharedState& shared);
// The counts that `shared` has, without how often buckets were seen.
CountsSoFar CountsOf(const SharedState& shared);

enum class RunStatus : uint8_t { kRunning, kCleanEnd, kInterrupted, kFailed, kVacuous };
const char* RunStatusWord(RunStatus status);  // "running", "clean-end", ...

struct BucketRow {
  int64_t id = 0;
  Signature signature;
  std::string folder;          // "crashes/<name>", relative to the run's folder
  std::string oracle;          // of the gravest finding
  std::string outcome;         // of the gravest finding
  Grade grade{};               // by the table of this build, see GradeOf
  Grade recorded_grade{};      // by the table of the build that recorded it
  Realism realism{};           // of the most real finding
  uint64_t count = 0;          // times seen, whether the finding was kept or not
  uint64_t first_time_ms = 0;  // since the run's start
  uint64_t first_sequence = 0;
  int32_t confirmed = 0;                   // of `tries` replays
  int32_t tries = 0;                       // 0: not replayed yet
  std::optional<int32_t> minimized_edits;  // of the smallest input known; nullopt: not minimised
  int32_t minimized_confirmed = 0;         // of `minimized_tries` replays of that input
  int32_t minimized_tries = 0;
};

struct SceneRow {
  std::string name;
  bool available = false;
  bool pristine_true = false;
  int32_t tried = 0;  // pristine walks tried
  int32_t truth_frames = 0;
  std::string reason;
};

struct ProgressRow {
  uint64_t time_ms = 0, walks = 0, buckets = 0, blocks = 0;
};

// A function of the walker's code, for which coverage is measured.
struct CoverageFunctionRow {
  std::string name;                // demangled
  uint64_t address = 0, size = 0;  // ELF virtual address; bytes
  std::string reach;               // "root", "direct" or "vtable": how the walker gets there
  uint32_t first_block = 0, blocks = 0;
};

// A basic block; block i is SharedState::covered.hit[i].
struct CoverageBlockRow {
  uint64_t address = 0;  // ELF virtual address
  uint32_t size = 0;
  uint32_t function = 0;             // index into CoverageRows::functions
  std::optional<uint64_t> first_ms;  // when the block was first seen entered; nullopt: never
};

struct LeftOutRow {
  std::string name, reason;  // a function that may be called and is not covered, and why
};

struct CoverageRows {
  std::string file, build_id;  // the file with the code; its build id in hex, empty if none
  std::string reason;          // why there is no coverage; then all else is empty
  std::vector<CoverageFunctionRow> functions;
  std::vector<CoverageBlockRow> blocks;
  std::vector<LeftOutRow> left_out;
};

struct RunRow {
  RunIdentity identity;
  RunTotals totals;
  RunStatus status{};
  bool writer_alive = false;  // a process still has the run open for writing
  std::string reason;         // of the status; may be empty
};

// A run that a folder holds: of a merged folder, one of those that were merged.
struct PartRow {
  RunIdentity identity;
  RunTotals totals;  // without `churn` and `settle`
  RunStatus status{};
  std::string reason;  // of the status; may be empty
};

class RunDb {
 public:
  static constexpr int kSchemaVersion = 1;

  // Makes `dir` (and its parents) or takes an empty folder, and locks it until the object dies.
  // Fails with kBadInput, and leaves nothing behind, on what the user must fix: folder in use, not
  // empty, not writable, disk full.
  static Result<RunDb> Create(const std::string& dir, const RunIdentity& identity);
  // Opens `dir` for reading, also while the run goes on or after the run was killed. Fails with
  // kBadInput.
  static Result<RunDb> Open(const std::string& dir);

  RunDb(RunDb&& other) noexcept;
  RunDb& operator=(RunDb&&) = delete;
  ~RunDb();

  const std::string& dir() const { return dir_; }

  // Writing.
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
  // Saves counts and agreement in `shared` of the job's walkers: totals so far, not increments.
  Status SaveCounts(const SharedState& shared);
  Status SaveScenes(const SharedState& shared);
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
  // For stress and step runs. SaveCell must come first; the Save functions with a `cell` replace
  // the rows that a table has of the cell. Save every cell of the matrix before the first cell
  // starts: the verdict on the run knows only saved cells.
  Status SaveCell(const CellRow& cell);
  Status SaveCellThreads(int64_t cell, std::span<const CellThreadRow> threads);
  // Saves what is not saved yet of the cell's stacks, at most `most_rows` nodes of it. True: that
  // was the last; the next call begins a new round.
  Result<bool> SaveStacks(int64_t cell, StackTree& stacks, size_t most_rows = SIZE_MAX);
  // `cell` is kNoCell in a fuzz run.
  Status SaveAgreement(int64_t cell, std::span<const AgreementRow> agreement);
  Status SaveEvidence(int64_t cell, std::span<const EvidenceRow> evidence);
  Status SaveWalkEnds(int64_t cell, std::span<const WalkEndRow> ends);
  Status SaveStepRegions(int64_t cell, std::span<const StepRegionRow> regions);
  Status SaveStepRanges(int64_t cell, std::span<const StepRangeRow> ranges);
  // Saves totals so far, not increments. In a run with cells, `scene` is the CellLabel of a cell.
  Status SaveCountRows(std::span<const CountRow> counts);
  // Replaces the periods of the cell and their counts; kNoCell: those of the run as a whole.
  Status SavePeriods(int64_t cell, const Periods& periods);
  // Replaces the notes of the cell; kNoCell: those of the run as a whole.
  Status SaveNotes(int64_t cell, std::span<const NoteRow> notes);
  // Stores the end of the run and returns the status stored: kVacuous for a clean end without a
  // true pristine walk or without a successful walk; in a run with cells, for a clean end where a
  // cell IsVacuous or no cell has a walk. Afterwards run.db is a single file, readable on read-only
  // media, unless a reader has the run open.
  Result<RunStatus> Finish(RunStatus status, const RunTotals& totals, std::string_view reason = {});

  // Reading.
  Result<RunRow> Run() const;
  // The runs that were merged into this folder, in order; of a run that is not merged, itself
  // alone.
  Result<std::vector<PartRow>> Parts() const;
  Result<std::vector<BucketRow>> Buckets() const;  // gravest, most real, replayed, oldest first
  Result<std::vector<FindingRecord>> Findings(int64_t bucket) const;  // oldest first
  Result<std::vector<CountRow>> Counts() const;
  Result<std::vector<SceneRow>> Scenes() const;  // in the order of the scene table
  Result<std::vector<ProgressRow>> Progress() const;
  Result<CoverageRows> Coverage() const;
  // The functions below return rows in the order of the cells, then in the order of saving.
  Result<std::vector<CellRow>> Cells() const;
  Result<std::vector<CellThreadRow>> CellThreads() const;
  Result<StackTree> Stacks(int64_t cell) const;
  // Adds the stacks of the cell to `tree`.
  Status AddStacks(int64_t cell, StackTree& tree) const;
  Result<std::vector<StackTotals>> CountStacks() const;  // only of cells that have stacks
  Result<std::vector<AgreementRow>> Agreement() const;
  Result<std::vector<EvidenceRow>> Evidence() const;
  Result<std::vector<WalkEndRow>> WalkEnds() const;
  Result<std::vector<StepRegionRow>> StepRegions() const;
  Result<std::vector<StepRangeRow>> StepRanges() const;
  Result<std::vector<NoteRow>> Notes() const;  // those of the run as a whole come first
  // Periods come in the order of parts and cells, those of the whole run first.
  Result<std::vector<PeriodRow>> PeriodRows() const;
  Result<std::vector<PeriodCountRow>> PeriodCounts() const;
  Result<std::vector<PeriodTimeRow>> PeriodTimes() const;
  Result<std::vector<PeriodBucketRow>> PeriodBuckets() const;
  // Which cells saw a bucket: distinct pairs of BucketRow::id and CellRow::position, sorted.
  Result<std::vector<std::pair<int64_t, int64_t>>> BucketCells() const;

 private:
  friend class RunMerger;  // see merge.h
  RunDb() = default;
  Status Initialize(const RunIdentity& identity);
  Status UpdateTotals(const RunTotals& totals);
  // Runs `update`, an UPDATE of the row of `bucket` with bound parameters. Fails without such a
  // row.
  Status UpdateBucket(Statement& update, int64_t bucket);
  static bool HasWriter(const std::string& dir);  // true if a RunDb of any process has locked `dir`

  std::string dir_;
  Database db_;
  int lock_fd_ = -1;
  std::vector<uint8_t> saved_;                  // by block: 1 if saved as entered
  std::optional<std::string> why_no_coverage_;  // as stored by this object
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_STORE_RUN_DB_H_
