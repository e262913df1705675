// SPDX-License-Identifier: Apache-2.0
// BugReplay: replays the requests of a bug on a build, and judges the replays. For a known issue,
// the verdict says whether the build has it; for a team's open bug, whether the build closes it.
// Replays that do not show a bug close it only under conditions: see JudgeReplays. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_BUILDS_BUG_REPLAY_H_
#define WALKHAMMER_HARNESS_SUPERVISE_BUILDS_BUG_REPLAY_H_

#include <functional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/bugs/bug.h"
#include "harness/jvm/images/jdk.h"
#include "harness/supervise/builds/replay_tally.h"

namespace walkhammer {

struct BugReplay {
  // Whether the build has the bug. For a team's bug, kYes keeps it open, kNo closes it, and
  // kUnknown leaves its state unchanged.
  Affected verdict = Affected::kUnknown;
  Affected by_version = Affected::kUnknown;  // known issues only: by the build's version alone
  ReplayTally tally;                         // times 0: there were no replays
  std::string why;                           // the reason for the verdict
};
const char* ClosedWord(Affected verdict);  // "fixed", "open", "not proven"

struct BugReplayPlan {
  std::string version;             // of the build
  int times = 10;                  // fewest replays that close a bug
  int most_times = 60;             // limits ReplaysToClose, but not below `times`
  int jobs = 2;                    // processes at a time
  std::vector<std::string> flags;  // JVM flags, appended to those of the bug
  std::string provider;            // library for bugs whose walker comes from one; may be empty
  std::string scratch;             // see ChildSetup
  std::function<bool()> stop;      // polled; true ends the replays; may be empty
};

// Returns the requests of the bug for the JDK feature version `feature`. A request in a folder
// whose name ends with "jdkN", such as regressions/jdk17, names stack slots of JDK N, and is for N
// only.
std::vector<BugRequest> RequestsFor(const Bug& bug, int feature);

// Replays the requests, each `times` times, until one shows the bug or plan.stop() is true. Returns
// the tally of that request. If there is none, prefers the first request whose replays cannot close
// the bug: they show another finding, lack names, or were not walked. Otherwise returns the last
// tally. Fails with kBadInput if a request is not .walk text.
Result<ReplayTally> ReplayBug(const Bug& bug, const Jdk& jdk, int times, const BugReplayPlan& plan);

// Judges whether the build of this version, whose replays gave `tally`, has the known issue.
BugReplay JudgeIssue(const Bug& bug, const std::string& version, ReplayTally tally);

// Returns how many replays without the bug close it. With so many, at most 1 % of such verdicts are
// wrong, given how often the bug's own build showed it. At least plan.times, whatever
// plan.most_times is. If plan.most_times limits the number, JudgeReplays does not close the bug.
int ReplaysToClose(const Bug& bug, const BugReplayPlan& plan);

// Judges whether a build whose replays gave `tally` closes the bug. The verdict kNo requires all of
// these:
// - The bug's own build showed it in replays.
// - At least ReplaysToClose() replays were walked, and none shows the bug or another finding.
// - This JVM has all names that the request uses.
// - The build is newer than each build on which the bug was seen.
BugReplay JudgeReplays(const Bug& bug, const BugReplayPlan& plan, ReplayTally tally);

// Records the verdict of JudgeReplays in the bug: kNo closes it. `build`: the build of the replays,
// and when they ran.
void NoteReplay(const BugReplay& replay, const Seen& build, const Day& today, Bug& bug);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_BUILDS_BUG_REPLAY_H_
