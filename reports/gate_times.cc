// SPDX-License-Identifier: Apache-2.0
// The check of how long walks took.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/base/numbers.h"
#include "reports/gate_checks.h"

namespace walkhammer {
namespace {

constexpr double kFewestTimes = 6;  // periods of each side
// How much runs of one build differ, as a share of how much the periods of a run do: measured, see
// docs/explanation/gate-statistics.md. It varies, so it counts as 4 degrees of freedom.
constexpr double kRunsOfPeriods = 0.55, kDegreesOfThat = 4;

struct TimeCase {
  const TimedWalks* walks;
  const SideValues *baseline, *candidate;
  Dispersion between;
  MeanTest slower, faster;
};

// "1.20 us -> 1.44 us (x1.20, 95 %: 1.17 to 1.23)"
std::string TimeText(const TimeCase& each) {
  const auto us = [](const SideValues& side) {
    return Rounded(std::exp(MeansOf(side).mean) / 1000);
  };
  return fmt::format("{} us -> {} us (x{}, 95 %: {} to {})", us(*each.baseline),
                     us(*each.candidate), Rounded(std::exp(each.slower.difference)),
                     Rounded(std::exp(each.slower.low)), Rounded(std::exp(each.slower.high)));
}

// What is believed of the variance between runs before they are looked at: where the machine's
// other work slows some periods, it slows some runs.
Dispersion BeliefOf(const TimeCase& each) {
  size_t runs = 0;
  for (const SideValues* side : {each.baseline, each.candidate})
    for (const RunValues& run : *side) runs += run.empty() ? 0 : 1;
  const double periods = MeansOf(*each.baseline).periods + MeansOf(*each.candidate).periods;
  const double of_period =
      std::sqrt(std::max(VarianceWithin(*each.baseline, *each.candidate).factor, 1e-12));
  return PriorOf({std::max(kTimeSpread.share, kRunsOfPeriods * of_period), kDegreesOfThat},
                 of_period * std::sqrt(static_cast<double>(runs) / periods));
}

std::vector<TimeCase> TimeCases(const GateSides& sides, GateVerdict& verdict) {
  std::vector<TimeCase> cases;
  for (const auto& [walks, values] : sides.baseline.times) {
    const auto at = sides.candidate.times.find(walks);
    if (at == sides.candidate.times.end()) continue;
    const double periods = std::min(MeansOf(values).periods, MeansOf(at->second).periods);
    NoteData(sides, walks.walker, walks.workload, periods / kFewestTimes, verdict);
    if (periods < kFewestTimes) {
      verdict.times.not_enough++;
      continue;
    }
    verdict.times.compared++;
    cases.push_back({&walks, &values, &at->second, BetweenRuns(values, at->second), {}, {}});
  }
  return cases;
}

}  // namespace

void CheckTimes(const GateSides& sides, GateVerdict& verdict) {
  const GatePolicy& policy = sides.policy;
  std::vector<TimeCase> cases = TimeCases(sides, verdict);
  const double margin = std::log(policy.time_ratio);
  std::vector<double> slower, faster;
  for (TimeCase& each : cases) {
    const Dispersion between = Moderated(each.between, BeliefOf(each));
    each.slower = CompareMeans(*each.baseline, *each.candidate, between, margin);
    each.faster = CompareMeans(*each.candidate, *each.baseline, between, margin);
    slower.push_back(each.slower.p);
    faster.push_back(each.faster.p);
  }
  slower = Holm(slower);
  faster = Holm(faster);
  for (size_t i = 0; i < cases.size(); i++) {
    const std::string what = cases[i].walks->Text();
    if (slower[i] < policy.alpha)
      AddChange({GateKind::kSlower, what, TimeText(cases[i]), slower[i]}, policy, verdict);
    if (faster[i] < policy.alpha && verdict.better.size() < kMostBetter)
      verdict.better.push_back(fmt::format("{}: {}", what, TimeText(cases[i])));
  }
}

}  // namespace walkhammer
