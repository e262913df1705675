// SPDX-License-Identifier: Apache-2.0
// RunMerger: adds runs, one after the other, to the tables of a new run. Treats what it reads as
// untrusted: see "Untrusted run folders" in docs/reference/run-folder.md. Only MergeRuns uses it.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_STORE_RUN_MERGER_H_
#define WALKHAMMER_HARNESS_STORE_RUN_MERGER_H_

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/store/run_reader.h"
#include "harness/store/run_tables.h"
#include "harness/store/run_writer.h"

namespace walkhammer {

class RunMerger {
 public:
  // `out` must be new, and must outlive this object.
  explicit RunMerger(RunWriter& out) : out_(out) {}
  Status Begin();
  // `from` need not outlive the call, but its folder must exist until End() returns.
  Status Add(const RunReader& from);
  // Finishes the new run. Call it once, after at least one Add().
  Status End();

 private:
  // Copies a table's rows to the same table of the new run. change(row) adapts a row to the new
  // run; if it returns false, the row is left out. `conflict`: an ON CONFLICT clause, or empty.
  template <typename Row, typename Change>
  Status CopyRows(const RunReader& from, std::string_view conflict, const Change& change);
  // Copies rows of cells. Joins rows that have the same key.
  template <typename Row>
  Status JoinCellRows(const RunReader& from);

  Status AddParts(const std::vector<RunRow>& parts);
  void AddTotals(const RunTotals& more);
  Status AddCoverage(const RunReader& from);
  Status AddBuckets(const RunReader& from);
  Status AddBucket(const RunReader& from, const StoredBucket& bucket);
  Status AddFindings(const RunReader& from);
  Status AddScenes(const RunReader& from);
  Status AddProgress(const RunReader& from);
  Status AddCells(const RunReader& from);
  Status AddCell(const CellRow& cell);
  Status AddCellRows(const RunReader& from);
  Status AddCounts(const RunReader& from);
  Status AddPeriods(const RunReader& from);
  Status SaveAllStacks();
  Status AddNotes();
  RunIdentity MergedIdentity() const;
  RunStatus MergedStatus(std::string& reason) const;
  // Replaces the position of a cell in the added run by its position in the new run. Returns false
  // if the added run has no such cell.
  bool MoveCell(int64_t& cell) const;
  // Replaces the label of a cell, which rows call `scene`, by its label in the new run.
  void MoveLabel(std::string& scene) const;

  RunWriter& out_;
  std::vector<RunRow> parts_;  // the first is complete; others lack what End() does not need
  std::set<std::string> ids_;
  // The fields in which runs may differ, and the values of each.
  static constexpr std::array kSeveral = {&RunIdentity::engine, &RunIdentity::jdk_path,
                                          &RunIdentity::cpu_model, &RunIdentity::kernel,
                                          &RunIdentity::tool_version};
  std::array<std::set<std::string>, kSeveral.size()> several_;
  std::map<std::string, std::set<uint64_t>> shards_;  // indexes, by "SEED NUMBER-OF-SHARDS"
  RunTotals totals_;
  std::string vm_version_, vm_gc_;
  CoverageRows code_;  // of the first run with coverage; first_ms: when any run reached a block
  std::string why_no_coverage_;    // of the first run without coverage
  uint64_t without_coverage_ = 0;  // runs that have another map of blocks, or none
  uint64_t not_copied_ = 0;        // files of crash folders
  std::vector<CellRow> cells_;     // of the new run, in the order in which they were added
  std::map<std::string, size_t> cell_places_;  // index into cells_, by AllThatIsAlike
  // Run folder and cell there, by cell of the new run.
  std::map<int64_t, std::vector<std::pair<std::string, int64_t>>> stacks_;

  // The run that is being added.
  struct Adding {
    int64_t first_part = 0;
    uint64_t offset_ms = 0, walks_before = 0, blocks_before = 0, buckets_before = 0;
    std::map<int64_t, int64_t> cells, buckets;      // position or id, by that in the added run
    std::map<std::string, std::string> labels;      // of cells, by label in the added run
    std::vector<uint64_t> new_buckets, new_blocks;  // when first seen, in ms since that run's start
    std::map<int64_t, std::pair<uint64_t, uint64_t>> findings;  // by bucket: count, first ms
  } adding_;
};

// Copies the files of a crash folder from one run folder to another. `name`: the folder in the run
// folder `from`, "crashes/NAME"; `new_name`: the folder in the run folder `to`. Copies only regular
// files of at most 16 MiB with the names that WriteCrashFolder gives, and follows no links.
// Returns how many files were refused: 0 if the folder does not exist, 1 if its name or the folder
// itself is refused. Fails if `to` cannot be written.
Result<uint64_t> CopyCrashFolder(const std::string& from, const std::string& name,
                                 const std::string& to, const std::string& new_name);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_STORE_RUN_MERGER_H_
