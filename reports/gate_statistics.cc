// SPDX-License-Identifier: Apache-2.0
#include "reports/gate_statistics.h"

#include <algorithm>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace walkhammer {
namespace {

namespace bm = boost::math;

constexpr double kEndless = std::numeric_limits<double>::infinity();
constexpr size_t kGroups = 8;  // of neighbouring periods, in a run that has twice as many periods
constexpr int kDeals = 100;    // of CompareDistributions
constexpr double kInterval = 0.95;
constexpr double kImplausible = 0.01;  // chance below which an estimate is not of its prior

double RateOf(const PeriodCount& count) { return count.walks > 0 ? count.events / count.walks : 0; }

PeriodCount SumOfRun(const RunCounts& run) {
  return std::accumulate(run.begin(), run.end(), PeriodCount{});
}

// Sums of neighbouring elements, in `groups` groups of about the same number.
template <typename T>
std::vector<T> InGroups(const std::vector<T>& all, size_t groups) {
  std::vector<T> sums(groups);
  for (size_t i = 0; i < all.size(); i++) {
    T& sum = sums[i * groups / all.size()];
    sum = sum + all[i];
  }
  return sums;
}

struct SquareSum {
  double squares = 0, degrees = 0;
  void Add(double square, double more) { squares += square, degrees += more; }
};

// Adds Pearson's statistic of a run's periods against the run's own rate.
void AddPearson(const RunCounts& run, double side_rate, SquareSum& sum) {
  const double rate = RateOf(SumOfRun(run));
  size_t walked = 0;
  double squares = 0;
  for (const PeriodCount& period : run) {
    if (period.walks <= 0) continue;
    walked++;
    squares += std::pow(period.events - rate * period.walks, 2) / (side_rate * period.walks);
  }
  if (walked > 1) sum.Add(squares, static_cast<double>(walked - 1));
}

Dispersion DispersionOf(const SquareSum& sum) {
  return sum.degrees > 0 ? Dispersion{sum.squares / sum.degrees, sum.degrees} : Dispersion{};
}

// Probability beyond `z` of a normal distribution, in one of Student's.
double HeavierTail(double p, double degrees) {
  if (p >= 0.5 || !std::isfinite(degrees)) return p;
  const double z = bm::quantile(bm::complement(bm::normal(), std::max(p, 1e-300)));
  return bm::cdf(bm::complement(bm::students_t(std::max(degrees, 1.0)), z));
}

// Quantile of Student's distribution for an interval of kInterval.
double IntervalQuantile(double degrees) {
  const double upper = (1 + kInterval) / 2;
  return std::isfinite(degrees) ? bm::quantile(bm::students_t(std::max(degrees, 1.0)), upper)
                                : bm::quantile(bm::normal(), upper);
}

}  // namespace

PeriodCount SumOf(const SideCounts& side) {
  PeriodCount sum;
  for (const RunCounts& run : side) sum = sum + SumOfRun(run);
  return sum;
}

Dispersion WithinRuns(const SideCounts& baseline, const SideCounts& candidate) {
  SquareSum single, grouped;
  for (const SideCounts* side : {&baseline, &candidate}) {
    const double rate = RateOf(SumOf(*side));
    if (rate <= 0) continue;
    for (const RunCounts& run : *side) {
      AddPearson(run, rate, single);
      if (run.size() >= 2 * kGroups) AddPearson(InGroups(run, kGroups), rate, grouped);
    }
  }
  const Dispersion by_period = DispersionOf(single), by_group = DispersionOf(grouped);
  return by_group.degrees > 0 && by_group.factor > by_period.factor ? by_group : by_period;
}

Dispersion BetweenRuns(const SideCounts& baseline, const SideCounts& candidate,
                       const Dispersion& within) {
  SquareSum sum;
  for (const SideCounts* side : {&baseline, &candidate}) {
    RunCounts runs;
    for (const RunCounts& run : *side) runs.push_back(SumOfRun(run));
    const double rate = RateOf(SumOf(*side));
    if (rate > 0) AddPearson(runs, rate, sum);
  }
  Dispersion between = DispersionOf(sum);
  if (between.degrees > 0 && within.factor > 0) between.factor /= within.factor;
  return between;
}

