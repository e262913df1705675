// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/builds/bisection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "harness/supervise/builds/replay_tally.h"

namespace walkhammer {
namespace {

constexpr double kMostMissed = 0.01;  // of the verdicts "clean"
constexpr int kRounds = 3;            // of replays, where some could not be walked

class Bisector {
 public:
  Bisector(const std::vector<std::string>& labels, const BisectPlan& plan, const ProbeBuild& probe)
      : plan_(plan), probe_(probe) {
    for (const std::string& label : labels) out_.builds.push_back({label, {}, {}});
  }

  Bisection Run() {
    if (Search() && plan_.all) {
      AskTheRest();
      ChoosePair();
    }
    if (Stopped()) out_.verdict = Bisection::Verdict::kStopped;
    FindChanges();
    return std::move(out_);
  }

 private:
  using Position = size_t;  // the search expects clean builds first, broken ones last

  size_t size() const { return out_.builds.size(); }
  size_t IndexOf(Position at) const { return plan_.fix ? size() - 1 - at : at; }
  BisectedBuild& At(Position at) { return out_.builds[IndexOf(at)]; }
  bool Stopped() const { return plan_.stop && plan_.stop(); }

  void Tell(const std::string& line) {
    out_.log.push_back(line);
    if (plan_.tell) plan_.tell(line);
  }

  void Replay(BisectedBuild& build, Position at, int times, bool until_broken) {
    const Probe probe = probe_(IndexOf(at), times, until_broken);
    build.probe.walked += probe.walked;
    build.probe.broken += probe.broken;
    build.probe.reproduced += probe.reproduced;
    for (const auto& [what, count] : probe.outcomes) build.probe.outcomes[what] += count;
    build.probe.reason = probe.reason;
  }

  // Replays on a build until one breaks or `times` more did not, and tells what came of it.
  BuildState Ask(Position at, int times, bool until_broken = true) {
    BisectedBuild& build = At(at);
    const int enough = build.probe.walked + times;
    const auto broken = [&] { return build.probe.broken > 0; };
    for (int round = 0; round < kRounds && build.probe.walked < enough && !Stopped(); round++) {
      if (until_broken && broken()) break;
      Replay(build, at, enough - build.probe.walked, until_broken);
      if (build.probe.walked == 0) break;
    }
    if (Stopped()) return build.state;
    if (broken()) {
      build.state = BuildState::kBroken;
      Tell(fmt::format("{} breaks{}: {}", build.label,
                       build.probe.reproduced == 0 ? ", differently than expected" : "",
                       OutcomeWords(build.probe.outcomes)));
    } else if (build.probe.walked >= enough) {
      build.state = BuildState::kClean;
      Tell(fmt::format("{} does not break: {}", build.label, OutcomeWords(build.probe.outcomes)));
    } else {
      build.state = BuildState::kUnable;
      Tell(fmt::format("{} is skipped, only {} of {} replays could be walked: {}", build.label,
                       build.probe.walked, enough, build.probe.reason));
    }
    return build.state;
  }

  // The last position, before `end`, whose build is in this state; asks those that were not asked.
  std::optional<Position> LastIn(BuildState wanted, Position end, int times) {
    for (Position at = end; at-- > 0 && !Stopped();) {
      BuildState state = At(at).state;
      if (state == BuildState::kNotAsked) state = Ask(at, times);
      if (state == wanted) return at;
    }
    return std::nullopt;
  }

  // Decides how many clean replays call a build clean, by how often the build at `bad` breaks.
  void Measure(Position bad) {
    BisectedBuild& build = At(bad);
    if (build.probe.walked < plan_.measure_times)
      Replay(build, bad, plan_.measure_times - build.probe.walked, false);
    const double least = LeastProbability(build.probe.broken, build.probe.walked);
    out_.times = std::min(CleanReplays(least), std::max(plan_.most_times, 2));
    out_.most_missed = std::pow(1 - least, out_.times);
    Tell(fmt::format(
        "{} breaks in {} of {} replays, so {} clean replays call a build clean; at "
        "most {:.1f} % of such verdicts are wrong",
        build.label, build.probe.broken, build.probe.walked, out_.times, 100 * out_.most_missed));
  }

  bool EndWith(Bisection::Verdict verdict) {
    out_.verdict = verdict;
    return verdict == Bisection::Verdict::kPair;
  }

  // True if it ends with a pair.
  bool Search() {
    const auto bad = LastIn(BuildState::kBroken, size(), plan_.measure_times);
    if (Stopped()) return false;
    if (!bad) {
      const bool any = std::any_of(out_.builds.begin(), out_.builds.end(), [](const auto& build) {
        return build.state == BuildState::kClean;
      });
      return EndWith(any ? Bisection::Verdict::kAllClean : Bisection::Verdict::kUnable);
    }
    Measure(*bad);
    Position high = *bad;
    std::optional<Position> low = FarClean(high);
    for (;;) {
      if (!low) low = LastIn(BuildState::kClean, high, out_.times);
      if (Stopped()) return false;
      if (!low) return EndWith(Bisection::Verdict::kAllBroken);
      Narrow(*low, high);
      if (Stopped()) return false;
      // The clean side of a pair has twice the replays.
      if (Ask(*low, out_.times) != BuildState::kBroken) break;
      high = *low;
      low.reset();
    }
    out_.pair = std::minmax({IndexOf(*low), IndexOf(high)});
    return EndWith(Bisection::Verdict::kPair);
  }

