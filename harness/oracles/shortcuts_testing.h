// SPDX-License-Identifier: Apache-2.0
// What spares time in judging must not change a verdict. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_ORACLES_SHORTCUTS_TESTING_H_
#define WALKHAMMER_HARNESS_ORACLES_SHORTCUTS_TESTING_H_

#include <gtest/gtest.h>

#include <cstring>

#include "harness/oracles/observation.h"

namespace walkhammer {

// `seen` has no true_frames; the oracle judged it with `outcome`, and said `detail`.
inline void ExpectNoShortcutMatters(const Oracle& oracle, Observation seen, uint8_t outcome,
                                    const char* detail) {
  static const UnsafeCall kNone{};
  if (seen.unsafe_call == nullptr) seen.unsafe_call = &kNone;
  if (outcome != 0) {
    EXPECT_EQ(oracle.judged & ~FactsOf(seen), 0) << oracle.name << " would not be asked";
  }
  seen.true_frames = TrueFrames(seen.trace, seen.truth, seen.request->depth);
  if (outcome != 0) {
    EXPECT_EQ(oracle.judged & ~FactsOf(seen), 0) << oracle.name << " would not be asked";
  }
  char again[256] = "";
  EXPECT_EQ(oracle.judge(seen, again, sizeof again), outcome) << oracle.name;
  if (outcome != 0) {
    EXPECT_EQ(std::strncmp(again, detail, sizeof again), 0) << again;
  }
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ORACLES_SHORTCUTS_TESTING_H_
