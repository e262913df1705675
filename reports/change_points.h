// SPDX-License-Identifier: Apache-2.0
// Change points of a series: where its level begins to differ, at once or little by little. Each
// place is tried as the beginning of a step, of a drift and of a stretch, by weighted least
// squares; the dispersion is the gate's, a belief that the series itself may correct:
// docs/howto/nights.md. Pure. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_CHANGE_POINTS_H_
#define WALKHAMMER_REPORTS_CHANGE_POINTS_H_

#include <cstddef>
#include <span>
#include <vector>

namespace walkhammer {

struct SeriesPoint {
  double value = 0;     // such as the logarithm of a share or of a time
  double variance = 1;  // of this value, if nothing has changed: within a run and from run to run
};

struct ChangePoint {
  size_t first = 0;    // the first point that is different
  bool drift = false;  // else a step
  double change = 0;   // from before to the end of the change, which of a drift is the last point
  double p = 1;        // chance of a change as clear as this in a steady series
};

// Points on each side of a change, at the least.
inline constexpr size_t kFewestBeside = 3;

struct ChangeLimits {
  double degrees = 0;  // of freedom, of the belief in the variances
  double alpha = 0;    // chance of a false alarm
  double least = 0;    // changes that are smaller are none
};

// The changes of a series, in order.
std::vector<ChangePoint> FindChanges(std::span<const SeriesPoint> series,
                                     const ChangeLimits& limits);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_CHANGE_POINTS_H_
