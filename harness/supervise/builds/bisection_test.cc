// SPDX-License-Identifier: Apache-2.0
// Bisection over synthetic histories.
#include "harness/supervise/builds/bisection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace walkhammer {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using Verdict = Bisection::Verdict;

// A history: a letter for each build, oldest first. B breaks in each replay, b in every third,
// . in none; x breaks otherwise than expected; u cannot walk, h walks every second replay.
class History {
 public:
  explicit History(std::string builds) : builds_(std::move(builds)), replays_(builds_.size()) {}

  Bisection Bisect(BisectPlan plan = {}) {
    std::vector<std::string> labels;
    for (size_t i = 0; i < builds_.size(); i++) labels.push_back("v" + std::to_string(i));
    return walkhammer::Bisect(labels, plan, [this](size_t build, int times, bool until_broken) {
      return Replay(build, times, until_broken);
    });
  }
  int replays(size_t build) const { return replays_[build]; }
  size_t asked() const {
    return static_cast<size_t>(
        std::count_if(replays_.begin(), replays_.end(), [](int count) { return count > 0; }));
  }

 private:
  Probe Replay(size_t build, int times, bool until_broken) {
    Probe probe;
    for (int i = 0; i < times; i++) {
      const char kind = builds_[build];
      const int number = replays_[build]++;
      if (kind == 'u' || (kind == 'h' && number % 2 == 1)) {
        probe.reason = "no such scene";
        continue;
      }
      probe.walked++;
      if (kind != 'B' && kind != 'x' && !(kind == 'b' && number % 3 == 2)) continue;
      probe.broken++;
      if (kind != 'x') probe.reproduced++;
      if (until_broken) break;
    }
    probe.outcomes = {{"crash", probe.broken}};
    return probe;
  }

  std::string builds_;
  std::vector<int> replays_;
};

BisectPlan Fix() {
  BisectPlan plan;
  plan.fix = true;
  return plan;
}
BisectPlan Quick(BisectPlan plan = {}) {
  plan.all = false;
  return plan;
}

TEST(BisectionTest, FindsTheFirstThatBreaksAtEachPlace) {
  for (size_t first = 1; first < 9; first++) {
    History history(std::string(first, '.') + std::string(9 - first, 'B'));
    const Bisection found = history.Bisect();
    EXPECT_EQ(found.verdict, Verdict::kPair);
    EXPECT_THAT(found.pair, Pair(first - 1, first));
    EXPECT_THAT(found.changes, ElementsAre(Pair(first - 1, first)));
  }
}

TEST(BisectionTest, FindsTheFirstThatDoesNotBreakAtEachPlace) {
  for (size_t first = 1; first < 9; first++) {
    History history(std::string(first, 'B') + std::string(9 - first, '.'));
    const Bisection found = history.Bisect(Fix());
    EXPECT_EQ(found.verdict, Verdict::kPair);
    EXPECT_THAT(found.pair, Pair(first - 1, first));
  }
}

TEST(BisectionTest, FindsThePair) {
  const struct {
    const char* builds;
    bool fix;
    size_t before, after;
    const char* why = "";
  } kCases[] = {
      {".B", false, 0, 1, "two builds are enough"},
      {"B.", true, 0, 1, "two builds are enough"},
      {"BB..xx.", true, 1, 2, "a pair that breaks as expected is better than a newer one"},
      {"xx..BB.", true, 5, 6},
      {".BB.xx", false, 0, 1},
      {".xx.BB", false, 3, 4},
      {".xx.xx", false, 3, 4},
      {"...B..", false, 2, 3, "breaks between clean ends"},
      {"...B..", true, 3, 4},
      {"BB.BB", false, 2, 3, "clean builds between broken ends"},
      {"BB.BB", true, 1, 2},
      {"BB..BB.", false, 3, 4, "the newest build that begins to break"},
      {"BB..BB.", true, 5, 6, "the newest build that ceases to break"},
  };
  for (const auto& [builds, fix, before, after, why] : kCases) {
    const Bisection found = History(builds).Bisect(fix ? Fix() : BisectPlan{});
    EXPECT_EQ(found.verdict, Verdict::kPair) << builds;
    EXPECT_THAT(found.pair, Pair(before, after)) << builds << " " << why;
  }
}

TEST(BisectionTest, HalvesAndLeavesTheRestAloneIfToldTo) {
  History history(std::string(50, '.') + std::string(50, 'B'));
  const Bisection found = history.Bisect(Quick());
  EXPECT_THAT(found.pair, Pair(49U, 50U));
  EXPECT_LE(history.asked(), 10U);
  History whole(std::string(10, '.') + std::string(10, 'B'));
  EXPECT_THAT(whole.Bisect().pair, Pair(9U, 10U));
  EXPECT_EQ(whole.asked(), 20U);
}

TEST(BisectionTest, NoBuildBreaks) {
  for (const BisectPlan& plan : {BisectPlan{}, Fix()}) {
    History history("..u.");
    const Bisection found = history.Bisect(plan);
    EXPECT_EQ(found.verdict, Verdict::kAllClean);
    EXPECT_TRUE(found.changes.empty());
    for (const size_t build : {0, 1, 3}) EXPECT_GE(history.replays(build), 10);
  }
}

TEST(BisectionTest, EachBuildBreaks) {
  for (const BisectPlan& plan : {BisectPlan{}, Fix()}) {
    const Bisection found = History("BuBBx").Bisect(plan);
    EXPECT_EQ(found.verdict, Verdict::kAllBroken);
    EXPECT_TRUE(found.changes.empty());
  }
  EXPECT_EQ(History("B").Bisect().verdict, Verdict::kAllBroken);
}

