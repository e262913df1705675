// SPDX-License-Identifier: Apache-2.0
// BugReplay: the request of a team's bug, replayed on a new build: is the bug still there, or can
// it be closed? What closes a bug is evidence, not silence: see JudgeReplays. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_BUILDS_BUG_REPLAY_H_
#define WALKHAMMER_HARNESS_SUPERVISE_BUILDS_BUG_REPLAY_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/bugs/bug.h"
#include "harness/jvm/images/jdk.h"
#include "harness/supervise/builds/replay_tally.h"

namespace walkhammer {

enum class BugReplayVerdict : uint8_t {
  kOpen,      // a replay showed it
  kFixed,     // enough replays did not show it, and its own build did
  kNotProven  // neither; the bug stays as it is
};
const char* BugReplayWord(BugReplayVerdict verdict);  // "open", "fixed", "not proven"

struct BugReplay {
  BugReplayVerdict verdict = BugReplayVerdict::kNotProven;
  ReplayTally tally;  // times 0: there were no replays
  std::string why;    // what the verdict rests on
};

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

// How many replays without the bug close it: enough that at most 1 % of such verdicts are wrong, by
// how often its own build showed it. At least `plan.times`, and not more than `plan.most_times`,
// which may be too few.
int ReplaysToClose(const Bug& bug, const BugReplayPlan& plan);

// The verdict on a build whose replays showed `tally`. kFixed wants all of: the bug's own build
// showed it in replays; none of enough replays shows it or another finding; each name of the
// request is one that this JVM has; and the build is newer than all those on which the bug was
// seen.
BugReplay JudgeReplays(const Bug& bug, const BugReplayPlan& plan, ReplayTally tally);

// Replays the bug on the JDK and judges. kBadInput: its request is no .walk text.
Result<BugReplay> ReplayBug(const Bug& bug, const Jdk& jdk, const BugReplayPlan& plan);

// Notes the verdict in the bug: kFixed closes it. `build`: where, and when, it was replayed.
void NoteReplay(const BugReplay& replay, const Seen& build, const Day& today, Bug& bug);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_BUILDS_BUG_REPLAY_H_
