// SPDX-License-Identifier: Apache-2.0
// Worker: who is to blame for a child's end, and what comes after it. Its children have no JVM.
#include "harness/supervise/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <thread>

#include "harness/base/testing/fails_with.h"
#include "harness/supervise/fake_child_testing.h"

namespace walkhammer {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using Clock = Worker::Clock;

class WorkerTest : public testing::Test {
 protected:
  // Children that live as FakeChildren has it.
  void Live(const std::vector<std::string>& lives) { Employ(FakeChildren(scratch_, lives)); }
  // The same under an engine that keeps children of its own.
  void LiveUnderEngine(const std::vector<std::string>& lives) {
    ChildSetup setup = FakeChildren(scratch_, lives);
    setup.keeps_children = true;
    setup.ask_to_stop = SIGINT;
    Employ(setup);
  }
  void Employ(const ChildSetup& setup) {
    worker_ = Must(Worker::Create(
        setup, 1, Clock::now(),
        [this](std::unique_ptr<Occurrence> seen) -> Result<int64_t> {
          seen_.push_back(std::move(seen));
          return 1;
        },
        limits_));
    ASSERT_TRUE(worker_->Start().ok());
  }
  // Steps until the worker has ended, or `enough`.
  Result<bool> StepUntil(const std::function<bool()>& enough, bool stop = false,
                         bool proven = false) {
    for (const Clock::time_point late = Clock::now() + seconds(60); Clock::now() < late;) {
      ASSIGN_OR_RETURN(const bool more, worker_->Step(stop, proven));
      if (!more || enough()) return more;
      std::this_thread::sleep_for(milliseconds(1));
    }
    ADD_FAILURE() << "nothing came of it";
    return false;
  }
  // Waits without a step, so that a child which the machine delays is not taken for one that is
  // stuck.
  static void Await(const std::function<bool()>& come) {
    for (const Clock::time_point late = Clock::now() + seconds(60); Clock::now() < late;) {
      if (come()) return;
      std::this_thread::sleep_for(milliseconds(1));
    }
    ADD_FAILURE() << "nothing came of it";
  }
  Result<bool> StepToEnd(bool stop = false, bool proven = false) {
    return StepUntil([] { return false; }, stop, proven);
  }
  void ExpectCleanEnd(bool stop = false, bool proven = false) {
    ExpectOver(StepToEnd(stop, proven));
  }
  static void ExpectOver(const Result<bool>& more) { EXPECT_FALSE(Must(more)); }
  uint32_t crashing_inputs() { return worker_->state().crashing.count.load(); }

