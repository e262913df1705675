// SPDX-License-Identifier: Apache-2.0
// The rows of run.db that all runs have: see docs/reference/run-folder.md. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_STORE_RUN_ROWS_H_
#define WALKHAMMER_HARNESS_STORE_RUN_ROWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/findings/finding_record.h"

namespace walkhammer {

// What was tested, with which tool and options, on which machine.
struct RunIdentity {
  std::string tool_version;
  std::string jdk_path;
  std::string vm_version;       // vendor, name, version; RunWriter::SetVm sets it later
  std::string vm_gc;            // garbage collector; RunWriter::SetVm sets it later
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
  std::string run_id;  // 32 hex digits that no other run has; RunWriter makes them if it is empty
  std::string shard;   // "2/8": which part of a campaign the run did; empty: all of it
  // "fuzz", "stress" or "step".
  std::string Kind() const { return engine == "stress" || engine == "step" ? engine : "fuzz"; }
  // True if an engine chose the requests by what earlier ones met. How often such a run got an
  // answer says more of its search than of the build.
  bool IsGuided() const { return engine == "libfuzzer" || engine == "afl"; }
  bool operator==(const RunIdentity&) const = default;
};

// Confirming and minimising of findings, after the walks.
struct SettleTotals {
  uint64_t most_ms = 0, took_ms = 0;          // limit; time taken
  uint64_t unconfirmed = 0, unminimized = 0;  // buckets for which there was no time left
  bool operator==(const SettleTotals&) const = default;
};

// What the Java threads of --churn did; see ChurnCounts.
struct ChurnTotals {
  uint64_t collections = 0, rounds = 0, unloaded = 0;
  bool operator==(const ChurnTotals&) const = default;
};

// What became of the loads that the engine faults made fail; see FailedLoads.
struct FailedLoadTotals {
  uint64_t loads = 0, contained = 0, crashed = 0, hung = 0, missed = 0, unseen = 0, finished = 0;
  bool operator==(const FailedLoadTotals&) const = default;
};

struct RunTotals {
  uint64_t time_ms = 0;         // since the run's start
  uint64_t walking_cpu_ms = 0;  // CPU time of the random engine's walks; 0: of another engine
  uint64_t walks = 0;           // judged walks
  uint64_t successful = 0;
  uint64_t pristine_walks = 0;
  uint64_t pristine_true = 0;
  uint64_t contained_crashes = 0;
  uint64_t request_hash = 0;
  uint64_t children_started = 0;
  uint64_t children_retired = 0;
  uint64_t children_died = 0;
  uint64_t blocks = 0;               // blocks of the walker's code entered at least once
  std::optional<ChurnTotals> churn;  // nullopt: a run without --churn
  std::optional<FailedLoadTotals> failed_loads;  // nullopt: a run of another engine
  std::optional<SettleTotals> settle;            // nullopt: nothing to confirm, or the run goes on
  bool operator==(const RunTotals&) const = default;
};

enum class RunStatus : uint8_t { kRunning, kCleanEnd, kInterrupted, kFailed, kVacuous };
const char* RunStatusWord(RunStatus status);         // "running", "clean-end", ...
RunStatus RunStatusFromWord(std::string_view word);  // kFailed for unknown words

// What run.db stores of a bucket.
struct BucketFacts {
  Signature signature;
  std::string folder;                      // "crashes/<name>", relative to the run's folder
  int32_t confirmed = 0;                   // of `tries` replays
  int32_t tries = 0;                       // 0: not replayed yet
  std::optional<int32_t> minimized_edits;  // of the smallest input known; nullopt: not minimised
  int32_t minimized_confirmed = 0;         // of `minimized_tries` replays of that input
  int32_t minimized_tries = 0;
};

struct BucketRow : BucketFacts {
  int64_t id = 0;
  std::string oracle;          // of the most severe finding
  std::string outcome;         // of the most severe finding
  Grade grade{};               // by the table of this build, see GradeOf
  Grade recorded_grade{};      // by the table of the build that recorded it
  Realism realism{};           // of the most real finding
  uint64_t count = 0;          // times seen, whether the finding was kept or not
  uint64_t first_time_ms = 0;  // since the run's start
  uint64_t first_sequence = 0;
};

struct SceneRow {
  std::string name;
  bool available = false;
  bool pristine_true = false;
  int32_t tried = 0;  // undisturbed walks tried
  int32_t truth_frames = 0;
  std::string reason;  // why it is not available
  // Whether the run asked for the scene: --scene leaves out the others.
  bool IsAsked() const { return tried > 0 || (!available && !reason.empty()); }
  bool operator==(const SceneRow&) const = default;
};

struct ProgressRow {
  uint64_t time_ms = 0, walks = 0, buckets = 0, blocks = 0;
  bool operator==(const ProgressRow&) const = default;
};

// A function of the walker's code, for which coverage is measured.
struct CoverageFunctionRow {
  std::string name;                // demangled
  uint64_t address = 0, size = 0;  // ELF virtual address; bytes
  std::string reach;               // "root", "direct" or "vtable": how the walker gets there
  uint32_t first_block = 0, blocks = 0;
  bool operator==(const CoverageFunctionRow&) const = default;
};

// A basic block; block i is SharedState::covered.hit[i].
struct CoverageBlockRow {
  uint64_t address = 0;  // ELF virtual address
  uint32_t size = 0;
  uint32_t function = 0;             // index into CoverageRows::functions
  std::optional<uint64_t> first_ms;  // when the block was first seen entered; nullopt: never
  bool operator==(const CoverageBlockRow&) const = default;
};

struct LeftOutRow {
  std::string name, reason;  // a function that may be called and is not covered, and why
  bool operator==(const LeftOutRow&) const = default;
};

struct CoverageRows {
  std::string file, build_id;  // the file with the code; its build id in hex, empty if none
  std::string reason;          // why there is no coverage; then all else is empty
  std::vector<CoverageFunctionRow> functions;
  std::vector<CoverageBlockRow> blocks;
  std::vector<LeftOutRow> left_out;
  bool operator==(const CoverageRows&) const = default;
};

// A run; in a merged folder, also each of those that were merged, without `churn` and `settle`.
struct RunRow {
  RunIdentity identity;
  RunTotals totals;
  RunStatus status{};
  std::string reason;         // of the status; may be empty
  bool writer_alive = false;  // a process still has the run open for writing
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_STORE_RUN_ROWS_H_