Dispersion Moderated(const Dispersion& estimate, const Dispersion& prior) {
  if (estimate.degrees <= 0) return prior;
  const bm::fisher_f expected(estimate.degrees, std::min(prior.degrees, 1e6));
  if (bm::cdf(bm::complement(expected, estimate.factor / prior.factor)) < kImplausible)
    return estimate;
  if (!std::isfinite(prior.degrees)) return prior;
  const double degrees = estimate.degrees + prior.degrees;
  return {(estimate.factor * estimate.degrees + prior.factor * prior.degrees) / degrees, degrees};
}

RateTest CompareRates(const PeriodCount& baseline, const PeriodCount& candidate,
                      const Dispersion& dispersion, double margin) {
  RateTest test;
  if (baseline.walks <= 0 || candidate.walks <= 0 || baseline.events + candidate.events <= 0)
    return test;
  const double before = RateOf(baseline), now = RateOf(candidate);
  test.ratio = before > 0 ? now / before : kEndless;
  // Binomial counts vary less than Poisson's, by the share of walks without the event.
  const double least = std::max(0.05, 1 - RateOf(baseline + candidate));
  const double factor = std::max(dispersion.factor, least);
  const double a = baseline.events / factor, b = candidate.events / factor;
  const double share = margin * candidate.walks / (margin * candidate.walks + baseline.walks);
  test.p = b > 0 ? HeavierTail(bm::ibeta(b, a + 1, share), dispersion.degrees) : 1;
  // The interval of the share of events that are the candidate's, as one of the ratio.
  const double tail = bm::cdf(bm::complement(bm::normal(), IntervalQuantile(dispersion.degrees)));
  const auto ratio_of = [&](double part) {
    return part >= 1 ? kEndless : part / (1 - part) * baseline.walks / candidate.walks;
  };
  test.low = b > 0 ? ratio_of(bm::ibeta_inv(b, a + 1, tail)) : 0;
  test.high = a > 0 ? ratio_of(bm::ibeta_inv(b + 1, a, 1 - tail)) : kEndless;
  return test;
}

Means MeansOf(const SideValues& side) {
  Means all;
  double sum = 0;
  for (const RunValues& run : side) {
    sum += std::accumulate(run.begin(), run.end(), 0.0);
    all.periods += static_cast<double>(run.size());
  }
  if (all.periods > 0) all.mean = sum / all.periods;
  return all;
}

namespace {

void AddSquares(const std::vector<double>& values, double weight, SquareSum& sum) {
  if (values.size() < 2) return;
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += weight * (value - mean) * (value - mean);
  sum.Add(squares, count - 1);
}

}  // namespace

Dispersion VarianceWithin(const SideValues& baseline, const SideValues& candidate) {
  SquareSum single, grouped;
  for (const SideValues* side : {&baseline, &candidate})
    for (const RunValues& run : *side) {
      AddSquares(run, 1, single);
      if (run.size() < 2 * kGroups) continue;
      const double size = static_cast<double>(run.size()) / kGroups;
      std::vector<double> means = InGroups(run, kGroups);
      const std::vector<double> sizes = InGroups(std::vector<double>(run.size(), 1.0), kGroups);
      for (size_t i = 0; i < kGroups; i++) means[i] /= sizes[i];
      AddSquares(means, size, grouped);
    }
  const Dispersion by_period = DispersionOf(single), by_group = DispersionOf(grouped);
  return by_group.degrees > 0 && by_group.factor > by_period.factor ? by_group : by_period;
}

Dispersion BetweenRuns(const SideValues& baseline, const SideValues& candidate) {
  SquareSum sum;
  for (const SideValues* side : {&baseline, &candidate}) {
    const double mean = MeansOf(*side).mean;
    double squares = 0;
    size_t runs = 0;
    for (const RunValues& run : *side) {
      if (run.empty()) continue;
      const Means of_run = MeansOf({run});
      squares += of_run.periods * std::pow(of_run.mean - mean, 2);
      runs++;
    }
    if (runs > 1) sum.Add(squares, static_cast<double>(runs - 1));
  }
  Dispersion between = DispersionOf(sum);
  const Dispersion within = VarianceWithin(baseline, candidate);
  if (between.degrees > 0 && within.factor > 0) between.factor /= within.factor;
  return between;
}

