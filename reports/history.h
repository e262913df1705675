// SPDX-License-Identifier: Apache-2.0
// The history of many runs: which bucket was seen first and last in which of them, and how often.
// Called by the verb report. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_HISTORY_H_
#define WALKHAMMER_REPORTS_HISTORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "reports/run_summary.h"
#include "reports/series.h"

namespace walkhammer {

struct HistoryRun {
  std::string dir;
  std::string started_at, vm_version, walker, engine;
  Verdict verdict;
  uint64_t walks = 0;
  uint64_t buckets = 0, new_buckets = 0;  // new: no older run has them
  std::string group = {};                 // see SeriesGroupOf
};

// All buckets of the same oracle, outcome and title. Titles name functions without offsets, so
// buckets of different builds meet here.
struct HistoryBucket {
  std::string oracle, outcome, title;
  Grade grade{};               // by the table of this build
  Realism realism{};           // of the most real one
  std::vector<uint64_t> seen;  // by run: how often, 0 for not at all
  size_t first = 0, last = 0;  // runs that saw it
  size_t runs = 0;             // how many saw it
  std::string input;           // path of the newest input, or empty

  // How often it was seen per million walks, from the first run that saw it to the newest run.
  double PerMillion(const std::vector<HistoryRun>& all) const;
};

struct History {
  std::vector<HistoryRun> runs;                      // oldest first
  std::vector<HistoryBucket> buckets;                // most real, most severe, latest seen first
  std::vector<std::pair<std::string, Failure>> bad;  // folders with a run.db that cannot be read
  std::vector<SeriesChange> changes;                 // of error codes and times
  ExitCode exit = ExitCode::kClean;                  // the most severe of all runs

  // How many runs of the group of run `at` are older, and how many are newer.
  size_t OlderRuns(size_t at) const;
  size_t NewerRuns(size_t at) const;
  // True if only the newest run of its group saw the bucket.
  bool IsNew(const HistoryBucket& bucket) const {
    return NewerRuns(bucket.first) == 0 && OlderRuns(bucket.first) > 0;
  }
};

// Reads all runs in and below the folders; links are not followed. In a night's folder the merged
// runs count, and no run counts twice. Keeps the buckets of each run and nothing else of it. Fails
// with kBadInput if there is no run.
Result<History> ReadHistory(const std::vector<std::string>& dirs, const Judging& judging = {});

std::string HistoryText(const History& history);
// A page like HtmlReport's: buckets and runs as tables, and for each bucket the runs that saw it.
std::string HistoryHtml(const History& history);
// JSON with "schema" 1: runs, buckets, and what could not be read.
std::string HistoryJson(const History& history);

// The more severe of two exit codes of runs. kUnable, a run that could not be judged, hides neither
// findings nor a vacuous run.
ExitCode Graver(ExitCode a, ExitCode b);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_HISTORY_H_