  ScratchFolder scratch_;
  WorkerLimits limits_{.retry_after = milliseconds(10), .retry_at_most = milliseconds(80)};
  std::vector<std::unique_ptr<Occurrence>> seen_;
  std::unique_ptr<Worker> worker_;
};

TEST_F(WorkerTest, ADeathInAWalkIsThatRequests) {
  Live({"running walk walked input=7 walk signal=6", "running walk walked done"});
  ExpectCleanEnd();
  ASSERT_EQ(seen_.size(), 1u);
  EXPECT_TRUE(seen_[0]->is_death);
  EXPECT_TRUE(seen_[0]->has_request);
  EXPECT_THAT(seen_[0]->record.signature.title, HasSubstr("by signal 6"));
  EXPECT_EQ(worker_->counts().died, 1u);
  EXPECT_EQ(worker_->counts().started, 2u);
  EXPECT_EQ(worker_->counts().killed, 0u);
  EXPECT_EQ(worker_->counts().failed_starts, 0u);
  ASSERT_EQ(crashing_inputs(), 1u);
  EXPECT_EQ(worker_->state().crashing.hashes[0], 7u);
  EXPECT_EQ(worker_->state().job.first_walk, 3u) << "after the one that killed it";
}

TEST_F(WorkerTest, ADeathBetweenWalksIsNoRequests) {
  Live({"running walk walked exit=3", "running done"});
  ExpectCleanEnd();
  ASSERT_EQ(seen_.size(), 1u);
  EXPECT_TRUE(seen_[0]->is_death);
  EXPECT_FALSE(seen_[0]->has_request);
  EXPECT_EQ(worker_->counts().died, 1u);
  EXPECT_EQ(crashing_inputs(), 0u);
}

TEST_F(WorkerTest, AKillFromOutsideIsNobodysFinding) {
  Live({"running walk walked input=7 walk signal=9", "running walk walked done"});
  ExpectCleanEnd();
  EXPECT_EQ(seen_.size(), 0u);
  EXPECT_EQ(worker_->counts().killed, 1u);
  EXPECT_EQ(worker_->killer(), "SIGKILL (was the memory full?)");
  EXPECT_EQ(worker_->counts().died, 0u);
  EXPECT_EQ(worker_->counts().started, 2u);
  EXPECT_EQ(crashing_inputs(), 0u) << "the input is innocent";
  EXPECT_EQ(worker_->state().walks.load(), 2u);
}

TEST_F(WorkerTest, ASignalOfAnotherProcessIsNobodysFinding) {
  Live({"running walk walked input=7 walk " + HsErrOfSignalBy(4711) + " signal=6",
        "running walk walked done"});
  ExpectCleanEnd();
  EXPECT_EQ(seen_.size(), 0u);
  EXPECT_EQ(worker_->counts().killed, 1u);
  EXPECT_EQ(worker_->killer(), "SIGSEGV of pid 4711");
  EXPECT_EQ(crashing_inputs(), 0u) << "the input is innocent";
  std::filesystem::remove_all(scratch_.path() + "/lives");
  Live({"running walk " + HsErrOfSignalBy(1) + " signal=6", "running walk walked done"});
  ExpectCleanEnd();
  EXPECT_EQ(seen_.size(), 1u) << "the JVM's own signal";
}

TEST_F(WorkerTest, AJvmThatWasDyingAlreadyIsAFinding) {
  Live({"running walk hs_err=SIGSEGV signal=9", "running done"});
  ExpectCleanEnd();
  ASSERT_EQ(seen_.size(), 1u);
  EXPECT_EQ(seen_[0]->hs_err, "SIGSEGV");
  EXPECT_EQ(worker_->counts().killed, 0u);
}

TEST_F(WorkerTest, AKillByOurselvesIsAFinding) {
  limits_.stuck_after = milliseconds(300);
  Live({"running walk walked input=7 walk sleep", "running done"});
  const Journal& journal = worker_->state().journal;
  Await([&] { return journal.sequence.load() == 2 && journal.Blames(); });
  ASSERT_TRUE(StepUntil([&] { return worker_->counts().started == 2; }).ok());
  Await([&] { return worker_->state().phase.load() == ChildPhase::kDone; });
  ExpectCleanEnd();
  ASSERT_EQ(seen_.size(), 1u);
  EXPECT_TRUE(seen_[0]->has_request);
  EXPECT_THAT(seen_[0]->record.signature.title, HasSubstr("by signal 9"));
  EXPECT_EQ(worker_->counts().killed, 0u);
  EXPECT_EQ(worker_->counts().died, 1u);
  EXPECT_EQ(crashing_inputs(), 1u);
}

TEST_F(WorkerTest, ARetiredChildHasASuccessorAndIsNoFinding) {
  Live({"running input=7 walk walked retired", "running done"});
  ExpectCleanEnd();
  EXPECT_EQ(seen_.size(), 0u);
  EXPECT_EQ(worker_->counts().retired, 1u);
  EXPECT_EQ(worker_->counts().died, 0u);
  EXPECT_EQ(crashing_inputs(), 1u);
  EXPECT_EQ(worker_->state().job.first_walk, 2u);
}

// Neither the killer again, nor one too few.
TEST_F(WorkerTest, ADeathInTheStartMovesNothing) {
  Live({"running walk walked walk signal=6", "exit=1", "exit=1", "running done"});
  ExpectCleanEnd();
  EXPECT_EQ(worker_->state().job.first_walk, 3u);
  EXPECT_EQ(seen_.size(), 1u);
  EXPECT_EQ(worker_->counts().died, 3u);
}

TEST_F(WorkerTest, UnableAtTheFirstStartEndsTheRun) {
  Live({"say=no-such-scene flood=200000 print=last-words unable"});
  EXPECT_THAT(StepToEnd(), FailsWith(ExitCode::kUnable,
                                     testing::AllOf(HasSubstr("no-such-scene | it printed: ..."),
                                                    EndsWith("last-words\n"))))
      << "the end says why";
  EXPECT_EQ(worker_->counts().failed_starts, 0u);
}

TEST_F(WorkerTest, UnableAtALaterStartIsTriedAgain) {
  Live({"running walk walked retired", "say=no-memory unable", "say=no-threads failed",
        "running walk walked done"});
  ExpectCleanEnd();
  EXPECT_EQ(worker_->counts().failed_starts, 2u);
  EXPECT_EQ(worker_->counts().started, 4u);
  EXPECT_THAT(worker_->why_not_started(), HasSubstr("no-threads"));
  EXPECT_EQ(worker_->state().walks.load(), 2u);
  EXPECT_EQ(seen_.size(), 0u);
}

TEST_F(WorkerTest, OneThatFailsAfterWalksHasASuccessorThatGoesOn) {
  Live({"running walk walked walk walked say=no-safepoint failed", "running done"});
  ExpectCleanEnd();
  EXPECT_EQ(worker_->state().job.first_walk, 3u);
  EXPECT_EQ(worker_->counts().failed_starts, 1u);
}

TEST_F(WorkerTest, UnableIsAnAccidentWhereAnotherWorkerHasWalked) {
  Live({"say=no-memory unable", "running done"});
  ExpectCleanEnd(false, /*proven=*/true);
  EXPECT_EQ(worker_->counts().failed_starts, 1u);
}

TEST_F(WorkerTest, AProcessThatCannotBeMadeIsTriedAgain) {
  ChildSetup setup = FakeChildren(scratch_, {"running walk walked exit=1", "running done"});
  setup.scratch = scratch_.path() + "/logs";
  std::filesystem::create_directory(setup.scratch);
  Employ(setup);
  std::filesystem::remove_all(setup.scratch);
  const auto failed_twice = [&] { return worker_->counts().failed_starts >= 2; };
  ASSERT_TRUE(StepUntil(failed_twice).ok());
  EXPECT_THAT(worker_->why_not_started(), HasSubstr("cannot write"));
  std::filesystem::create_directory(setup.scratch);
  ExpectCleanEnd();
  EXPECT_EQ(worker_->counts().started, 2u);
}

TEST_F(WorkerTest, FailedStartsBecomeRarer) {
  constexpr uint32_t kFailures = 14;  // 82 s if the pauses were doubled without end
  Live({"running walk walked retired", "unable"});
  std::vector<Clock::duration> pauses;
  uint32_t failed = 0;
  Clock::time_point before_step = Clock::now(), before_failure;
  const auto note = [&] {
    const Worker::Counts& counts = worker_->counts();
    const Clock::time_point now = Clock::now();
    if (counts.failed_starts != failed) before_failure = before_step;
    failed = counts.failed_starts;
    if (counts.started > pauses.size() + 2) pauses.push_back(now - before_failure);
    before_step = now;
    return failed == kFailures;
  };
  ASSERT_TRUE(StepUntil(note).ok());
  ASSERT_EQ(pauses.size(), kFailures - 1);
  // A busy machine makes pauses longer, never shorter.
  milliseconds least = limits_.retry_after;
  for (const Clock::duration pause : pauses) {
    EXPECT_GE(pause, least);
    least = std::min(2 * least, limits_.retry_at_most);
  }
  // Also a waiting worker can be stopped.
  ExpectOver(worker_->Step(true));
}

TEST_F(WorkerTest, ThreeEarlyDeathsEndARunThatHasNotWalked) {
  Live({"flood=200000 print=last-words signal=6"});
  EXPECT_THAT(StepToEnd(),
              FailsWith(ExitCode::kToolFailed,
                        testing::AllOf(HasSubstr("died 3 times before its first walk"),
                                       EndsWith("last-words\n"), Not(HasSubstr("from outside")))));
  EXPECT_EQ(worker_->counts().started, 3u);
  EXPECT_EQ(seen_.size(), 0u) << "nothing was walked";
}

TEST_F(WorkerTest, AChildThatStandsStillBeforeItsFirstWalkSaysSo) {
  limits_.stuck_after = milliseconds(300);
  Live({"sleep"});
  EXPECT_THAT(StepToEnd(), FailsWith(ExitCode::kToolFailed,
                                     EndsWith("in the end because it did nothing for 0.3 s")));
  EXPECT_EQ(worker_->counts().started, 3u);
}

TEST_F(WorkerTest, TwoEarlyDeathsDoNot) {
  Live({"signal=6", "signal=6", "running walk walked done"});
  ExpectCleanEnd();
  EXPECT_EQ(worker_->counts().died, 2u);
}

TEST_F(WorkerTest, ThreeEarlyKillsSayWhoItWas) {
  Live({"signal=9"});
  EXPECT_THAT(StepToEnd(), FailsWith(testing::_, HasSubstr("from outside")));
  EXPECT_EQ(worker_->counts().killed, 3u);
}

TEST_F(WorkerTest, ThreeEarlyDeathsAfterAWalkAreTriedAgain) {
  Live({"running walk walked retired", "signal=6", "signal=6", "signal=6", "signal=6",
        "running walk walked done"});
  ExpectCleanEnd();
  EXPECT_EQ(worker_->counts().started, 6u);
  EXPECT_EQ(worker_->counts().died, 4u);
  EXPECT_GE(worker_->counts().failed_starts, 1u);
  EXPECT_EQ(worker_->state().walks.load(), 2u);
}

TEST_F(WorkerTest, StopWhileStartingKillsAtOnce) {
  limits_.stop_within = seconds(1000);
  Live({"sleep"});
  ExpectCleanEnd(/*stop=*/true);
  EXPECT_EQ(worker_->counts().started, 1u);
  EXPECT_EQ(worker_->counts().died + worker_->counts().killed, 0u);
  EXPECT_EQ(seen_.size(), 0u);
}

TEST_F(WorkerTest, AChildThatDoesNotStopIsKilledAndItsFindingsAreKept) {
  limits_.stop_within = milliseconds(100);
  Live({"running walk crash=1 walked sleep"});
  const auto walks = [&] { return worker_->state().walks.load() == 1; };
  ASSERT_TRUE(StepUntil(walks).ok());
  ExpectCleanEnd(/*stop=*/true);
  EXPECT_EQ(seen_.size(), 1u);
  EXPECT_EQ(worker_->counts().died + worker_->counts().killed, 0u);
  EXPECT_EQ(worker_->counts().unstopped, 1u);
}

TEST_F(WorkerTest, ARingThatAChildOverwroteCountsAsDropped) {
  Live({"running walk walked crash=1 done"});
  ExpectCleanEnd();
  EXPECT_EQ(seen_.size(), 1u);
  EXPECT_EQ(worker_->state().dropped_findings.load(), 0u);
  std::filesystem::remove_all(scratch_.path() + "/lives");
  Live({"running walk overrun signal=6", "running walk walked crash=1 done"});
  seen_.clear();
  ExpectCleanEnd();
  ASSERT_EQ(seen_.size(), 2u);
  EXPECT_TRUE(seen_[0]->is_death) << "nothing is read out of the ring";
  EXPECT_FALSE(seen_[1]->is_death) << "the successor's findings are taken";
  EXPECT_EQ(worker_->state().dropped_findings.load(), static_cast<uint64_t>(kRingSize));
}

// As where another worker has ended the run.
TEST_F(WorkerTest, TheEndTakesWhatWasFound) {
  Live({"running walk crash=1 sleep"});
  while (worker_->state().ring.head.load() == 0) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(seen_.size(), 0u);
  ASSERT_TRUE(worker_->End().ok());
  ASSERT_EQ(seen_.size(), 1u);
  EXPECT_THAT(seen_[0]->record.signature.title, HasSubstr("crash in walkhammer::Planted"));
  ExpectOver(worker_->Step(false));
}

TEST_F(WorkerTest, WhatAnEngineBuriesIsToldApart) {
  LiveUnderEngine(
      {"running walk input=5 buries=9 running walk input=6 buries=6 running walk input=7 "
       "ends=9 running walk walked done"});
  ExpectCleanEnd();
  EXPECT_EQ(worker_->counts().killed, 1u) << "from outside";
  EXPECT_EQ(worker_->counts().died, 2u);
  EXPECT_EQ(seen_.size(), 2u);
  ASSERT_EQ(crashing_inputs(), 2u);
  EXPECT_EQ(worker_->state().crashing.hashes[0], 6u);
  EXPECT_EQ(worker_->state().crashing.hashes[1], 7u);
}

TEST_F(WorkerTest, AnEngineThatIsKilledFromOutsideHasASuccessor) {
  LiveUnderEngine({"running walk signal=9", "running walk walked done"});
  ExpectCleanEnd();
  EXPECT_EQ(worker_->counts().killed, 1u);
  EXPECT_EQ(worker_->counts().failed_starts, 0u);
  EXPECT_EQ(seen_.size(), 0u);
}

TEST_F(WorkerTest, AnEngineThatEndsByItselfEndsTheRunOnlyBeforeItWalks) {
  LiveUnderEngine({"running flood=200000 print=last-words exit=1"});
  EXPECT_THAT(StepToEnd(), FailsWith(testing::_, testing::AllOf(HasSubstr("of its own accord"),
                                                                EndsWith("last-words\n"))));

  std::filesystem::remove_all(scratch_.path() + "/lives");
  LiveUnderEngine({"running walk walked exit=1", "running done"});
  ExpectCleanEnd();
  EXPECT_EQ(worker_->counts().failed_starts, 1u);
}

TEST_F(WorkerTest, WhatAChildPrintsStaysSmall) {
  const std::string printed = scratch_.path() + "/printed";
  Live({"running walk walked flood=5000000 touch=" + printed + " sleep"});
  while (!std::filesystem::exists(printed)) std::this_thread::sleep_for(milliseconds(1));
  ASSERT_TRUE(worker_->Step(false).ok());
  uintmax_t logs = 0, bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(scratch_.path())) {
    if (file.path().extension() != ".log") continue;
    logs++;
    bytes += file.file_size();
  }
  EXPECT_EQ(logs, 1u);
  EXPECT_LE(bytes, LogFile::kMost);
}