MeanTest CompareMeans(const SideValues& baseline, const SideValues& candidate,
                      const Dispersion& between, double margin) {
  MeanTest test;
  const Means before = MeansOf(baseline), now = MeansOf(candidate);
  const Dispersion within = VarianceWithin(baseline, candidate);
  if (before.periods < 1 || now.periods < 1 || within.degrees <= 0) return test;
  const double degrees = std::min(within.degrees, between.degrees);
  const double error = std::sqrt(std::max(within.factor, 1e-12) * std::max(between.factor, 1.0) *
                                 (1 / before.periods + 1 / now.periods));
  test.difference = now.mean - before.mean;
  const double z = (test.difference - margin) / error;
  test.p = HeavierTail(bm::cdf(bm::complement(bm::normal(), z)), degrees);
  const double reach = IntervalQuantile(degrees) * error;
  test.low = test.difference - reach;
  test.high = test.difference + reach;
  return test;
}

std::vector<double> Holm(std::span<const double> p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double most = 0;
  for (size_t i = 0; i < order.size(); i++) {
    most = std::max(most, std::min(1.0, p[order[i]] * static_cast<double>(p.size() - i)));
    adjusted[order[i]] = most;
  }
  return adjusted;
}

double UpperBound(uint64_t events, uint64_t trials) {
  if (events >= trials) return 1;
  return bm::ibeta_inv(static_cast<double>(events) + 1, static_cast<double>(trials - events),
                       kInterval);
}

double AllInCandidate(uint64_t events, uint64_t baseline, uint64_t candidate) {
  double chance = 1;
  for (uint64_t i = 0; i < events && chance > 0; i++)
    chance *= i < candidate ? static_cast<double>(candidate - i) /
                                  static_cast<double>(baseline + candidate - i)
                            : 0;
  return chance;
}

namespace {

// Events by code of one thing that is dealt to a side: a run, or a group of periods.
using Hand = std::vector<double>;

std::vector<Hand> HandsOf(const std::vector<SideCounts>& codes, bool whole_runs) {
  std::vector<Hand> hands;
  const size_t runs = codes.empty() ? 0 : codes.front().size();
  for (size_t run = 0; run < runs; run++) {
    const size_t periods = codes.front()[run].size();
    const size_t groups = whole_runs ? std::min<size_t>(periods, 1) : std::min(periods, kGroups);
    const size_t first = hands.size();
    hands.resize(first + groups, Hand(codes.size()));
    for (size_t code = 0; code < codes.size() && groups > 0; code++) {
      const RunCounts sums = InGroups(codes[code][run], groups);
      for (size_t i = 0; i < groups; i++) hands[first + i][code] = sums[i].events;
    }
  }
  return hands;
}

// Total variation between the first `split` hands and the others.
double VariationOf(const std::vector<Hand>& hands, const std::vector<size_t>& order, size_t split) {
  Hand sums[2];
  double totals[2] = {};
  for (size_t i = 0; i < order.size(); i++) {
    const size_t side = i < split ? 0 : 1;
    const Hand& hand = hands[order[i]];
    sums[side].resize(hand.size());
    for (size_t code = 0; code < hand.size(); code++) {
      sums[side][code] += hand[code];
      totals[side] += hand[code];
    }
  }
  if (totals[0] <= 0 || totals[1] <= 0) return 0;
  double all = 0;
  for (size_t code = 0; code < sums[0].size(); code++)
    all += std::abs(sums[0][code] / totals[0] - sums[1][code] / totals[1]);
  return all / 2;
}

}  // namespace

Distance CompareDistributions(const std::vector<SideCounts>& baseline,
                              const std::vector<SideCounts>& candidate) {
  if (baseline.empty()) return {};
  const auto runs = [](const SideCounts& side) {
    return std::count_if(side.begin(), side.end(),
                         [](const RunCounts& run) { return !run.empty(); });
  };
  const bool whole_runs = std::min(runs(baseline.front()), runs(candidate.front())) >= 3;
  std::vector<Hand> hands = HandsOf(baseline, whole_runs);
  const size_t split = hands.size();
  const std::vector<Hand> others = HandsOf(candidate, whole_runs);
  hands.insert(hands.end(), others.begin(), others.end());
  std::vector<size_t> order(hands.size());
  std::iota(order.begin(), order.end(), size_t{0});
  Distance found{VariationOf(hands, order, split), 0};
  std::mt19937_64 random(1);
  for (int i = 0; i < kDeals; i++) {
    // std::shuffle's result is the library's own; this is the same everywhere.
    for (size_t k = order.size(); k > 1; k--) std::swap(order[k - 1], order[random() % k]);
    found.noise += VariationOf(hands, order, split) / kDeals;
  }
  return found;
}

}  // namespace walkhammer
