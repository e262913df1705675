// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/reproduce/candidate_replays.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/base/testing/fails_with.h"

namespace walkhammer {
namespace {

TEST(ReplaysFor, GivesNinetyFivePercentAndNotOneMore) {
  EXPECT_EQ(ReplaysFor(5, 5), 1);
  for (const int shown : {1, 2, 3, 4}) {
    const int replays = ReplaysFor(shown, 5);
    const double missed = 1 - shown / 5.0;
    EXPECT_LE(std::pow(missed, replays), 0.05) << shown;
    EXPECT_GT(std::pow(missed, replays - 1), 0.05) << shown;
  }
}

TEST(ReplaysFor, TakesNeverShownForShownOnce) {
  EXPECT_EQ(ReplaysFor(0, 5), ReplaysFor(1, 5));
  EXPECT_EQ(ReplaysFor(0, 1), 1);
}

TEST(WalkCandidates, OfNoneNothingIsWalked) {
  const auto outcome = Must(WalkCandidates({}, {}, {}, [] { return false; }));
  EXPECT_EQ(outcome.walked, 0);
  EXPECT_EQ(outcome.best.closeness, Closeness::kNone);
}

TEST(WalkCandidates, SaysThatACandidateIsMalformed) {
  const CrashCandidate candidate{"", 1, {}, "walk 1\nscene nowhere\n"};
  EXPECT_THAT(WalkCandidates({candidate}, {}, {}, [] { return false; }),
              FailsWith(ExitCode::kToolFailed));
}

}  // namespace
}  // namespace walkhammer
