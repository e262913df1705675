// SPDX-License-Identifier: Apache-2.0
// Campaign, confirmation and replay, from end to end on a real JDK.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "harness/base/files.h"
#include "harness/base/testing/fails_with.h"
#include "harness/base/testing/temporary_folder.h"
#include "harness/supervise/child_process.h"
#include "harness/supervise/command_testing.h"

namespace walkhammer {
namespace {

using SuperviseTest = NewestJdkTest;

// Copies a .walk file for another walker and without `expect`.
void CopyFor(const std::string& walker, const std::string& from, const std::string& to) {
  std::istringstream in(ReadFile(from));
  std::ofstream out(to);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("walker")) line = "walker  " + walker;
    if (!line.starts_with("expect")) out << line << "\n";
  }
}

TEST_F(SuperviseTest, PlantedCrashIsConfirmedAndReplays) {
  const CommandResult run = Fuzz(jdk_, "puzzle-crash", folder_.Under("run"),
                                 {"--walks", "2000", "--no-minimize", "--confirm-time", "100s"});
  ASSERT_EQ(run.exit_code, 1) << run.line;
  // There was time enough to confirm all.
  const nlohmann::json& settle = run.json["totals"]["settle"];
  ASSERT_TRUE(settle.is_object()) << run.json["totals"];
  EXPECT_EQ(settle["most_ms"], 100000);
  EXPECT_EQ(settle["unconfirmed"], 0);
  for (const nlohmann::json& each : run.json["buckets"]) EXPECT_GT(each["tries"], 0) << each;

  const nlohmann::json bucket = BucketOf(run, "Crash,");
  EXPECT_EQ(bucket["confirmed"], 5);
  EXPECT_EQ(bucket["tries"], 5);

  const std::string file = InputOf("run", bucket);
  const CommandResult replay = Replay(file, 3);
  EXPECT_EQ(replay.exit_code, 1);
  EXPECT_EQ(replay.json["replays"][0]["reproduced"], 3) << replay.json;
  EXPECT_EQ(replay.json["replays"][0]["times"], 3);

  // The same request shows nothing wrong with AsyncGetCallTrace.
  CopyFor("agct", file, folder_.Under("agct.walk"));
  const CommandResult clean = Replay(folder_.Under("agct.walk"), 2);
  EXPECT_EQ(clean.exit_code, 0) << clean.json;
  EXPECT_EQ(clean.json["replays"][0]["with_findings"], 0);
  EXPECT_EQ(clean.json["replays"][0]["unable"], 0);
}

TEST_F(SuperviseTest, DeathsAndHangsReplay) {
  for (const auto& [walker, title] :
       {std::pair<std::string, const char*>{"puzzle-abort", "JVM death"},
        {"puzzle-exit", "JVM death"},
        {"puzzle-hang", "hang in "}}) {
    const CommandResult run =
        Fuzz(jdk_, walker, folder_.Under(walker), {"--walks", "150", "--no-confirm"});
    ASSERT_EQ(run.exit_code, 1) << run.line;
    const nlohmann::json bucket = BucketOf(run, title);
    const CommandResult replay = Replay(InputOf(walker, bucket), 2);
    EXPECT_EQ(replay.exit_code, 1);
    EXPECT_EQ(replay.json["replays"][0]["reproduced"], 2) << replay.json;
  }
}

