// SPDX-License-Identifier: Apache-2.0
// BugCheck: whether a build has a known bug, by its version and by replays. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_BUILDS_BUG_CHECK_H_
#define WALKHAMMER_HARNESS_SUPERVISE_BUILDS_BUG_CHECK_H_

#include <functional>
#include <string>

#include "harness/findings/known_bugs.h"
#include "harness/jvm/images/jdk.h"
#include "harness/supervise/builds/replay_tally.h"

namespace walkhammer {

struct BugCheck {
  Affected by_version = Affected::kUnknown;
  ReplayTally tally;  // times 0: the bug has no replay
  Affected verdict = Affected::kUnknown;
  std::string why;  // what the verdict rests on
};

// The verdict on a build of this version whose replays showed `tally`.
BugCheck JudgeBug(const KnownBug& bug, const std::string& version, ReplayTally tally);

// Replays the bug's request `times` times on the JDK, with the bug's flags, and judges. `scratch`:
// see ChildSetup. `stop`: polled, true ends the replays. kBadInput: the bug's .walk is none.
Result<BugCheck> CheckBug(const KnownBug& bug, const Jdk& jdk, const std::string& scratch,
                          int times, int jobs, const std::function<bool()>& stop);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_BUILDS_BUG_CHECK_H_