TEST_F(WorkerTest, TellsWhetherAddressesAreRandom) {
  for (const bool aslr : {true, false}) {
    if (!aslr && !CanSwitchAslrOff()) GTEST_SKIP() << "this kernel does not let us";
    std::filesystem::remove_all(scratch_.path() + "/lives");
    ChildSetup setup = FakeChildren(scratch_, {"running walk walked sleep"});
    setup.aslr = aslr;
    Employ(setup);
    EXPECT_FALSE(worker_->IsAslrOff().has_value());
    ASSERT_TRUE(StepUntil([&] { return worker_->IsAslrOff().has_value(); }).ok());
    EXPECT_EQ(worker_->IsAslrOff(), !aslr);
  }
}

// R4: what the last child was at must not be taken for what the next one is at.
TEST(ForgetChildTest, ResetsAllThatIsTheLastChilds) {
  auto state = std::make_unique<SharedState>();
  state->journal.phase.store(1);
  state->journal.sequence.store(9);
  state->crashing.current.store(7);
  state->crashing.count.store(3);
  state->walks.store(5);
  state->phase.store(ChildPhase::kUnable);
  state->message[0] = 'x';
  for (SceneReport& scene : state->scenes) scene.tried_by = 4711;
  ForgetChild(*state);
  EXPECT_EQ(state->journal.phase.load(), 0u);
  EXPECT_EQ(state->crashing.current.load(), 0u);
  EXPECT_EQ(state->phase.load(), ChildPhase::kStarting);
  EXPECT_EQ(FieldText(state->message), "");
  for (const SceneReport& scene : state->scenes) EXPECT_EQ(scene.tried_by, 0);
  // The run's, not the child's.
  EXPECT_EQ(state->journal.sequence.load(), 9u);
  EXPECT_EQ(state->crashing.count.load(), 3u);
  EXPECT_EQ(state->walks.load(), 5u);
}

}  // namespace
}  // namespace walkhammer