// The crash is contained, and the walk after it, which nobody asked for, ends the process: the
// request has done both.
TEST_F(SuperviseTest, WhatWasFoundBeforeADeathReplays) {
  const CommandResult run = Fuzz(jdk_, "puzzle-crash-die", folder_.Under("run"),
                                 {"--walks", "60", "--no-minimize", "--confirm-time", "100s"});
  ASSERT_EQ(run.exit_code, 1) << run.line;
  const nlohmann::json crash = BucketOf(run, "Spoil"), death = BucketOf(run, "JVM death");
  EXPECT_GE(run.json["totals"]["children_died"], 1);
  for (const nlohmann::json& bucket : {crash, death}) {
    EXPECT_EQ(bucket["confirmed"], 5) << bucket;
    EXPECT_EQ(bucket["tries"], 5) << bucket;
    ASSERT_TRUE(bucket["input"].is_string()) << bucket;
    const CommandResult replay = Replay(InputOf("run", bucket), 2);
    EXPECT_EQ(replay.exit_code, 1);
    const nlohmann::json& row = replay.json["replays"][0];
    EXPECT_EQ(row["reproduced"], 2) << row;
    EXPECT_EQ(row["unable"], 0) << row;
    EXPECT_EQ(row["outcomes"].size(), 2U) << row;
  }
}

// The harness itself does no harm: thousands of contained crashes, and collections that would meet
// what they left, end no child.
TEST_F(SuperviseTest, ContainedCrashesEndNoChild) {
  const CommandResult run = Fuzz(jdk_, "agct", folder_.Under("run"),
                                 {"--walks", "6000000", "--time", "40s", "--seed", "3", "--workers",
                                  "1", "--no-confirm", "--no-minimize", "--no-coverage"});
  EXPECT_EQ(run.json["status"], "clean-end");
  const nlohmann::json& totals = run.json["totals"];
  EXPECT_GT(totals["contained_crashes"], 1000) << totals;
  EXPECT_EQ(totals["children_died"], 0) << run.json["buckets"];
  EXPECT_EQ(totals["children_retired"], 0) << totals;
}

TEST_F(SuperviseTest, WithoutTimeItSaysThatNoneWasLeft) {
  const CommandResult run = Fuzz(jdk_, "puzzle-crash", folder_.Under("run"),
                                 {"--walks", "2000", "--confirm-time", "1ms"});
  ASSERT_EQ(run.exit_code, 1) << run.line;
  const nlohmann::json& settle = run.json["totals"]["settle"];
  ASSERT_TRUE(settle.is_object()) << run.json["totals"];
  EXPECT_GE(settle["unconfirmed"], 1) << settle;
  EXPECT_LT(settle["took_ms"], 2000) << settle;
  for (const nlohmann::json& bucket : run.json["buckets"])
    EXPECT_TRUE(bucket["minimized"].is_null()) << bucket;
}

// An interrupt while findings are replayed still ends with a report.
TEST_F(SuperviseTest, ConfirmingCanBeInterrupted) {
  const CommandResult run = RunWalkhammerUntil(
      "replaying", FuzzArguments(jdk_, "puzzle-crash", folder_.Under("run"), {"--walks", "2000"}));
  EXPECT_EQ(run.exit_code, 1) << run.line;
  EXPECT_EQ(run.json["status"], "interrupted");
  EXPECT_EQ(run.json["totals"]["walks"], 2000);
  EXPECT_GE(run.json["totals"]["settle"]["unconfirmed"], 1) << run.json["totals"];
}

// The run's time leaves out what comes after the walks, such as replays.
TEST_F(SuperviseTest, RunTimeIsThatOfTheWalks) {
  const CommandResult run = Fuzz(jdk_, "puzzle-crash", folder_.Under("run"), {"--time", "2s"});
  const nlohmann::json& progress = run.json["progress"];
  ASSERT_FALSE(progress.empty());
  EXPECT_EQ(progress.back()["time_ms"], run.json["totals"]["time_ms"]) << progress;
}

