// SPDX-License-Identifier: Apache-2.0
// What spares time in judging must not change a verdict. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_ORACLES_SHORTCUTS_TESTING_H_
#define WALKHAMMER_HARNESS_ORACLES_SHORTCUTS_TESTING_H_

#include <gtest/gtest.h>

#include "harness/oracles/observation.h"

namespace walkhammer {

// What `oracle` says of `seen`, which has no true_frames. Expects the same with true_frames, and
// that the oracle is asked if it has anything to say.
inline uint8_t JudgeBothWays(const Oracle& oracle, Observation seen, char* text, size_t size) {
  if (oracle.judge == nullptr) return 0;
  static const UnsafeCall kNone{};
  if (seen.unsafe_call == nullptr) seen.unsafe_call = &kNone;
  const uint8_t outcome = oracle.judge(seen, text, size);
  for (const bool compared : {false, true}) {
    if (compared) seen.true_frames = TrueFrames(seen.trace, seen.truth, seen.request->depth);
    char again[256] = "";
    EXPECT_EQ(oracle.judge(seen, again, sizeof again), outcome) << oracle.name;
    if (outcome == 0) continue;
    EXPECT_STREQ(again, text);
    const auto index = static_cast<size_t>(&oracle - AllOracles().data());
    EXPECT_NE(OraclesFor(FactsOf(seen)) >> index & 1, 0U) << oracle.name << " would not be asked";
  }
  return outcome;
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ORACLES_SHORTCUTS_TESTING_H_
