// SPDX-License-Identifier: Apache-2.0
// RunDb: the results of one campaign, as one SQLite file (run.db) in one folder. The parent of a
// run writes it; reports and gates only read. Schema, units and version rule: docs/run-folder.md.
// Every write reports its failure, and is committed when the call returns. Signal-safe: no.
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
#include "harness/store/sqlite.h"
#include "harness/store/stress_rows.h"

namespace walkhammer {

// What was tested, with what, where.
struct RunIdentity {
  std::string tool_version;
  std::string jdk_path;
  std::string vm_version;       // vendor, name, version; known once a child has booted: SetVm
  std::string vm_gc;            // the same
  std::string libjvm_build_id;  // hex; empty if it has none
  std::string jvm_flags;        // as given, space-separated
  std::string walker;
  std::string provider;  // "jdk", "ref"
  std::string engine;    // "random", ...
  uint64_t seed = 0;
  std::string cpu_model;
  std::string kernel;
  std::string started_at;  // UTC, ISO 8601
  bool aslr = true;
  std::string command_line;
  int workers = 1;  // that walked side by side
};

// What came after the walks: replaying what they found, and making it smaller.
struct SettleTotals {
  uint64_t most_ms = 0, took_ms = 0;
  uint64_t unconfirmed = 0, unminimized = 0;  // buckets for which there was no time left
};

// What the Java threads of --churn did; see ChurnCounts.
struct ChurnTotals {
  uint64_t collections = 0, rounds = 0, unloaded = 0;
};

struct RunTotals {
  uint64_t time_ms = 0;  // since the run's start
  uint64_t walks = 0;    // judged
  uint64_t successful = 0;
  uint64_t pristine_walks = 0;
  uint64_t pristine_true = 0;
  uint64_t contained_crashes = 0;
  uint64_t request_hash = 0;
  uint32_t children_started = 0;
  uint32_t children_retired = 0;
  uint32_t children_died = 0;
  uint64_t blocks = 0;                 // of the walker's code, entered at least once
  std::optional<ChurnTotals> churn;    // none: the run was without
  std::optional<SettleTotals> settle;  // none: nothing was to be confirmed, or the run goes on
};
// The part that SharedState knows; time and children stay 0.
RunTotals TotalsOf(const SharedState& shared);

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
  uint64_t count = 0;          // times seen, kept or not
  uint64_t first_time_ms = 0;  // since the run's start
  uint64_t first_sequence = 0;
  int32_t confirmed = 0;                   // of `tries` replays
  int32_t tries = 0;                       // 0: not replayed yet
  std::optional<int32_t> minimized_edits;  // of the smallest input known; none: not minimised
  int32_t minimized_confirmed = 0;         // of `minimized_tries` replays of that input
  int32_t minimized_tries = 0;
};

struct CountRow {
  std::string walker, scene, state, region;
  std::string code;  // "frames", "crash", "hang", "other", or the number
  uint64_t count = 0;
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

// A function of the code that coverage is about.
struct CoverageFunctionRow {
  std::string name;                // demangled
  uint64_t address = 0, size = 0;  // ELF virtual address; bytes
  std::string reach;               // "root", "direct" or "vtable": how the walker gets there
  uint32_t first_block = 0, blocks = 0;
};

// A basic block; its index is that of SharedState::covered.
struct CoverageBlockRow {
  uint64_t address = 0;  // ELF virtual address
  uint32_t size = 0;
  uint32_t function = 0;             // index into CoverageRows::functions
  std::optional<uint64_t> first_ms;  // when it was first seen entered; none: never
};

struct LeftOutRow {
  std::string name, reason;  // a function that may be called and is not covered, and why
};

struct CoverageRows {
  std::string file, build_id;  // that holds the code; build id in hex, empty if it has none
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

class RunDb {
 public:
  static constexpr int kSchemaVersion = 6;