TEST(BisectionTest, NoBuildCanWalk) {
  EXPECT_EQ(History("uuu").Bisect().verdict, Verdict::kUnable);
  EXPECT_EQ(History("").Bisect().verdict, Verdict::kUnable);
}

TEST(BisectionTest, SkipsWhatCannotWalkAndSaysSo) {
  const Bisection found = History("u.uuu.uuBu").Bisect();
  EXPECT_EQ(found.verdict, Verdict::kPair);
  EXPECT_THAT(found.pair, Pair(5U, 8U));
  for (const size_t build : {0, 2, 3, 4, 6, 7, 9})
    EXPECT_EQ(found.builds[build].state, BuildState::kUnable) << build;
  EXPECT_THAT(found.log,
              Contains(HasSubstr("v6 is skipped, only 0 of 3 replays could be walked: no "
                                 "such scene")));
}

TEST(BisectionTest, ReplaysAgainWhatCouldNotBeWalkedEachTime) {
  const Bisection found = History("h.B").Bisect();
  EXPECT_THAT(found.pair, Pair(1U, 2U));
  EXPECT_EQ(found.builds[0].state, BuildState::kClean);
  EXPECT_GE(found.builds[0].probe.walked, 3);
}

TEST(BisectionTest, AFlakyBugWantsMoreReplays) {
  History sure("....BBBB"), flaky("....bbbb");
  const Bisection of_sure = sure.Bisect(), of_flaky = flaky.Bisect();
  EXPECT_THAT(of_sure.pair, Pair(3U, 4U));
  EXPECT_THAT(of_flaky.pair, Pair(3U, 4U));
  EXPECT_EQ(of_sure.times, 3);
  EXPECT_GT(of_flaky.times, 15);
  EXPECT_LT(of_flaky.times, 60);
  EXPECT_LE(of_flaky.most_missed, 0.01);
  EXPECT_GE(flaky.replays(3), 2 * of_flaky.times) << "the clean side has twice the replays";
  EXPECT_THAT(of_flaky.log, Contains(HasSubstr("breaks in 3 of 10 replays, so")));
}

TEST(BisectionTest, SaysHowOftenItIsWrongWhereReplaysAreLimited) {
  BisectPlan plan;
  plan.most_times = 4;
  const Bisection found = History("....bbbb").Bisect(plan);
  EXPECT_EQ(found.times, 4);
  EXPECT_GT(found.most_missed, 0.2);
}

TEST(BisectionTest, ACleanSideThatBreaksLaterMovesThePair) {
  std::vector<int> replays(4);
  // Build 1 breaks at its fifth replay only.
  const Bisection found = Bisect({"v0", "v1", "v2", "v3"}, {}, [&](size_t build, int times, bool) {
    Probe probe;
    for (int i = 0; i < times; i++) {
      probe.walked++;
      const int number = ++replays[build];
      if (build >= 2 || (build == 1 && number == 5)) probe.broken++;
    }
    probe.reproduced = probe.broken;
    return probe;
  });
  EXPECT_EQ(found.verdict, Verdict::kPair);
  EXPECT_THAT(found.pair, Pair(0U, 1U));
  EXPECT_EQ(found.builds[1].state, BuildState::kBroken);
}

TEST(BisectionTest, TellsAHistoryThatIsNotMonotone) {
  // Broken, fixed, broken again, fixed again.
  const Bisection begins = History("BB..BB.").Bisect();
  EXPECT_THAT(begins.changes, ElementsAre(Pair(1U, 2U), Pair(3U, 4U), Pair(5U, 6U)));
  EXPECT_THAT(begins.log, Contains(HasSubstr("v0 breaks already")));
  EXPECT_EQ(History("BB..BB.").Bisect(Fix()).changes.size(), 3U);
  EXPECT_THAT(History("...B..").Bisect().changes, ElementsAre(Pair(2U, 3U), Pair(3U, 4U)));
}

TEST(BisectionTest, TheDirectionThatDoesNotHappenHasNoPair) {
  EXPECT_EQ(History("BB..").Bisect().verdict, Verdict::kAllBroken);
}

TEST(BisectionTest, AnyCrashCounts) {
  const Bisection found = History("..xB").Bisect();
  EXPECT_THAT(found.pair, Pair(1U, 2U));
  EXPECT_THAT(found.log, Contains(HasSubstr("v2 breaks, differently than expected")));
  EXPECT_THAT(found.log, Contains(HasSubstr("v3 breaks: 1 x crash")));
}

TEST(BisectionTest, EachLineOfTheLogIsTold) {
  std::vector<std::string> told;
  BisectPlan plan;
  plan.tell = [&](const std::string& line) { told.push_back(line); };
  const Bisection found = History("..BB").Bisect(plan);
  EXPECT_EQ(told, found.log);
  EXPECT_FALSE(told.empty());
}

TEST(BisectionTest, StopsWhenItIsToldTo) {
  int asked = 0;
  BisectPlan plan;
  plan.stop = [&] { return ++asked > 4; };
  const Bisection found = History("....BBBB").Bisect(plan);
  EXPECT_EQ(found.verdict, Verdict::kStopped);
}

TEST(BisectionTest, BoundsAProbabilityFromBelow) {
  EXPECT_EQ(LeastProbability(0, 10), 0);
  EXPECT_EQ(LeastProbability(0, 0), 0);
  EXPECT_NEAR(LeastProbability(10, 10), 0.787, 0.001);
  EXPECT_NEAR(LeastProbability(5, 10), 0.270, 0.005);
  EXPECT_GT(LeastProbability(1, 10), 0);
  EXPECT_LT(LeastProbability(1, 10), 0.1);
  EXPECT_LT(LeastProbability(10, 10), LeastProbability(100, 100));
}

}  // namespace
}  // namespace walkhammer