  // The first position that can walk, if its build is clean.
  std::optional<Position> FarClean(Position end) {
    for (Position at = 0; at < end && !Stopped(); at++) {
      const BuildState state = Ask(at, out_.times);
      if (state == BuildState::kClean) return at;
      if (state == BuildState::kBroken) {
        Tell(
            fmt::format("{} breaks already, so the history may not be monotone: each build is "
                        "replayed, beginning beside {}",
                        At(at).label, At(end).label));
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

  // Halves the distance of a clean and a broken position until nothing between them can walk.
  void Narrow(Position& low, Position& high) {
    while (!Stopped()) {
      const auto next = Middle(low, high);
      if (!next) return;
      const auto [older, newer] = std::minmax({IndexOf(low), IndexOf(high)});
      Tell(fmt::format("between {} and {}: {} is next", out_.builds[older].label,
                       out_.builds[newer].label, At(*next).label));
      const BuildState state = Ask(*next, out_.times);
      if (state == BuildState::kClean) low = *next;
      if (state == BuildState::kBroken) high = *next;
    }
  }

  // The position next to the middle, between the two, that is not known to be unable.
  std::optional<Position> Middle(Position low, Position high) {
    const auto middle = static_cast<std::ptrdiff_t>(low + (high - low) / 2);
    std::optional<Position> nearest;
    std::ptrdiff_t distance = 0;
    for (Position at = low + 1; at < high; at++) {
      if (At(at).state == BuildState::kUnable) continue;
      const std::ptrdiff_t off = std::abs(static_cast<std::ptrdiff_t>(at) - middle);
      if (!nearest || off < distance) {
        nearest = at;
        distance = off;
      }
    }
    return nearest;
  }

  void AskTheRest() {
    for (Position at = 0; at < size() && !Stopped(); at++)
      if (At(at).state == BuildState::kNotAsked) Ask(at, out_.times);
  }

  // Which of two pairs is the answer: one that breaks as expected, then the newer.
  std::pair<bool, size_t> Rank(const std::pair<size_t, size_t>& pair) const {
    const size_t broken = plan_.fix ? pair.first : pair.second;
    return {out_.builds[broken].probe.reproduced > 0, pair.first};
  }

  // Takes the best of the pairs of this direction, once all builds were asked.
  void ChoosePair() {
    while (!Stopped()) {
      FindChanges();
      std::optional<std::pair<size_t, size_t>> best;
      for (const auto& change : out_.changes) {
        const bool is_fix = out_.builds[change.first].state == BuildState::kBroken;
        if (is_fix == plan_.fix && (!best || Rank(*best) < Rank(change))) best = change;
      }
      if (!best || *best == out_.pair) return;
      out_.pair = *best;
      const size_t clean = plan_.fix ? best->second : best->first;
      Tell(
          fmt::format("of several such pairs, {} and {} are the newest that break as expected, or "
                      "the newest of all",
                      out_.builds[best->first].label, out_.builds[best->second].label));
      if (Ask(IndexOf(clean), out_.times) != BuildState::kBroken) return;
    }
  }

  void FindChanges() {
    out_.changes.clear();
    std::optional<size_t> last;
    for (size_t i = 0; i < size(); i++) {
      const BuildState state = out_.builds[i].state;
      if (state != BuildState::kClean && state != BuildState::kBroken) continue;
      if (last && out_.builds[*last].state != state) out_.changes.emplace_back(*last, i);
      last = i;
    }
  }

  const BisectPlan& plan_;
  const ProbeBuild& probe_;
  Bisection out_;
};

}  // namespace

double LeastProbability(int seen, int times) {
  if (seen == 0 || times == 0) return 0;
  constexpr double kZ = 1.645;  // of 95 %, one-sided
  const double n = times, p = seen / n, z2 = kZ * kZ;
  const double middle = p + z2 / (2 * n);
  const double reach = kZ * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n));
  return std::max(0.0, (middle - reach) / (1 + z2 / n));
}

int CleanReplays(double least) {
  constexpr double kMost = 1e9;
  if (least <= 0) return static_cast<int>(kMost);
  if (least >= 1) return 2;
  return static_cast<int>(
      std::clamp(std::ceil(std::log(kMostMissed) / std::log1p(-least)), 2.0, kMost));
}

Bisection Bisect(const std::vector<std::string>& labels, const BisectPlan& plan,
                 const ProbeBuild& probe) {
  return Bisector(labels, plan, probe).Run();
}

}  // namespace walkhammer
