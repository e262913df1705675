// SPDX-License-Identifier: Apache-2.0
// GateSide: what the runs of one side of a comparison hold, in the form that the gate compares:
// named by workload and not by JDK, and by period. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_GATE_SIDE_H_
#define WALKHAMMER_REPORTS_GATE_SIDE_H_

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/result.h"
#include "harness/bugs/runs/known_bugs.h"
#include "harness/store/answer_rows.h"
#include "harness/store/run_reader.h"
#include "reports/gate_statistics.h"

namespace walkhammer {

// Walks that are alike but for their answers.
struct Stratum {
  std::string walker, workload, state, region;
  auto operator<=>(const Stratum&) const = default;
};

// Events are walks with a code, by code; each has the same runs and periods. A run without any walk
// has no periods.
using CodeCounts = std::map<std::string, SideCounts>;
// Brings all codes of a stratum to `runs` runs and the same periods, and sets the walks of each.
void FillWalks(CodeCounts& codes, size_t runs);

// A bucket by its title, over all runs of a side.
struct GateBucket {
  BucketRow row;                                // of the run that confirmed it best
  std::string input;                            // path of that run's input; empty: it kept none
  uint64_t seen = 0;                            // times
  BugWord word;                                 // of a store; kNew also without one
  BugWord on_other;                             // the same, were it seen on the other side's build
  std::set<std::pair<size_t, size_t>> periods;  // in which it was seen: run, period
  uint64_t Runs() const;                        // in which it was seen
};

// Walks whose times are compared: in a stress run, those of like depth. A run that meets more short
// stacks than another has faster walks, though the walker is the same.
struct TimedWalks {
  std::string walker, workload;
  int64_t least_frames = 0;  // as in WalkTimeRow
  auto operator<=>(const TimedWalks&) const = default;
  std::string Text() const;  // "walks of agct, torture:mixed default, 8 to 15 frames"
};

struct GateSide {
  std::vector<std::string> dirs;  // by run, as in all that is by run below
  std::vector<RunRow> runs;
  size_t guided = 0;  // runs of guided engines, which are not in `codes` and `times`
  uint64_t walks = 0, successful = 0;
  uint64_t periods = 0;                       // with walks
  std::map<std::string, GateBucket> buckets;  // Forbidden ones, by title
  std::map<Stratum, CodeCounts> codes;
  std::set<std::string> scenes;  // workloads that are scenes of fuzz runs
  // Logarithm of the time in nanoseconds that the fastest tenth of a period's walks took at most,
  // of walks that returned frames, for the faster half of a run's periods. What else the machine
  // does makes walks slow, but not the fastest.
  std::map<TimedWalks, SideValues> times;
  // Workloads and scenes that were walked in all runs; those that were not in some, and why.
  std::set<std::string> walked;
  std::map<std::string, std::string> not_walked;
  std::set<std::string> untrue;  // scenes whose undisturbed walks lacked the true stack in a run
  // Share of the walker's blocks that was reached, by run; runs without coverage have none.
  std::vector<double> coverage;
  std::map<size_t, std::vector<Answer>> answers;  // by run, of random runs of one walker
  std::map<std::string, int> functions;  // of the walker: how many runs reached any block of it
  std::vector<std::string> differences;  // sentences on how the runs differ among themselves
};

// Reads the runs of one side, see RunFolders, which must all be of one build. Fails with kBadInput
// on what is not a run that has ended, or on a run whose workloads have the same name for several
// JDKs.
Result<GateSide> ReadGateSide(const std::vector<std::string>& dirs);

// Sets GateBucket::word of each bucket to what is known of it. If several bugs are in a bucket, as
// those of two walkers, the word that needs a person first counts. `build`: the version of the
// side's builds, for JDKs that do not tell their versions apart; empty: what the runs say.
// `other`: the version of the other side's build.
Status ReadBugWords(const KnownBugs& known, const Day& today, const std::string& build,
                    const std::string& other, GateSide& side);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_GATE_SIDE_H_
