// SPDX-License-Identifier: Apache-2.0
// CandidateReplays: walks the candidates of a crash on one JDK, and says which of them shows the
// crash. Candidates for one scene share a process while that lives, so hundreds take seconds.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_REPRODUCE_CANDIDATE_REPLAYS_H_
#define WALKHAMMER_HARNESS_SUPERVISE_REPRODUCE_CANDIDATE_REPLAYS_H_

#include <functional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/crash/candidates.h"
#include "harness/crash/target.h"
#include "harness/supervise/child_process.h"

namespace walkhammer {

// What a request showed, as close to the target as it came.
struct Hit {
  Closeness closeness = Closeness::kNone;
  std::string expect;  // the signature of the finding
  std::string text;    // the request, in .walk form, without comments; its expect is the finding's
  std::string what;    // where the request comes from: "candidate 3: .."
  std::string source;  // whose input it is, in words
};

struct CandidateOutcome {
  Hit best;                         // closeness kNone and an empty text: nothing was found
  std::vector<std::string> others;  // signatures of other findings, distinct
  int walked = 0, unable = 0;       // candidates
  std::string unable_reason;        // of the last one
};

// Walks all candidates once, the best first, until one shows the target exactly or `stop` returns
// true. A failure means that this JDK can walk none.
Result<CandidateOutcome> WalkCandidates(const std::vector<CrashCandidate>& candidates,
                                        const CrashTarget& target, const ChildSetup& setup,
                                        const std::function<bool()>& stop);

// How often a request shows the target's function in fresh processes.
struct Reliability {
  int shown = 0, times = 0;
  bool measured() const { return times > 0; }
};

// Replays `hit` in fresh processes. First measures how reliable it is, by kFirstReplays of them,
// and then adds as many as it takes to see the crash once more with 95 % certainty, at most
// kMostReplays in all.
inline constexpr int kFirstReplays = 5, kMostReplays = 40;
Reliability MeasureReliability(const Hit& hit, const CrashTarget& target, const ChildSetup& setup,
                               const std::function<bool()>& stop);

// Replays that it takes to see an outcome of probability `shown` / `times` once, with 95 %
// certainty; `times` > 0. Never shown: as many as would show one of probability 1 / `times`.
int ReplaysFor(int shown, int times);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_REPRODUCE_CANDIDATE_REPLAYS_H_
