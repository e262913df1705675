// SPDX-License-Identifier: Apache-2.0
// The statistics of the gate: tests on counts that vary more than those of independent walks
// (overdispersion). docs/explanation/gate-statistics.md says what each is for, and where it comes
// from. Pure functions. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_GATE_STATISTICS_H_
#define WALKHAMMER_REPORTS_GATE_STATISTICS_H_

#include <cstdint>
#include <span>
#include <vector>

namespace walkhammer {

// One period of one run: how many of `walks` had what is counted.
struct PeriodCount {
  double events = 0, walks = 0;
  PeriodCount operator+(const PeriodCount& more) const {
    return {events + more.events, walks + more.walks};
  }
};
using RunCounts = std::vector<PeriodCount>;  // of one run, in order
using SideCounts = std::vector<RunCounts>;   // of the runs of one side
PeriodCount SumOf(const SideCounts& side);

// An estimate, with `degrees` of freedom, of a variance as a multiple of that of independent events
// (Poisson).
struct Dispersion {
  double factor = 1;
  double degrees = 0;  // 0: nothing is known, and `factor` is 1; infinite: `factor` is exact
};

// From period to period within runs (Pearson's statistic over its degrees of freedom). Periods that
// follow each other are alike, so the same is estimated from groups of neighbouring periods (batch
// means), and the larger of both counts.
Dispersion WithinRuns(const SideCounts& baseline, const SideCounts& candidate);
// From run to run within sides, as a multiple of `within`. 0 degrees if no side has two runs.
Dispersion BetweenRuns(const SideCounts& baseline, const SideCounts& candidate,
                       const Dispersion& within);

// The mean of estimate and prior, weighted by their degrees of freedom (shrinkage). The estimate
// itself, if it is so much higher that the prior does not hold for it (Phipson and others 2016).
Dispersion Moderated(const Dispersion& estimate, const Dispersion& prior);

// Whether the rate of one side is higher than that of another.
struct RateTest {
  double p = 1;              // of a ratio of at most `margin`, one-sided
  double ratio = 1;          // candidate's rate by baseline's; infinite: the baseline has none
  double low = 0, high = 0;  // confidence interval of the ratio, 95 %
};
// `margin`: ratio up to which a rise does not count, at least 1. The conditional test of two
// Poisson rates (Przyborowski and Wilenski 1940) on counts divided by `dispersion`, with a t
// distribution's tail instead of the normal one's.
RateTest CompareRates(const PeriodCount& baseline, const PeriodCount& candidate,
                      const Dispersion& dispersion, double margin);

// A value for each period, such as the mean logarithm of the walks' times.
using RunValues = std::vector<double>;
using SideValues = std::vector<RunValues>;
struct MeanTest {
  double p = 1;              // of a difference of at most `margin`, one-sided
  double difference = 0;     // candidate's mean minus baseline's
  double low = 0, high = 0;  // confidence interval of the difference, 95 %
};
// Mean of the values of all periods, and their number.
struct Means {
  double mean = 0, periods = 0;
};
Means MeansOf(const SideValues& side);
// Variance of a period's value within runs, estimated as WithinRuns does.
Dispersion VarianceWithin(const SideValues& baseline, const SideValues& candidate);
// As a multiple of that.
Dispersion BetweenRuns(const SideValues& baseline, const SideValues& candidate);
MeanTest CompareMeans(const SideValues& baseline, const SideValues& candidate,
                      const Dispersion& between, double margin);

// P-values adjusted for multiple tests (Holm 1979): if all that are below a limit count as
// differences, the chance of any false alarm is at most the limit.
std::vector<double> Holm(std::span<const double> p);

// Upper bound of the rate, with confidence 95 %, if `trials` had `events` (Clopper and Pearson
// 1934). Without an event: about 3 / trials. Without trials: 1.
double UpperBound(uint64_t events, uint64_t trials);

// Chance that `events` periods, drawn from `baseline + candidate` periods, are all of the candidate
// (Fisher's exact test). 0 if `events` is greater than `candidate`.
double AllInCandidate(uint64_t events, uint64_t baseline, uint64_t candidate);

// How far the distributions over codes differ. `distance`: the total variation, which is half the
// sum of absolute differences of shares. `noise`: its mean if the runs (groups of periods, if a
// side has fewer than 3 runs) are assigned to the sides at random.
struct Distance {
  double distance = 0, noise = 0;
};
// First index: code. All have the same runs and periods.
Distance CompareDistributions(const std::vector<SideCounts>& baseline,
                              const std::vector<SideCounts>& candidate);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_GATE_STATISTICS_H_