  // Makes `dir` (and its parents) or takes an empty one, and locks it until the object dies.
  // What the user must mend (folder in use, not empty, not writable, disk full) fails with
  // kBadInput and leaves nothing behind.
  static Result<RunDb> Create(const std::string& dir, const RunIdentity& identity);
  // For reading, also while the run goes on or after it was killed.
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
  // Joins the bucket with the same signature key, or makes it.
  Result<Added> AddFinding(const FindingRecord& finding);
  Status SetConfirmed(int64_t bucket, int confirmed, int tries);
  // Times seen in all, where the child counted more than it handed over.
  Status SetSeen(int64_t bucket, uint64_t times);
  // A smaller input of the bucket: with `edits` edits, `confirmed` of `tries` replays showed it.
  Status SetMinimized(int64_t bucket, int edits, int confirmed, int tries);
  Status SetVm(std::string_view vm_version, std::string_view vm_gc);
  // The totals so far of the counts in `shared`, for the walkers that its job names.
  Status SaveCounts(const SharedState& shared);
  Status SaveScenes(const SharedState& shared);
  // What coverage is about; `first_ms` and `reason` do not count. Once, before SaveBlocks.
  Status SetCoverage(const CoverageRows& code);
  // There is no coverage, and why. Blocks that are saved later take it back.
  Status SetNoCoverage(std::string_view reason);
  // hit[i] != 0: block i was entered by now. Writes only what is new, nothing if nothing is. What
  // is beyond the blocks of SetCoverage is ignored: a dying child may have written anything.
  Status SaveBlocks(std::span<const uint8_t> hit, uint64_t time_ms);
  // One point of the curve; the run's totals are as of then if it never ends.
  Status SaveProgress(const RunTotals& totals);
  // Stress and step runs. Each Save replaces what the cell has of it; SaveCell comes first. Every
  // cell of the matrix is saved before the first one starts: what is not there counts for nothing.
  Status SaveCell(const CellRow& cell);
  Status SaveCellThreads(int64_t cell, std::span<const CellThreadRow> threads);
  Status SaveStacks(int64_t cell, std::span<const StackRow> stacks);
  // `cell` is kNoCell in a fuzz run.
  Status SaveAgreement(int64_t cell, std::span<const AgreementRow> agreement);
  Status SaveEvidence(int64_t cell, std::span<const EvidenceRow> evidence);
  Status SaveStepRegions(int64_t cell, std::span<const StepRegionRow> regions);
  Status SaveStepRanges(int64_t cell, std::span<const StepRangeRow> ranges);
  // Totals so far, not increments; `scene` is the CellLabel of the cell.
  Status SaveCountRows(std::span<const CountRow> counts);
  // A clean end without a true pristine walk or without a successful walk is stored as vacuous;
  // that of a run with cells, where one of them IsVacuous or none has a walk. Returns the status
  // stored. Afterwards run.db is a single file, readable on read-only media.
  Result<RunStatus> Finish(RunStatus status, const RunTotals& totals, std::string_view reason = {});

  // Reading.
  Result<RunRow> Run() const;
  Result<std::vector<BucketRow>> Buckets() const;  // gravest, most real, replayed, oldest first
  Result<std::vector<FindingRecord>> Findings(int64_t bucket) const;  // oldest first
  Result<std::vector<CountRow>> Counts() const;
  Result<std::vector<SceneRow>> Scenes() const;  // in the table's order
  Result<std::vector<ProgressRow>> Progress() const;
  Result<CoverageRows> Coverage() const;
  // In the order of the cells, and of a cell as they were saved.
  Result<std::vector<CellRow>> Cells() const;
  Result<std::vector<CellThreadRow>> CellThreads() const;
  Result<std::vector<StackRow>> Stacks(std::optional<int64_t> cell = {}) const;  // none: of all
  Result<std::vector<StackTotals>> CountStacks() const;  // of the cells that have stacks
  Result<std::vector<AgreementRow>> Agreement() const;
  Result<std::vector<EvidenceRow>> Evidence() const;
  Result<std::vector<StepRegionRow>> StepRegions() const;
  Result<std::vector<StepRangeRow>> StepRanges() const;
  // Which cells saw a bucket: distinct pairs of BucketRow::id and CellRow::position, sorted.
  Result<std::vector<std::pair<int64_t, int64_t>>> BucketCells() const;

 private:
  RunDb() = default;
  Status Initialize(const RunIdentity& identity);
  Status UpdateTotals(const RunTotals& totals);
  // Of an UPDATE of the row of `bucket`, bound and yet to be run.
  Status UpdateBucket(Statement& update, int64_t bucket);
  static bool HasWriter(const std::string& dir);  // another object has it, of any process

  std::string dir_;
  Database db_;
  int lock_fd_ = -1;
  int schema_ = kSchemaVersion;                 // of the file; older ones are only read
  std::vector<uint8_t> saved_;                  // by block: 1 once it was saved as entered
  std::optional<std::string> why_no_coverage_;  // as stored by this object
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_STORE_RUN_DB_H_
