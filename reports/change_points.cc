// SPDX-License-Identifier: Apache-2.0
#include "reports/change_points.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <optional>

#include "reports/gate_statistics.h"

namespace walkhammer {
namespace {

constexpr size_t kMostStretched = 120;  // newest points among which stretches are looked for

// A weighted fit of a level and of a change that holds from `first` on, up to `end`.
struct ChangeFit {
  size_t first = 0, end = 0;
  bool drift = false;
  double slope = 0;      // change by unit of the regressor
  double squares = 0;    // weighted, of what is left
  double precision = 0;  // 1 / variance of `slope`, for variances as believed
  double p = 1;          // see ChangePoint
};

// How far the change has got at a point.
double Regressor(const ChangeFit& fit, size_t point) {
  if (point < fit.first || point >= fit.end) return 0;
  return fit.drift ? static_cast<double>(point - fit.first + 1) : 1;
}

ChangeFit FitOf(std::span<const SeriesPoint> series, ChangeFit fit) {
  double weights = 0, x = 0, y = 0;
  for (size_t i = 0; i < series.size(); i++) {
    const double weight = 1 / series[i].variance;
    weights += weight;
    x += weight * Regressor(fit, i);
    y += weight * series[i].value;
  }
  x /= weights;
  y /= weights;
  double xy = 0, yy = 0;
  for (size_t i = 0; i < series.size(); i++) {
    const double weight = 1 / series[i].variance, dx = Regressor(fit, i) - x,
                 dy = series[i].value - y;
    fit.precision += weight * dx * dx;
    xy += weight * dx * dy;
    yy += weight * dy * dy;
  }
  fit.slope = fit.precision > 0 ? xy / fit.precision : 0;
  fit.squares = std::max(0.0, yy - fit.slope * xy);
  return fit;
}

// Chance that the best of `tried` fits is as clear as this in a steady series.
double ChanceOf(const ChangeFit& fit, size_t points, size_t tried, double degrees) {
  const auto free = static_cast<double>(points) - 3;  // level, change, place
  const Dispersion found = Moderated({fit.squares / free, free}, {1, degrees});
  const double error = std::sqrt(std::max(1.0, found.factor) / fit.precision);
  const boost::math::students_t expected(std::max(1.0, found.degrees));
  const double tail =
      boost::math::cdf(boost::math::complement(expected, std::abs(fit.slope) / error));
  return std::min(1.0, 2 * tail * static_cast<double>(tried));
}

// The fit that leaves least of all those of one kind.
class BestFit {
 public:
  explicit BestFit(std::span<const SeriesPoint> series) : series_(series) {}

  void Try(size_t first, size_t end, bool drift) {
    const ChangeFit fit = FitOf(series_, {first, end, drift});
    tried_++;
    if (fit.precision > 0 && (!best_ || fit.squares < best_->squares)) best_ = fit;
  }
  // nullopt: it is not clear enough.
  std::optional<ChangeFit> Clear(const ChangeLimits& limits) {
    if (!best_) return std::nullopt;
    best_->p = ChanceOf(*best_, series_.size(), tried_, limits.degrees);
    const double change = best_->slope * Regressor(*best_, best_->end - 1);
    if (best_->p >= limits.alpha || std::abs(change) < limits.least) return std::nullopt;
    return best_;
  }

 private:
  std::span<const SeriesPoint> series_;
  std::optional<ChangeFit> best_;
  size_t tried_ = 0;
};

// The clearest step or drift; else the clearest stretch that is different from what is before and
// after it, as a step does not tell it.
std::optional<ChangeFit> BestChange(std::span<const SeriesPoint> series,
                                    const ChangeLimits& limits) {
  const size_t end = series.size();
  if (end < 2 * kFewestBeside) return std::nullopt;
  BestFit lasting(series), passing(series);
  for (size_t i = kFewestBeside; i + kFewestBeside <= end; i++) lasting.Try(i, end, false);
  for (size_t i = 1; i + 2 * kFewestBeside <= end; i++) lasting.Try(i, end, true);
  if (const auto fit = lasting.Clear(limits)) return fit;
  const size_t from = end > kMostStretched ? end - kMostStretched : 0;
  for (size_t i = from + kFewestBeside; i + 2 * kFewestBeside <= end; i++)
    for (size_t to = i + kFewestBeside; to + kFewestBeside <= end; to++) passing.Try(i, to, false);
  return passing.Clear(limits);
}

void FindIn(std::span<const SeriesPoint> series, size_t offset, const ChangeLimits& limits,
            std::vector<ChangePoint>& changes) {
  const auto fit = BestChange(series, limits);
  if (!fit) return;
  const size_t first = fit->first, end = fit->end;
  FindIn(series.first(first), offset, limits, changes);
  changes.push_back({offset + first, fit->drift, fit->slope * Regressor(*fit, end - 1), fit->p});
  if (fit->drift) return;
  FindIn(series.subspan(first, end - first), offset + first, limits, changes);
  if (end == series.size()) return;
  changes.push_back({offset + end, false, -fit->slope, fit->p});
  FindIn(series.subspan(end), offset + end, limits, changes);
}

}  // namespace

std::vector<ChangePoint> FindChanges(std::span<const SeriesPoint> series,
                                     const ChangeLimits& limits) {
  std::vector<ChangePoint> changes;
  FindIn(series, 0, limits, changes);
  return changes;
}

}  // namespace walkhammer
