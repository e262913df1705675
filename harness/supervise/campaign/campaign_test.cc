// SPDX-License-Identifier: Apache-2.0
// A campaign's end and its notes. Its children have no JVM.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "harness/base/testing/fails_with.h"
#include "harness/process/program.h"
#include "harness/store/record_testing.h"
#include "harness/supervise/campaign/engine.h"
#include "harness/supervise/campaign/fuzz_run.h"
#include "harness/supervise/campaign/run_rows.h"
#include "harness/supervise/fake_child_testing.h"

namespace walkhammer {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The merge of a corpus by a walk_fuzzer that is a shell script.
class MergeTest : public testing::Test {
 protected:
  Status Merge(
      const std::string& script, milliseconds most,
      const std::function<bool()>& stop = [] { return false; }) {
    const std::string fuzzer = scratch_.path() + "/walk_fuzzer";
    std::ofstream(fuzzer) << "#!/bin/sh\necho $$ >" << pid_file() << "\n" << script << "\n";
    std::filesystem::permissions(fuzzer, std::filesystem::perms::owner_all);
    std::filesystem::create_directories(scratch_.path() + "/corpus");
    std::filesystem::create_directories(scratch_.path() + "/run/corpus");
    EnginePlan plan;
    plan.run_dir = scratch_.path() + "/run";
    plan.corpus = {scratch_.path() + "/corpus"};
    ChildSetup setup;
    setup.platform.folder = scratch_.path();
    setup.scratch = scratch_.path();
    const auto engine = EngineNamed("libfuzzer");
    return MergeCorpus(AllEngines()[static_cast<size_t>(engine.value())], plan, setup, Job{}, stop,
                       most);
  }
  std::string pid_file() const { return scratch_.path() + "/pid"; }
  bool StillRuns() const {
    pid_t pid = 0;
    std::ifstream(pid_file()) >> pid;
    return pid == 0 || IsAlive(pid);
  }
  ScratchFolder scratch_;
};

TEST_F(MergeTest, OneThatDoesNotEndIsGivenUp) {
  const auto began = std::chrono::steady_clock::now();
  EXPECT_THAT(Merge("sleep 1000", seconds(1)),
              FailsWith(ExitCode::kUnable, HasSubstr("given up after 1 s")));
  EXPECT_LT(std::chrono::steady_clock::now() - began, seconds(60));
  EXPECT_FALSE(StillRuns());
}

TEST_F(MergeTest, OneThatEndsInTimeIsNot) { EXPECT_TRUE(Merge("sleep 0.2", seconds(60)).ok()); }

TEST_F(MergeTest, OneThatIsKilledFromOutsideIsNoFailureOfOurs) {
  EXPECT_THAT(Merge("kill -9 $$", seconds(60)), FailsWith(ExitCode::kUnable, HasSubstr("SIGKILL")));
}

TEST_F(MergeTest, OneThatFailsSaysWhyInItsLastWords) {
  EXPECT_THAT(Merge("head -c 200000 /dev/zero | tr '\\0' .; echo last-words; exit 1", seconds(60)),
              FailsWith(ExitCode::kToolFailed, HasSubstr("last-words")));
}

TEST_F(MergeTest, AnInterruptEndsIt) {
  EXPECT_TRUE(
      Merge("sleep 1000", seconds(1000), [&] { return std::filesystem::exists(pid_file()); }).ok());
  EXPECT_FALSE(StillRuns());
}

TEST(RunNotes, SayWhatHappenedAndNothingElse) {
  EXPECT_THAT(NotesOf({}), IsEmpty());
  WorkerFacts stood_still;
  stood_still.unstopped = 2;
  EXPECT_THAT(NotesOf(stood_still)[0].detail, HasSubstr("somebody may have stopped it"));
  WorkerFacts facts;
  facts.killed = 2;
  facts.failed_starts = 3;
  facts.why_not_started = "no memory";
  facts.aslr_off = true;
  const NoteRow not_started{kNoCell, NoteKind::kIncident, "child not started", 3, "no memory"};
  std::vector<NoteRow> notes = NotesOf(facts);
  ASSERT_EQ(notes.size(), 3u);
  EXPECT_THAT(notes[0].detail, Not(HasSubstr("OOM")));
  EXPECT_EQ(notes[0],
            (NoteRow{kNoCell, NoteKind::kIncident, "killed from outside", 2, notes[0].detail}));
  EXPECT_EQ(notes[1], not_started);
  EXPECT_EQ(notes[2], (NoteRow{kNoCell, NoteKind::kInForce, "fixed addresses", 0, ""}));
  facts.oom_kills = 5;
  facts.aslr_off = false;
  notes = NotesOf(facts);
  EXPECT_THAT(notes[0].detail, HasSubstr("OOM killer ended 5 processes"));
  EXPECT_EQ(notes[2].kind, NoteKind::kNotInForce);
  facts.wants_aslr_off = false;
  facts.unwalked = 4;
  facts.why_unwalked = "no memory";
  notes = NotesOf(facts);
  ASSERT_EQ(notes.size(), 3u);
  EXPECT_THAT(notes[2].detail, HasSubstr("no memory"));
  EXPECT_EQ(notes[2],
            (NoteRow{kNoCell, NoteKind::kIncident, "replay not walked", 4, notes[2].detail}));
  facts.unwalked = 0;
  EXPECT_EQ(NotesOf(facts).size(), 2u) << "what nobody wants need not be in force";
}

class FuzzRunTest : public NewRunTest {
 protected:
  Status Run(const std::vector<std::string>& lives, int workers,
             const std::function<void(const BucketRow&)>& on_bucket = {}, FuzzPlan plan = {}) {
    plan.workers = workers;
    plan.coverage = false;
    plan.confirm_times = 0;
    plan.child = FakeChildren(scratch_, lives);
    plan.child.aslr = !CanSwitchAslrOff();
    const std::atomic<bool> interrupted{false};
    FuzzRun run(plan, run_);
    run.sink().on_bucket = on_bucket;
    return run.Run(interrupted);
  }
  std::vector<std::string> Notes() const {
    std::vector<std::string> lines;
    const std::vector<NoteRow> notes = Read(run_).Rows<NoteRow>().value();
    for (const NoteRow& note : notes)
      lines.push_back(std::string(NoteKindWord(note.kind)) + " " + note.name + " " +
                      std::to_string(note.count));
    return lines;
  }
  ScratchFolder scratch_;
};

TEST_F(FuzzRunTest, AccidentsFromOutsideAreNotesAndEndNothing) {
  const Status run = Run(
      {"running walk walked walk signal=9", "say=no-memory unable", "running walk walked done"}, 1);
  EXPECT_TRUE(run.ok()) << run.failure().message;
  const std::vector<std::string> notes = Notes();
  EXPECT_THAT(notes, testing::Contains("incident killed from outside 1"));
  EXPECT_THAT(notes, testing::Contains("incident child not started 1"));
  EXPECT_THAT(notes, testing::Not(testing::Contains(HasSubstr("dropped"))));
  EXPECT_THAT(Read(run_).Buckets().value(), IsEmpty());
}

// Starting a JVM and setting up scenes do not count as walking.
TEST_F(FuzzRunTest, TheTimeCountsFromTheFirstWalk) {
  const std::string ready = scratch_.path() + "/ready";
  std::thread later([&] {
    std::this_thread::sleep_for(milliseconds(1500));
    std::ofstream(ready).flush();
  });
  FuzzPlan plan;
  plan.time = milliseconds(300);
  const Status run = Run({"await=" + ready + " running walk walked stopped done"}, 1, {}, plan);
  later.join();
  EXPECT_TRUE(run.ok()) << run.failure().message;
  EXPECT_EQ(Read(run_).Run().value().totals.walks, 1u);
}

TEST_F(FuzzRunTest, WhatWalksNothingInTimeSaysSo) {
  FuzzPlan plan;
  plan.time = seconds(1000);
  plan.set_up_time = seconds(1);
  EXPECT_THAT(Run({"running sleep"}, 1, {}, plan),
              FailsWith(ExitCode::kToolFailed, HasSubstr("no scene was walked within 1 s")));
}

// While the first finding is recorded, one worker fails and the one behind it finds something.
TEST_F(FuzzRunTest, AFailureTakesWhatOtherWorkersHaveFound) {
  const std::string recording = scratch_.path() + "/recording", found = scratch_.path() + "/found";
  const auto on_bucket = [&](const BucketRow&) {
    std::ofstream(recording).flush();
    for (int i = 0; i < 3000 && !std::filesystem::exists(found); i++)
      std::this_thread::sleep_for(milliseconds(10));
    std::this_thread::sleep_for(milliseconds(300));  // the one that fails ends by then
  };
  const Status run = Run({"worker=0 crash=1 sleep worker=1 await=" + recording +
                          " say=no-such-scene unable exit=0 worker=2 await=" + recording +
                          " crash=2 touch=" + found + " sleep"},
                         3, on_bucket);
  EXPECT_THAT(run, FailsWith(ExitCode::kUnable));
  EXPECT_EQ(Read(run_).Buckets().value().size(), 2u);
}

}  // namespace
}  // namespace walkhammer
