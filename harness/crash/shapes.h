// SPDX-License-Identifier: Apache-2.0
// Shapes: what a walker may have met if it crashed in a given function: which kind of frame, and
// which of its words led nowhere. A crash report seldom shows these words, so each shape is an
// assumption. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CRASH_SHAPES_H_
#define WALKHAMMER_HARNESS_CRASH_SHAPES_H_

#include <string>
#include <vector>

#include "harness/crash/target.h"
#include "harness/crash/walk_text.h"
#include "harness/hs_err/crash_report.h"

namespace walkhammer {

// A value that a walker may have followed, and why it is likely.
struct BadValue {
  std::string value;  // in the form of .walk files
  std::string why;
  Confidence confidence = Confidence::kGuess;
};

// The values by the fault's address and code, the likeliest first; never empty.
std::vector<BadValue> BadValuesOf(const CrashReport& report);

struct ShapedWalk {
  std::string what;  // "an interpreted frame whose Method is bad"
  int fit = 0;       // percent: how well the shape goes with the function that crashed
  WalkText walk;
};

// All shapes with all values that suit them, for the walker; those with the best fit first.
std::vector<ShapedWalk> ShapesFor(const CrashReport& report, const CrashTarget& target,
                                  const std::string& walker);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CRASH_SHAPES_H_
