// SPDX-License-Identifier: Apache-2.0
// BugReplay: the requests of a bug, replayed on a build. For a known issue the question is whether
// the build has it; of a team's open bug, whether the build closes it. What closes a bug is
// evidence, not silence: see JudgeReplays. Signal-safe: no.
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
  // Whether the build has the bug. For a team's bug, kYes leaves it open, kNo closes it, and with
  // kUnknown it stays as it is.
  Affected verdict = Affected::kUnknown;
  Affected by_version = Affected::kUnknown;  // of a known issue
  ReplayTally tally;                         // times 0: there were no replays
  std::string why;                           // what the verdict rests on
};
const char* ClosedWord(Affected verdict);  // "fixed", "open", "not proven"

struct BugReplayPlan {
  std::string version;             // of the build
  int times = 10;                  // least replays
  int most_times = 60;             // most replays
  int jobs = 2;                    // processes at a time
  std::vector<std::string> flags;  // JVM flags, after those of the bug
  std::string provider;            // library for bugs that have one; may be empty
  std::string scratch;             // see ChildSetup
  std::function<bool()> stop;      // polled; true ends the replays
};

// Those requests of the bug that are for this feature version. A request in a folder whose name
// ends with "jdkN", such as regressions/jdk17, is for N alone: it names stack slots.
std::vector<BugRequest> RequestsFor(const Bug& bug, int feature);

// Replays the requests, each `times` times, until one shows the bug. Returns the tally of that
// request; else of the first that was not silent; else of the last. kBadInput: a request is not
// .walk text.
Result<ReplayTally> ReplayBug(const Bug& bug, const Jdk& jdk, int times, const BugReplayPlan& plan);

// Whether the build of this version, whose replays showed `tally`, has the issue.
BugReplay JudgeIssue(const Bug& bug, const std::string& version, ReplayTally tally);

// How many replays without the bug close it: enough that at most 1 % of such verdicts are wrong, by
// how often its own build showed it. At least `plan.times`, and not more than `plan.most_times`,
// which may be too few.
int ReplaysToClose(const Bug& bug, const BugReplayPlan& plan);

// Whether a build whose replays showed `tally` closes the bug. kNo needs all of: the bug's own
// build showed it in replays; none of enough replays shows it or another finding; each name of the
// request is one that this JVM has; and the build is newer than all those on which the bug was
// seen.
BugReplay JudgeReplays(const Bug& bug, const BugReplayPlan& plan, ReplayTally tally);

// Notes the verdict of JudgeReplays in the bug: kNo closes it. `build`: where, and when, it was
// replayed.
void NoteReplay(const BugReplay& replay, const Seen& build, const Day& today, Bug& bug);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_BUILDS_BUG_REPLAY_H_
