// SPDX-License-Identifier: Apache-2.0
// Runs as series: how error codes and times of walks changed from night to night, and since which
// night. Like is compared with like: the runs of a night's group, or of a kind, walker and release
// line. Needs only run folders. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_SERIES_H_
#define WALKHAMMER_REPORTS_SERIES_H_

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/store/run_rows.h"
#include "reports/change_points.h"

namespace walkhammer {

// A run of a series.
struct SeriesRun {
  std::string dir, started_at, build;
};

// The group of a run: runs of other groups are not compared with it.
std::string SeriesGroupOf(const std::string& dir, const RunIdentity& run);

struct SeriesChange {
  std::string group;  // "stress.jdk.agct", "stress, agct, 17"
  std::string what;   // "walks of agct, torture:mixed default", "agct, ..., in_Java, nmethod: -5"
  SeriesRun before;   // the last run without the change
  SeriesRun first;    // the first with it
  ChangePoint point;  // change: of a logarithm
  size_t runs = 0;    // of the series
};

// The changes in all series of these runs, those that are worse first, then the newest. Folders
// that cannot be read, such as those of runs that were killed, are left out.
std::vector<SeriesChange> FindSeriesChanges(const std::vector<std::string>& dirs);

// "worse" for a code that is more frequent and for longer walks, else "better".
const char* SeriesChangeWord(const SeriesChange& change);
// "drifts by +12.7 % since 2026-01-02T03:04:05Z, nights/3 (17.0.9+9); before: ..."
std::string SeriesChangeText(const SeriesChange& change);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_SERIES_H_