class ChildProcessTest : public testing::Test {
 protected:
  void SetUp() override {
    setup_.scratch = folder_.Under("");
    shared_ = Must(SharedMapping::Create());
  }
  // Returns when the shell has printed something.
  std::unique_ptr<ChildProcess> StartShell(const std::string& commands) {
    setup_.command = {"sh", "-c", commands};
    auto child = ChildProcess::Start(*shared_, setup_);
    EXPECT_TRUE(child.ok());
    for (int i = 0; i < 500 && child.value()->Output().empty(); i++) Sleep(10);
    return std::move(child.value());
  }
  static void Sleep(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

  TemporaryFolder folder_;
  ChildSetup setup_;
  std::unique_ptr<SharedMapping> shared_;
};

TEST_F(ChildProcessTest, EndsWithAllThatItStarted) {
  const auto child = StartShell("sleep 60 & echo $!; wait");
  const int grandchild = std::stoi(child->Output());
  child->Kill();
  // The grandchild is gone, or a zombie that its new parent has not reaped yet.
  std::string state = "?";
  for (int i = 0; i < 200 && !state.empty() && state != "Z"; i++, Sleep(10)) {
    std::ifstream stat("/proc/" + std::to_string(grandchild) + "/stat");
    state.clear();
    for (int word = 0; word < 3; word++) stat >> state;
    if (!stat) state.clear();
  }
  EXPECT_THAT(state, testing::AnyOf("", "Z"));
}

// Signals of a terminal or a service manager do not end the child.
TEST_F(ChildProcessTest, IsEndedByItsParentAlone) {
  const auto child = StartShell("echo up; sleep 60");
  for (int ends : {SIGINT, SIGTERM, SIGHUP}) child->Signal(ends);
  Sleep(200);
  EXPECT_FALSE(child->HasEnded());
}

// What is at an address of the code cache depends on when it was compiled, so -Xbatch turns
// background compilation off.
TEST_F(SuperviseTest, SameSeedSameRequestsSameFindings) {
  const auto outcome = [&](const char* seed, const char* out) {
    const CommandResult run = Fuzz(jdk_, "agct", folder_.Under(out),
                                   {"--walks", "200000", "--seed", seed, "--no-confirm", "--scene",
                                    "jni-up-down", "--", "-Xbatch"});
    EXPECT_EQ(run.json["totals"]["walks"], 200000);
    std::set<std::string> keys;
    for (const nlohmann::json& bucket : run.json["buckets"]) keys.insert(bucket["key"]);
    return std::pair(run.json["totals"]["request_hash"].get<std::string>(), keys);
  };
  const auto first = outcome("7", "first");
  EXPECT_EQ(first, outcome("7", "again"));
  EXPECT_NE(first.first, outcome("8", "other").first);
}

// The JVM counts its collections, wh.Churn the class loaders that were collected. Without churn a
// run collects once in 256 windows and unloads nothing.
TEST_F(SuperviseTest, ChurnCollectsAndUnloadsWhileItWalks) {
  for (const std::string engine : {"random", "libfuzzer"}) {
    const CommandResult run = Fuzz(jdk_, "agct", folder_.Under(engine),
                                   {"--engine", engine, "--churn", "--time", "5s", "--workers", "1",
                                    "--no-confirm", "--no-minimize"});
    EXPECT_EQ(run.json["status"], "clean-end");
    const nlohmann::json& totals = run.json["totals"];
    EXPECT_EQ(totals["children_died"], 0) << totals;
    EXPECT_GT(totals["walks"], 0) << totals;
    ASSERT_TRUE(totals["churn"].is_object()) << totals;
    EXPECT_GE(totals["churn"]["collections"], 10) << totals;
    EXPECT_GT(totals["churn"]["rounds"], 0) << totals;
    EXPECT_GT(totals["churn"]["unloaded"], 0) << totals;
  }
}

// A planted death changes no request: the successor of a child that ended goes on with its
// requests.
TEST_F(SuperviseTest, DeathsDoNotChangeTheRequests) {
  const auto hash = [&](const std::string& walker) {
    const CommandResult run =
        Fuzz(jdk_, walker, folder_.Under(walker), {"--walks", "150", "--no-confirm"});
    return run.json["totals"]["request_hash"].get<std::string>();
  };
  EXPECT_EQ(hash("agct"), hash("puzzle-exit"));
}

}  // namespace
}  // namespace walkhammer
