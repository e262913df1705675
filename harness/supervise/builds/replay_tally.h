// SPDX-License-Identifier: Apache-2.0
// ReplayTally: what n replays of one request on one build showed. Each replay has a process of its
// own. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_BUILDS_REPLAY_TALLY_H_
#define WALKHAMMER_HARNESS_SUPERVISE_BUILDS_REPLAY_TALLY_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/jvm/images/jdk.h"
#include "harness/supervise/child_process.h"
#include "harness/supervise/replay_run.h"
#include "harness/supervise/stress_runs/profiles.h"

namespace walkhammer {

struct ReplayTally {
  int times = 0;                        // replays, also those that could not be walked
  int reproduced = 0;                   // showed `expect`; without `expect`, a Forbidden finding
  int found = 0;                        // showed a Forbidden finding
  int broken = 0;                       // reproduced, or crashed, hung or died otherwise
  int unable = 0;                       // could not be walked
  std::map<std::string, int> outcomes;  // count by signature, "33 frames" or "code -5"
  std::vector<std::string> each;        // outcomes of each replay, joined by " + ", as they ended
  std::string unable_reason;            // of the last that could not be walked
  ExitCode unable_code = ExitCode::kUnable;  // kToolFailed once a replay failed for that
  std::string frames;                        // of the last walk that returned
  std::string against;  // how the answers of the file's two walkers differed, in the last walk
  uint32_t stand_ins = 0;
  std::string stand_in;
  std::optional<FindingRecord> example;  // the first finding that counts as `reproduced`

  int walked() const { return times - unable; }
  // `expect`: as in .walk files; may be empty. `also_counts`: see ReplayPlan.
  void Add(const Result<ReplayOutcome>& outcome, const std::string& expect,
           const std::function<bool(const FindingRecord&)>& also_counts = {});
  // "3 x crash f(X*)+0x1f, 1 x 33 frames, 1 x could not be walked".
  std::string Words() const;
};

// "3 x crash f(X*)+0x1f, 1 x 33 frames"; in the order of their names.
std::string OutcomeWords(const std::map<std::string, int>& outcomes);

struct ReplayPlan {
  std::string expect;         // see ReplayTally
  int times = 1;              // most replays
  int jobs = 1;               // most processes at a time
  bool until_broken = false;  // the first that is `broken` is the last
  int most_unable = 0;        // none walked after so many replays: no more of them; 0: no limit
  std::function<bool()> stop = {};  // polled; true ends it, with the replays so far; may be empty
  // True: the finding counts as `expect` does, even if it does not match; may be empty.
  std::function<bool(const FindingRecord&)> also_counts = {};
  std::function<void(const ReplayOutcome&)> on_outcome = {};  // for each replay; may be empty
};

// Replays `input` as planned and waits. A replay that was under way when it ended is not counted.
ReplayTally ReplayTimes(const ReplayInput& input, const ChildSetup& setup, const ReplayPlan& plan);

// A JDK under one set of flags, on which requests are replayed and compared.
struct Build {
  Jdk jdk;
  std::string label;               // the version; with the home if another build has that version
  std::string profile;             // its name
  std::vector<std::string> flags;  // of the profile, then of the user
};

// Each JDK under each profile, in the order of `jdks`. kBadInput: a profile whose flags are made
// before each run, which replays do not do.
Result<std::vector<Build>> BuildsOf(const std::vector<Jdk>& jdks,
                                    const std::vector<const Profile*>& profiles,
                                    const std::vector<std::string>& user_flags);

// How to start children of the build. `scratch`: see ChildSetup. `provider`: see there, too.
ChildSetup SetupOf(const Build& build, const std::string& scratch,
                   const std::string& provider = "");

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_BUILDS_REPLAY_TALLY_H_
