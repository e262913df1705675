// SPDX-License-Identifier: Apache-2.0
// Bisect finds the two builds, in a list in the order of their versions, between which a request
// starts or stops breaking. Replays are flaky, and some builds cannot walk the request: how
// reliably the request breaks determines how often a build is replayed. Independent of JDKs: the
// caller replays. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_BUILDS_BISECTION_H_
#define WALKHAMMER_HARNESS_SUPERVISE_BUILDS_BISECTION_H_

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace walkhammer {

// What replays on one build showed.
struct Probe {
  int walked = 0;      // replays that were walked
  int broken = 0;      // of these, replays that broke
  int reproduced = 0;  // of these, replays that broke as the request's `expect` says
  std::map<std::string, int> outcomes;  // ReplayTally::outcomes
  std::string reason;                   // why the others could not be walked
};

// Replays the request on the build of this index `times` times; with `until_broken`, the first that
// breaks is the last.
using ProbeBuild = std::function<Probe(size_t build, int times, bool until_broken)>;

enum class BuildState { kNotAsked, kClean, kBroken, kUnable };

struct BisectedBuild {
  std::string label;
  BuildState state = BuildState::kNotAsked;
  Probe probe;  // the sum of all its probes; `reason` of the last
};

struct BisectPlan {
  bool fix = false;            // looks for the first build that does not break
  int measure_times = 10;      // replays that measure how reliably the request breaks
  int most_times = 60;         // most replays before a build is called clean
  bool all = true;             // at the end, also replays the builds that the search did not need
  std::function<bool()> stop;  // polled between probes; may be empty
  std::function<void(const std::string&)> tell;  // gets each line of the log; may be empty
};

struct Bisection {
  enum class Verdict {
    kPair,       // `pair` is it
    kAllClean,   // no build breaks
    kAllBroken,  // each build breaks
    kUnable,     // no build could walk the request
    kStopped     // by the plan's `stop`
  };
  Verdict verdict = Verdict::kStopped;
  std::vector<BisectedBuild> builds;
  // Older and newer build. One breaks; the other, by the direction, does not. No build that could
  // walk lies between them.
  std::pair<size_t, size_t> pair;
  // Adjacent builds, of those that were asked and could walk, with different verdicts. More than
  // one pair: the history is not monotone.
  std::vector<std::pair<size_t, size_t>> changes;
  int times = 0;  // clean replays that are needed to call a build clean
  double most_missed =
      1;  // at most this part of such verdicts is wrong, by the reliability measured
  std::vector<std::string> log;  // each decision, one line
};

// Bisects builds with these labels, oldest first.
Bisection Bisect(const std::vector<std::string>& labels, const BisectPlan& plan,
                 const ProbeBuild& probe);

// A lower bound of the probability of an event that was seen `seen` times of `times`: Wilson's, of
// 95 %, one-sided. 0 if `seen` is 0.
double LeastProbability(int seen, int times);

// Returns how many clean replays in a row are needed to call a build clean, so that at most 1 % of
// such verdicts are wrong if a replay breaks with probability `least` or more. From 2 up to 10^9,
// which stands for `least` of 0.
int CleanReplays(double least);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_BUILDS_BISECTION_H_
