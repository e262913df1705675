// SPDX-License-Identifier: Apache-2.0
// Each statistic against values that were worked out by other means: manually, by exact sums, or by
// the references that docs/explanation/gate-statistics.md names.
#include "reports/gate_statistics.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace walkhammer {
namespace {

using testing::DoubleEq;
using testing::DoubleNear;
using testing::ElementsAre;

constexpr double kEndless = std::numeric_limits<double>::infinity();

RunCounts RunOf(std::initializer_list<double> events, double walks) {
  RunCounts run;
  for (const double count : events) run.push_back({count, walks});
  return run;
}

TEST(GateStatistics, HolmAsRDoes) {  // p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")
  const std::vector<double> p{0.01, 0.04, 0.03, 0.005};
  EXPECT_THAT(Holm(p), ElementsAre(DoubleEq(0.03), DoubleEq(0.06), DoubleEq(0.06), DoubleEq(0.02)));
  EXPECT_THAT(Holm(std::vector<double>{0.7, 0.9}), ElementsAre(1.0, 1.0));
  EXPECT_TRUE(Holm({}).empty());
}

TEST(GateStatistics, UpperBoundIsTheBinomialsOwn) {
  EXPECT_NEAR(UpperBound(0, 100), 1 - std::pow(0.05, 0.01), 1e-12);
  EXPECT_NEAR(UpperBound(3, 20), 0.343663804314, 1e-10);   // P(X <= 3) is 5 % there
  EXPECT_NEAR(UpperBound(0, 1'000'000) * 1e6, 3.0, 0.01);  // the rule of three
  EXPECT_EQ(UpperBound(5, 5), 1);
  EXPECT_EQ(UpperBound(0, 0), 1);
}

TEST(GateStatistics, AllInCandidateIsFishersTest) {
  EXPECT_NEAR(AllInCandidate(3, 10, 10), 10.0 / 20 * 9 / 19 * 8 / 18, 1e-15);
  EXPECT_EQ(AllInCandidate(0, 10, 10), 1);
  EXPECT_EQ(AllInCandidate(10, 0, 10), 1);
  EXPECT_EQ(AllInCandidate(11, 10, 10), 0);
}

TEST(GateStatistics, WithinRunsIsPearsons) {
  // 15 expected of each: (5 * 5 / 15 * 10) / 9
  const SideCounts side{RunOf({10, 20, 10, 20, 10, 20, 10, 20, 10, 20}, 1000)};
  const Dispersion one = WithinRuns(side, {});
  EXPECT_NEAR(one.factor, 50.0 / 27, 1e-12);
  EXPECT_EQ(one.degrees, 9);
  const Dispersion two = WithinRuns(side, side);
  EXPECT_NEAR(two.factor, 50.0 / 27, 1e-12);
  EXPECT_EQ(two.degrees, 18);
  EXPECT_EQ(WithinRuns({RunOf({7}, 1000)}, {}).degrees, 0);
}

TEST(GateStatistics, NeighboursThatAreAlikeCountAsFewer) {
  RunCounts alike, apart;
  for (int i = 0; i < 32; i++) {
    alike.push_back({i / 8 % 2 == 0 ? 10.0 : 20.0, 1000});
    apart.push_back({i % 2 == 0 ? 10.0 : 20.0, 1000});
  }
  EXPECT_GT(WithinRuns({alike}, {}).factor, 3 * WithinRuns({apart}, {}).factor);
  EXPECT_EQ(WithinRuns({alike}, {}).degrees, 7);
}

TEST(GateStatistics, BetweenRunsIsAMultipleOfWithin) {
  // The runs' 100 and 140 are 20 off of 120 each: 2 * 400 / 120.
  const SideCounts side{RunOf({50, 50}, 1000), RunOf({70, 70}, 1000)};
  const Dispersion between = BetweenRuns(side, {}, {2, 10});
  EXPECT_NEAR(between.factor, 800.0 / 120 / 2, 1e-12);
  EXPECT_EQ(between.degrees, 1);
  EXPECT_EQ(BetweenRuns({RunOf({50, 50}, 1000)}, {}, {2, 10}).degrees, 0);
}

TEST(GateStatistics, RatesCompareAsTheExactTest) {
  // P(X >= 20) of 30 fair throws.
  const RateTest test = CompareRates({10, 1e6}, {20, 1e6}, {1, kEndless}, 1);
  EXPECT_NEAR(test.p, 0.0493685734, 1e-9);
  EXPECT_NEAR(test.ratio, 2, 1e-12);
  // Clopper and Pearson's interval of 20 in 30, 0.4719 to 0.8271, as a ratio.
  EXPECT_NEAR(test.low, 0.4719 / 0.5281, 2e-3);
  EXPECT_NEAR(test.high, 0.8271 / 0.1729, 2e-2);
  EXPECT_GT(CompareRates({10, 1e6}, {20, 1e6}, {1, kEndless}, 1.5).p, 0.2);
  EXPECT_GT(CompareRates({20, 1e6}, {10, 1e6}, {1, kEndless}, 1).p, 0.9);
}

TEST(GateStatistics, OverdispersionAndFewDegreesMakeARiseLessSure) {
  const PeriodCount before{1000, 1e6}, now{1200, 1e6};
  const double sure = CompareRates(before, now, {1, kEndless}, 1).p;
  const double over = CompareRates(before, now, {4, kEndless}, 1).p;
  const double few = CompareRates(before, now, {4, 5}, 1).p;
  EXPECT_LT(sure, 1e-4);
  EXPECT_GT(over, 100 * sure);
  EXPECT_GT(few, 1.1 * over);
}

TEST(GateStatistics, RatesWithoutEventsOrWalks) {
  EXPECT_EQ(CompareRates({0, 1e6}, {0, 1e6}, {}, 1).p, 1);
  EXPECT_EQ(CompareRates({0, 0}, {5, 1e6}, {}, 1).p, 1);
  const RateTest fresh = CompareRates({0, 1e6}, {100, 1e6}, {1, kEndless}, 1.1);
  EXPECT_LT(fresh.p, 1e-20);
  EXPECT_EQ(fresh.ratio, kEndless);
  EXPECT_GT(fresh.low, 20);
  EXPECT_EQ(CompareRates({100, 1e6}, {0, 1e6}, {1, kEndless}, 1.1).p, 1);
  // No binomial count varies as much as a Poisson one: a share of one half, by half.
  EXPECT_LT(CompareRates({500, 1000}, {560, 1000}, {0.5, kEndless}, 1).p, 0.005);
}

TEST(GateStatistics, MeansCompareAsStudentsTest) {
  // Difference 3, pooled variance 1, t = 3.674 with 4 degrees: p = 0.010656.
  const MeanTest test = CompareMeans({{1, 2, 3}}, {{4, 5, 6}}, {1, kEndless}, 0);
  EXPECT_NEAR(test.p, 0.0106558, 1e-6);
  EXPECT_DOUBLE_EQ(test.difference, 3);
  EXPECT_NEAR(test.low, 3 - 2.776445 * std::sqrt(2.0 / 3), 1e-5);
  EXPECT_NEAR(CompareMeans({{1, 2, 3}}, {{4, 5, 6}}, {1, kEndless}, 3).p, 0.5, 1e-12);
  EXPECT_GT(CompareMeans({{1, 2, 3}}, {{4, 5, 6}}, {9, kEndless}, 0).p, 0.1);
  EXPECT_EQ(CompareMeans({{1}}, {{4}}, {}, 0).p, 1) << "nothing is known of the variance";
  EXPECT_EQ(CompareMeans({{}}, {{4, 5}}, {}, 0).p, 1);
}

TEST(GateStatistics, BetweenRunsOfMeans) {
  // Runs of means 2 and 6 are 2 off their mean: 3 * 4 * 2 over 1 degree; within, the variance is 1.
  const Dispersion between = BetweenRuns({{1, 2, 3}, {5, 6, 7}}, {{1, 2, 3}});
  EXPECT_NEAR(between.factor, 24, 1e-12);
  EXPECT_EQ(between.degrees, 1);
}

TEST(GateStatistics, ModeratedIsInBetween) {
  const Dispersion both = Moderated({4, 2}, {1, 6});
  EXPECT_DOUBLE_EQ(both.factor, (4 * 2 + 1 * 6) / 8.0);
  EXPECT_EQ(both.degrees, 8);
  EXPECT_EQ(Moderated({1, 0}, {3, 6}).factor, 3);
  EXPECT_EQ(Moderated({6, 2}, {3, kEndless}).factor, 3);
}

TEST(GateStatistics, APriorThatDoesNotHoldIsLeftOut) {
  // F with 2 and 6 degrees exceeds 10.92 with a chance of 1 %.
  EXPECT_EQ(Moderated({11, 2}, {1, 6}).degrees, 2);
  EXPECT_EQ(Moderated({10.8, 2}, {1, 6}).degrees, 8);
  EXPECT_EQ(Moderated({100, 2}, {3, kEndless}).factor, 100);
}

TEST(GateStatistics, DistancesLessWhatChanceGives) {
  // Codes 0 and 1, shares 0.9 and 0.1 against 0.8 and 0.2.
  const auto side = [](double failures) {
    RunCounts frames(32, {1000 - failures, 1000}), errors(32, {failures, 1000});
    return std::vector<SideCounts>{{frames}, {errors}};
  };
  const Distance far = CompareDistributions(side(100), side(200));
  EXPECT_NEAR(far.distance, 0.1, 1e-12);
  EXPECT_LT(far.noise, 0.05);
  const Distance same = CompareDistributions(side(100), side(100));
  EXPECT_NEAR(same.distance, 0, 1e-12);
  EXPECT_NEAR(same.noise, 0, 1e-12);
  EXPECT_EQ(CompareDistributions({}, {}).distance, 0);
}

}  // namespace
}  // namespace walkhammer
