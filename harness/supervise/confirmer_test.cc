// SPDX-License-Identifier: Apache-2.0
// Confirmer: what counts as the same finding. Its replays have no JVM.
#include "harness/supervise/confirmer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "harness/base/testing/fails_with.h"
#include "harness/request/text_form.h"
#include "harness/supervise/fake_child_testing.h"

namespace walkhammer {
namespace {

class ConfirmerTest : public testing::Test {
 protected:
  Result<ReplayOutcome> ReplayLife(const std::string& life) {
    return Replay({Text(), "test"}, SetupOf({life}));
  }
  // The one finding of a replay that does `life`.
  Signature SignatureOfLife(const std::string& life) {
    auto outcome = ReplayLife(life);
    EXPECT_TRUE(outcome.ok());
    if (!outcome.ok() || outcome.value().findings.size() != 1) return {};
    return outcome.value().findings[0].signature;
  }
  // What comes of five replays that do `lives` in turn, of an input that expects `expect`.
  Candidate Confirm(const std::string& expect, const std::vector<std::string>& lives,
                    int candidates = 1) {
    Confirmer confirmer(SetupOf(lives), 100, 5, std::chrono::milliseconds(1));
    for (int i = 0; i < candidates; i++)
      EXPECT_TRUE(confirmer.Add(1, {Text(), expect, i, static_cast<size_t>(i)}));
    EXPECT_EQ(confirmer.Best(1), nullptr) << "before its first replay";
    const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!confirmer.Idle() && std::chrono::steady_clock::now() < late) {
      confirmer.Step(1);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_TRUE(confirmer.Idle());
    EXPECT_EQ(confirmer.Unconfirmed(), 0u) << "no replays are left";
    unwalked_ = confirmer.unwalked();
    why_unwalked_ = confirmer.why_unwalked();
    return confirmer.Best(1) == nullptr ? Candidate{} : *confirmer.Best(1);
  }

  uint64_t unwalked_ = 0;  // by the last Confirm()
  std::string why_unwalked_;

 private:
  static std::string Text() {
    auto symbols = NewSymbolTable();
    return ToText({WalkRequest{}, "", OwnPlatform().arch}, *symbols);
  }
  ChildSetup SetupOf(const std::vector<std::string>& lives) {
    scratch_ = std::make_unique<ScratchFolder>();
    return FakeChildren(*scratch_, lives);
  }
  std::unique_ptr<ScratchFolder> scratch_;
};

std::string Shown(const Candidate& candidate) {
  return std::to_string(candidate.reproduced) + " of " + std::to_string(candidate.tries);
}

constexpr char kCrashesAtOne[] = "running walk crash=1 walked done";
constexpr char kCrashesAtTwo[] = "running walk crash=2 walked done";

TEST_F(ConfirmerTest, TheSameCrashIsConfirmed) {
  const Signature one = SignatureOfLife(kCrashesAtOne);
  ASSERT_EQ(one.expect, "crash walkhammer::Planted(int)+0x1");
  const Candidate candidate = Confirm(one.expect, {kCrashesAtOne});
  EXPECT_EQ(Shown(candidate), "5 of 5");
}

TEST_F(ConfirmerTest, AReplayThatIsKilledFromOutsideShowsNoDeath) {
  EXPECT_THAT(ReplayLife("running walk signal=9"),
              FailsWith(ExitCode::kUnable, testing::HasSubstr("killed from outside")));
  EXPECT_THAT(
      ReplayLife("running walk " + HsErrOfSignalBy(4711) + " signal=6"),
      FailsWith(ExitCode::kUnable, testing::HasSubstr("from outside by SIGSEGV of pid 4711")));
  const auto found = Must(ReplayLife("running walk crash=1 signal=9"));
  ASSERT_EQ(found.findings.size(), 1u) << "what it found before counts";
  EXPECT_EQ(found.findings[0].signature.expect, "crash walkhammer::Planted(int)+0x1");
  // Others are deaths: by another signal, and of a JVM that has written why it dies.
  for (const char* life : {"running walk signal=6", "running walk hs_err=x signal=9"}) {
    const auto died = Must(ReplayLife(life));
    ASSERT_EQ(died.findings.size(), 1u) << life;
    EXPECT_EQ(died.findings[0].oracle, "survival") << life;
  }
}

TEST_F(ConfirmerTest, AReplayThatCouldNotBeWalkedIsNoMiss) {
  const Signature one = SignatureOfLife(kCrashesAtOne);
  for (const char* accident : {"say=no-scene unable", "say=no-boot failed", "exit=1",
                               "running walk signal=9", "running overrun done"}) {
    const Candidate candidate = Confirm(
        one.expect, {accident, kCrashesAtOne, kCrashesAtOne, accident, accident, kCrashesAtOne});
    EXPECT_EQ(Shown(candidate), "5 of 5") << accident;
    EXPECT_EQ(unwalked_, 3u) << accident;
  }
  Confirm(one.expect, {kCrashesAtOne});
  EXPECT_EQ(unwalked_, 0u);
  EXPECT_EQ(why_unwalked_, "");
}

TEST_F(ConfirmerTest, WhatCannotBeWalkedThriceInARowIsGivenUp) {
  const Signature one = SignatureOfLife(kCrashesAtOne);
  const Candidate never = Confirm(one.expect, {"say=no-scene unable"});
  EXPECT_EQ(never.tries, 0) << "it is not replayed, and no miss";
  EXPECT_EQ(unwalked_, static_cast<uint64_t>(kMostUnwalked));
  EXPECT_EQ(why_unwalked_, "no-scene");
  const Candidate once = Confirm(one.expect, {kCrashesAtOne, "say=no-scene unable"});
  EXPECT_EQ(Shown(once), "1 of 1");
}

TEST_F(ConfirmerTest, TheNextInputIsTriedIfOneCannotBeWalked) {
  const Signature one = SignatureOfLife(kCrashesAtOne);
  const Candidate next =
      Confirm(one.expect, {"unable", "unable", "unable", kCrashesAtOne}, /*candidates=*/2);
  EXPECT_EQ(next.example, 1u);
  EXPECT_EQ(next.reproduced, 5);
}

// A crash elsewhere in the same function is another bug.
TEST_F(ConfirmerTest, AnotherCrashInTheSameFunctionIsNot) {
  const Signature one = SignatureOfLife(kCrashesAtOne), two = SignatureOfLife(kCrashesAtTwo);
  ASSERT_EQ(MatchesExpect(one.expect, two), Match::kFunction);
  const Candidate never = Confirm(one.expect, {kCrashesAtTwo});
  EXPECT_EQ(Shown(never), "0 of 1") << "one miss is enough";
  const Candidate once = Confirm(one.expect, {kCrashesAtOne, kCrashesAtTwo});
  EXPECT_EQ(Shown(once), "1 of 2");
}

}  // namespace
}  // namespace walkhammer
