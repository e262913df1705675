// SPDX-License-Identifier: Apache-2.0
// RunMerger: adds runs, one after the other, to the tables of a new run. Trusts nothing that it
// reads: see "Untrusted run folders" in docs/reference/run-folder.md. Private to MergeRuns.
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
  // `out` is new, and outlives this object.
  explicit RunMerger(RunWriter& out) : out_(out) {}
  Status Begin();
  Status Add(const RunReader& from);
  // To be called once, after all Adds.
  Status End();

 private:
  // Adds the rows of a table to the same table, after change(row) -> bool has fitted the row to
  // this run, or left it out. `conflict`: SQL for rows that are there already.
  template <typename Row, typename Change>
  Status CopyRows(const RunReader& from, std::string_view conflict, const Change& change);
  // The same for the rows of cells, which are joined by their keys.
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
  // The cell of this run, for one of the run that is added. False: that has no such cell.
  bool MoveCell(int64_t& cell) const;
  // The same of the label of a cell, which rows call `scene`.
  void MoveLabel(std::string& scene) const;

  RunWriter& out_;
  std::vector<RunRow> parts_;  // without long texts but those of the first
  std::set<std::string> ids_;
  // What runs may differ in, and its values.
  static constexpr std::array kSeveral = {&RunIdentity::engine, &RunIdentity::jdk_path,
                                          &RunIdentity::cpu_model, &RunIdentity::kernel,
                                          &RunIdentity::tool_version};
  std::array<std::set<std::string>, kSeveral.size()> several_;
  std::map<std::string, std::set<uint64_t>> shards_;  // by "seed/number of shards"
  RunTotals totals_;
  std::string vm_version_, vm_gc_;
  CoverageRows code_;              // of the first run with coverage; its blocks as reached so far
  std::string why_no_coverage_;    // of the first run without it
  uint64_t without_coverage_ = 0;  // runs that have another map of blocks, or none
  uint64_t not_copied_ = 0;        // files of crash folders
  std::vector<CellRow> cells_;     // by position
  std::map<std::string, size_t> cell_places_;  // index into cells_, by all that must be alike
  // Folder and cell, by cell of this run.
  std::map<int64_t, std::vector<std::pair<std::string, int64_t>>> stacks_;

  // The run that is being added.
  struct Adding {
    int64_t first_part = 0;
    uint64_t offset_ms = 0, walks_before = 0, blocks_before = 0, buckets_before = 0;
    std::map<int64_t, int64_t> cells, buckets;      // by position or id there
    std::map<std::string, std::string> labels;      // of cells
    std::vector<uint64_t> new_buckets, new_blocks;  // when first seen, in ms since its start
    std::map<int64_t, std::pair<uint64_t, uint64_t>> findings;  // by bucket: count, first time
  } adding_;
};

// Copies the files of a crash folder, `name` under `from`/crashes, to `to`/crashes. Takes regular
// files of at most 16 MiB with the names that WriteCrashFolder gives, and follows no links.
// Returns the number of files that were there and were not taken.
Result<uint64_t> CopyCrashFolder(const std::string& from, const std::string& name,
                                 const std::string& to, const std::string& new_name);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_STORE_RUN_MERGER_H_
