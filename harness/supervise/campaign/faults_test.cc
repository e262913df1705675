// SPDX-License-Identifier: Apache-2.0
// A campaign whose n-th system call fails, for each n: a disk that is full from then on or for a
// moment, a process or thread that cannot be made, a signal. Its children have no JVM.
#include "harness/process/testing/faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <set>
#include <string>

#include "harness/store/record_testing.h"
#include "harness/supervise/campaign/fuzz_run.h"
#include "harness/supervise/fake_child_testing.h"

namespace walkhammer {
namespace {

constexpr char kLife[] = "running walk crash=1 walked done";
constexpr char kTitle[] = "crash in walkhammer::Planted";

class FaultsTest : public testing::Test {
 protected:
  // What became of a run of which a call failed.
  struct Outcome {
    Status status = Ok();
    std::set<std::string> shown, kept;  // titles of buckets
    int calls = 0;                      // of the kind
  };

  Outcome Run(FaultKind kind, int at, int every) {
    TemporaryFolder dir;
    ScratchFolder scratch;
    FuzzPlan plan;
    plan.coverage = false;
    plan.confirm_times = 0;
    plan.child = FakeChildren(scratch, {kLife});
    const std::atomic<bool> interrupted{false};
    Outcome outcome;
    ArmFault(kind, at, every);
    {
      auto db = RunWriter::Create(dir.Under("run"), TestIdentity());
      if (db.ok()) {
        FuzzRun run(plan, db.value());
        run.sink().on_bucket = [&](const BucketRow& bucket) {
          outcome.shown.insert(bucket.signature.title);
        };
        outcome.status = run.Run(interrupted);
      } else {
        outcome.status = db.failure();
        EXPECT_FALSE(std::filesystem::exists(dir.Under("run/run.db"))) << at;
      }
    }
    outcome.calls = DisarmFault();
    if (auto db = RunReader::Open(dir.Under("run")); db.ok()) {
      const auto buckets = db.value().Buckets();
      EXPECT_TRUE(buckets.ok()) << at;
      if (buckets.ok())
        for (const BucketRow& bucket : buckets.value()) outcome.kept.insert(bucket.signature.title);
    }
    return outcome;
  }

  // Runs with each call of the kind failing in turn; `judge` sees each outcome.
  void ForEachCall(FaultKind kind, int every, const std::function<void(const Outcome&)>& judge) {
    int at = 1;
    for (;; at++) {
      const Outcome outcome = Run(kind, at, every);
      SCOPED_TRACE("call " + std::to_string(at) + (every == 1 ? " and all later ones" : ""));
      for (const std::string& title : outcome.shown)
        EXPECT_EQ(outcome.kept.count(title), 1u) << "shown, but lost: " << title;
      for (const std::string& title : outcome.kept)
        EXPECT_EQ(title, kTitle) << "an accident became a finding";
      if (!outcome.status.ok()) {
        EXPECT_NE(outcome.status.failure().message, "");
        EXPECT_NE(outcome.status.failure().code, ExitCode::kClean);
        EXPECT_NE(outcome.status.failure().code, ExitCode::kFindings);
      }
      judge(outcome);
      if (outcome.calls < at) break;
    }
    EXPECT_GT(at, 1) << "vacuous: no call failed";
    RecordProperty("calls", at - 1);
  }
};

TEST_F(FaultsTest, WithoutAFaultTheFindingIsThere) {
  const Outcome outcome = Run(FaultKind::kNone, 1, 0);
  EXPECT_TRUE(outcome.status.ok());
  EXPECT_EQ(outcome.shown, (std::set<std::string>{kTitle}));
  EXPECT_EQ(outcome.kept, outcome.shown);
}

TEST_F(FaultsTest, ADiskThatIsFullFromSomeWriteOnEndsTheRunWithTheReason) {
  ForEachCall(FaultKind::kDiskFull, 1, [](const Outcome& outcome) {
    // The last call may be one that nothing depends on.
    if (!outcome.status.ok()) {
      EXPECT_THAT(
          outcome.status.failure().message,
          testing::AnyOf(testing::HasSubstr("full"), testing::HasSubstr("No space"),
                         testing::HasSubstr("check the disk"), testing::HasSubstr("cannot")));
    }
  });
}

TEST_F(FaultsTest, ADiskThatIsFullForAMomentLosesNothingUnseen) {
  ForEachCall(FaultKind::kDiskFull, 0, [](const Outcome& outcome) {
    if (outcome.status.ok()) {
      EXPECT_EQ(outcome.kept.size(), 1u);
    }
  });
}

TEST_F(FaultsTest, WhatCannotBeStartedIsNoFinding) {
  for (const int every : {0, 1}) ForEachCall(FaultKind::kNoProcess, every, [](const Outcome&) {});
}

// What is interrupted is tried again, so that all calls have their turn in few runs.
TEST_F(FaultsTest, SignalsInCallsChangeNothing) {
  for (const int every : {2, 3, 7})
    for (int at = 1; at <= every; at++) {
      const Outcome outcome = Run(FaultKind::kInterrupted, at, every);
      EXPECT_GT(outcome.calls, 100);
      EXPECT_TRUE(outcome.status.ok()) << outcome.status.failure().message;
      EXPECT_EQ(outcome.kept, (std::set<std::string>{kTitle}));
      EXPECT_EQ(outcome.kept, outcome.shown);
    }
}

}  // namespace
}  // namespace walkhammer
