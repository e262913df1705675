// SPDX-License-Identifier: Apache-2.0
#include "reports/change_points.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <optional>
#include <vector>

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

// Fits changes to one series. A step or a stretch takes constant time, by running sums.
class Fitter {
 public:
  explicit Fitter(std::span<const SeriesPoint> series) : series_(series) {
    double y = 0;
    for (const SeriesPoint& point : series) {
      weights_ += 1 / point.variance;
      y += point.value / point.variance;
    }
    mean_ = y / weights_;
    sums_.push_back({0, 0});
    for (const SeriesPoint& point : series) {
      const double weight = 1 / point.variance, dy = point.value - mean_;
      sums_.push_back({sums_.back().weight + weight, sums_.back().xy + weight * dy});
      squares_ += weight * dy * dy;
    }
  }

  size_t points() const { return series_.size(); }

  ChangeFit Of(ChangeFit fit) const {
    const Sums sums = fit.drift ? OfDrift(fit) : OfStep(fit);
    fit.precision = sums.weight;
    fit.slope = fit.precision > 0 ? sums.xy / fit.precision : 0;
    fit.squares = std::max(0.0, squares_ - fit.slope * sums.xy);
    return fit;
  }

 private:
  struct Sums {
    double weight = 0;  // of the squares of the regressor about its mean, or of points
    double xy = 0;
  };

  Sums OfStep(const ChangeFit& fit) const {
    const double weight = sums_[fit.end].weight - sums_[fit.first].weight;
    return {weight * (1 - weight / weights_), sums_[fit.end].xy - sums_[fit.first].xy};
  }

  Sums OfDrift(const ChangeFit& fit) const {
    double x = 0;
    for (size_t i = fit.first; i < fit.end; i++) x += Regressor(fit, i) / series_[i].variance;
    x /= weights_;
    Sums sums;
    for (size_t i = 0; i < series_.size(); i++) {
      const double weight = 1 / series_[i].variance, dx = Regressor(fit, i) - x;
      sums.weight += weight * dx * dx;
      sums.xy += weight * dx * (series_[i].value - mean_);
    }
    return sums;
  }

  std::span<const SeriesPoint> series_;
  double weights_ = 0, mean_ = 0;
  double squares_ = 0;      // weighted, about the mean
  std::vector<Sums> sums_;  // of the points before each one
};

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
  explicit BestFit(const Fitter& fitter) : fitter_(fitter) {}

  void Try(size_t first, size_t end, bool drift) {
    const ChangeFit fit = fitter_.Of({first, end, drift});
    tried_++;
    if (fit.precision > 0 && (!best_ || fit.squares < best_->squares)) best_ = fit;
  }
  // nullopt: it is not clear enough.
  std::optional<ChangeFit> Clear(const ChangeLimits& limits) {
    if (!best_) return std::nullopt;
    best_->p = ChanceOf(*best_, fitter_.points(), tried_, limits.degrees);
    const double change = best_->slope * Regressor(*best_, best_->end - 1);
    if (best_->p >= limits.alpha || std::abs(change) < limits.least) return std::nullopt;
    return best_;
  }

 private:
  const Fitter& fitter_;
  std::optional<ChangeFit> best_;
  size_t tried_ = 0;
};

// The clearest step or drift; else the clearest stretch that is different from what is before and
// after it, as a step does not tell it.
std::optional<ChangeFit> BestChange(std::span<const SeriesPoint> series,
                                    const ChangeLimits& limits) {
  const size_t end = series.size();
  if (end < 2 * kFewestBeside) return std::nullopt;
  const Fitter fitter(series);
  BestFit lasting(fitter), passing(fitter);
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
