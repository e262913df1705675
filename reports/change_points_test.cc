// SPDX-License-Identifier: Apache-2.0
#include "reports/change_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "reports/gate_checks.h"

namespace walkhammer {
namespace {

constexpr double kAlpha = 0.003;  // the gate's
const double kLeast = std::log(1.02);

// A series of nights whose values differ from run to run as the gate believes: by `spread`, which
// itself is known as well as `degrees` say.
std::vector<SeriesPoint> MadeSeries(uint64_t seed, size_t nights, const Spread& spread,
                                    const std::function<double(size_t)>& level) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::chi_squared_distribution<double> chi(spread.degrees);
  const double within = 0.01;
  const double of_runs = spread.share * std::sqrt(spread.degrees / chi(random));
  std::vector<SeriesPoint> series;
  for (size_t i = 0; i < nights; i++)
    series.push_back({level(i) + of_runs * normal(random) + within * normal(random),
                      spread.share * spread.share + within * within});
  return series;
}

std::vector<ChangePoint> Changes(const std::vector<SeriesPoint>& series, const Spread& spread,
                                 double alpha = kAlpha) {
  return FindChanges(series, {spread.degrees, alpha, kLeast});
}

// Share of series in which `is_wrong` holds.
double Share(int seeds, const std::function<bool(uint64_t)>& is_wrong) {
  int wrong = 0;
  for (int seed = 1; seed <= seeds; seed++) wrong += is_wrong(static_cast<uint64_t>(seed)) ? 1 : 0;
  return static_cast<double>(wrong) / seeds;
}

const Spread kSpreads[] = {kCodeSpread, kLibraryCodeSpread, kSceneCodeSpread, kTimeSpread};

TEST(ChangePoints, SteadySeriesHaveNone) {
  for (const Spread& spread : kSpreads)
    for (const size_t nights : {8, 30, 90}) {
      const double alarms = Share(1000, [&](uint64_t seed) {
        return !Changes(MadeSeries(seed, nights, spread, [](size_t) { return 0.0; }), spread)
                    .empty();
      });
      RecordProperty("false alarms of spread " + std::to_string(spread.share) + ", nights " +
                         std::to_string(nights),
                     std::to_string(alarms));
      EXPECT_LE(alarms, kAlpha) << spread.share << " " << nights;
    }
}

TEST(ChangePoints, ADriftOfOnePercentAWeekIsFound) {
  const auto drift = [](size_t night) { return std::log(1.01) * static_cast<double>(night) / 7; };
  for (const Spread& spread : {kCodeSpread, kTimeSpread}) {
    double change = 0;
    const double missed = Share(200, [&](uint64_t seed) {
      // One of 1,000 series, of 12 weeks.
      const auto found = Changes(MadeSeries(seed, 84, spread, drift), spread, kAlpha / 1000);
      for (const ChangePoint& each : found) change += each.change / 200;
      return found.empty() || !found.back().drift;
    });
    EXPECT_LE(missed, 0.05) << spread.share;
    EXPECT_NEAR(change, std::log(1.01) * 12, 0.02) << spread.share;
  }
}

TEST(ChangePoints, TheFirstBadNightIsNamed) {
  const auto step = [](size_t night) { return night < 20 ? 0.0 : std::log(1.2); };
  const double wrong = Share(500, [&](uint64_t seed) {
    const auto found = Changes(MadeSeries(seed, 30, kCodeSpread, step), kCodeSpread);
    return found.size() != 1 || found[0].first != 20 || found[0].drift ||
           std::abs(found[0].change - std::log(1.2)) > 0.08;
  });
  EXPECT_LE(wrong, 0.05);
}

TEST(ChangePoints, WhatComesAndGoesIsTwoChanges) {
  const auto hump = [](size_t night) { return night >= 10 && night < 20 ? -0.3 : 0.0; };
  const auto found = Changes(MadeSeries(1, 30, kCodeSpread, hump), kCodeSpread);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].first, 10u);
  EXPECT_LT(found[0].change, 0);
  EXPECT_EQ(found[1].first, 20u);
  EXPECT_GT(found[1].change, 0);
}

TEST(ChangePoints, ABeginningOfADriftIsFoundNearIt) {
  const auto late = [](size_t night) {
    return night < 40 ? 0.0 : 0.005 * static_cast<double>(night - 39);
  };
  const auto found = Changes(MadeSeries(3, 80, kTimeSpread, late), kTimeSpread);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].drift);
  EXPECT_NEAR(static_cast<double>(found[0].first), 40, 8);
}

// A series that differs from night to night by more than believed corrects the belief.
TEST(ChangePoints, ARestlessSeriesHasNone) {
  const Spread restless{0.1, 30};
  const double alarms = Share(500, [&](uint64_t seed) {
    auto series = MadeSeries(seed, 40, restless, [](size_t) { return 0.0; });
    for (SeriesPoint& point : series)
      point.variance = kSceneCodeSpread.share * kSceneCodeSpread.share;
    return !FindChanges(series, {kSceneCodeSpread.degrees, kAlpha, kLeast}).empty();
  });
  EXPECT_LE(alarms, 0.01);
}

TEST(ChangePoints, OfFewNightsNothingIsSaid) {
  EXPECT_TRUE(Changes({}, kCodeSpread).empty());
  EXPECT_TRUE(Changes({{0, 1e-6}, {9, 1e-6}, {9, 1e-6}, {9, 1e-6}}, kCodeSpread).empty());
}

}  // namespace
}  // namespace walkhammer
