// SPDX-License-Identifier: Apache-2.0
// Tests the AFL++ engine: walk_afl against a test that plays afl-fuzz, and whole runs of the
// walkhammer command.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "fuzzers/afl_testing.h"
#include "harness/base/testing/temporary_folder.h"
#include "harness/ipc/launch.h"
#include "harness/process/program.h"
#include "harness/request/binary_form.h"
#include "harness/request/scene_table.h"
#include "harness/request/walker_table.h"
#include "harness/supervise/command_testing.h"

namespace walkhammer {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;
using ::testing::HasSubstr;

std::string Genuine(const char* scene, bool in_java = true) {
  auto symbols = NewSymbolTable();
  WalkRequest request;
  request.scene = static_cast<uint8_t>(*FindScene(scene));
  request.state = in_java ? kStateInJava : kStateInNative;
  request.anchor = in_java ? AnchorMode::kCleared : AnchorMode::kTrue;
  return EncodeBinary(request, *symbols);
}

// A pc that triggers a puzzle's planted bug.
constexpr int64_t kTriggerPc = 5;
std::string Trigger() {
  auto symbols = NewSymbolTable();
  WalkRequest request;
  request.scene = static_cast<uint8_t>(*FindScene("c2"));
  request.pc = Value{kTriggerPc, SymbolTable::IdOf(SymbolKind::kLiteral), 0};
  return EncodeBinary(request, *symbols);
}

size_t Blocks(const Answer& answer) {
  return Feedback::kBlocks - static_cast<size_t>(std::count(
                                 answer.map.begin(), answer.map.begin() + Feedback::kBlocks, 0));
}

void ExpectNoBlockOfBoth(const Answer& a, const Answer& b) {
  for (size_t block = 0; block < Feedback::kBlocks; block++)
    EXPECT_FALSE(a.map[block] != 0 && b.map[block] != 0) << "block " << block;
}

bool IsGone(pid_t pid) {
  for (int i = 0; i < 1000; i++) {
    if (!IsAlive(pid)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

class AflTest : public testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    const std::vector<Jdk> jdks = TestJdks();
    if (jdks.size() <= GetParam()) GTEST_SKIP() << "no such JDK on this machine";
    jdk_ = jdks[GetParam()];
  }
  // Starts a target that has a parent, on one scene whose genuine walk triggers no puzzle, and
  // walks that scene. False: it does not answer as it should.
  bool Start(const char* walker, uint32_t hang_limit_ms = 1000, bool alone = false) {
    afl_.reset();
    mapping_ = std::move(SharedMapping::Create().value());
    EXPECT_TRUE(SetLaunch(state(), jdk_.libjvm, BaseFlags(jdk_.feature).value()).ok());
    Job& job = state().job;
    job.mode = ChildMode::kEngine;
    job.walker = static_cast<uint8_t>(*FindWalker(walker));
    job.scene_mask = 1U << *FindScene("c2");
    job.hang_limit_ms = hang_limit_ms;
    job.coverage = 1;
    job.alone = alone ? 1 : 0;
    afl_.emplace(jdk_, walker, mapping_.get());
    if (afl_->Hello() != PlayedAfl::kMapSize) return false;
    first_ = afl_->Run(Genuine("c2"));
    return first_.wait_status == 0;
  }
  SharedState& state() { return mapping_->state(); }

  Jdk jdk_;
  std::unique_ptr<SharedMapping> mapping_;
  std::optional<PlayedAfl> afl_;
  Answer first_;  // to Start's walk
};

TEST_P(AflTest, InputsAreServedByOneProcessWhoseCoverageRepeats) {
  PlayedAfl afl(jdk_, "agct");
  ASSERT_EQ(afl.Hello(), PlayedAfl::kMapSize);
  EXPECT_TRUE(afl.NothingMoreSaid()) << "before a command";
  const Answer first = afl.Run(Genuine("c2"));
  ASSERT_GT(first.pid, 0);
  EXPECT_EQ(first.wait_status, 0);
  EXPECT_GT(Blocks(first), 50u);
  const Answer other = afl.Run(Genuine("c1", false));
  EXPECT_EQ(other.pid, first.pid);
  EXPECT_EQ(other.wait_status, 0);
  EXPECT_GT(Blocks(other), 0u);
  ExpectNoBlockOfBoth(first, other);
  for (int i = 0; i < 3; i++) {
    EXPECT_EQ(afl.Run(Genuine("c2")).map, first.map);
    EXPECT_EQ(afl.Run(Genuine("c1", false)).map, other.map);
  }
  // A scene that an old JDK cannot have: AFL++ must still see that something ran.
  const Answer none = afl.Run(Genuine("virtual-mounted"));
  EXPECT_EQ(none.wait_status, 0);
  EXPECT_NE(std::count(none.map.begin(), none.map.end(), 0), static_cast<int>(PlayedAfl::kMapSize));
  EXPECT_TRUE(afl.NothingMoreSaid());

  // Keeper and child end with afl-fuzz.
  afl.Leave();
  EXPECT_EQ(afl.EndedWithin(seconds(10)), 0);
  EXPECT_TRUE(IsGone(first.pid));
}

TEST_P(AflTest, AProcessThatIsKilledBetweenInputsHasASuccessor) {
  PlayedAfl afl(jdk_, "agct");
  ASSERT_EQ(afl.Hello(), PlayedAfl::kMapSize);
  const Answer first = afl.Run(Genuine("c2"));
  ASSERT_GT(first.pid, 0);
  ASSERT_EQ(kill(first.pid, SIGKILL), 0);
  ASSERT_TRUE(IsGone(first.pid));
  EXPECT_TRUE(afl.NothingMoreSaid()) << "no input was running";
  const Answer other = afl.Run(Genuine("c1", false));
  EXPECT_GT(other.pid, 0);
  EXPECT_NE(other.pid, first.pid);
  EXPECT_EQ(other.wait_status, 0);
  // All traps are new, yet no input shows a block that another input entered first.
  ExpectNoBlockOfBoth(first, other);
  EXPECT_EQ(afl.Run(Genuine("c2")).map, first.map);
}

TEST_P(AflTest, ADeathIsBuriedAnsweredAndHasASuccessor) {
  for (const char* walker : {"puzzle-abort", "puzzle-exit"}) {
    ASSERT_TRUE(Start(walker)) << walker;
    for (size_t i = 0; i < 2; i++) {
      const Answer death = afl_->Run(Trigger());
      EXPECT_TRUE(WIFSIGNALED(death.wait_status)) << walker << ' ' << death.wait_status;
      EXPECT_EQ(WTERMSIG(death.wait_status), SIGABRT) << walker;
      ASSERT_GT(death.pid, 0);
      EXPECT_TRUE(IsGone(death.pid)) << walker;
      EXPECT_TRUE(afl_->NothingMoreSaid());
      const Answer after = afl_->Run(Genuine("c2"));
      EXPECT_EQ(after.wait_status, 0) << walker;
      EXPECT_NE(after.pid, death.pid) << walker;
      EXPECT_EQ(after.map, first_.map) << walker;
      // The parent learns how the child really ended and what the child walked.
      ASSERT_EQ(afl_->exits().size(), i + 1);
      const Taken& taken = afl_->exits().back();
      EXPECT_EQ(WIFEXITED(taken.wait_status), walker == std::string("puzzle-exit"));
      EXPECT_TRUE(taken.walking);
      EXPECT_EQ(taken.pc, kTriggerPc);
    }
  }
}

// Longer than the keeper once waited: then the parent found an empty journal.
TEST_P(AflTest, ADeathWaitsForABusyParent) {
  ASSERT_TRUE(Start("puzzle-abort"));
  afl_->set_parent_busy(seconds(7));
  afl_->Run(Trigger());  // the parent is busy with something else, and not AFL++
  EXPECT_EQ(afl_->Run(Genuine("c2")).wait_status, 0);
  ASSERT_EQ(afl_->exits().size(), 1u);
  EXPECT_TRUE(afl_->exits()[0].walking);
  EXPECT_EQ(afl_->exits()[0].pc, kTriggerPc);
  EXPECT_FALSE(afl_->exits()[0].by_engine);
}

// The OOM killer's, say: afl-fuzz must not keep the input as a crash.
TEST_P(AflTest, AKillFromOutsideIsNoCrash) {
  ASSERT_TRUE(Start("puzzle-hang", 600000));
  std::thread killer([&] {
    const Journal& journal = state().journal;
    while (journal.phase.load() != 1 || journal.request.pc.addend != kTriggerPc)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    kill(first_.pid, SIGKILL);
  });
  const Answer killed = afl_->Run(Trigger());
  killer.join();
  EXPECT_EQ(killed.wait_status, 0);
  EXPECT_EQ(Blocks(killed), 0u) << "it would be kept for these";
  ASSERT_EQ(afl_->exits().size(), 1u);
  EXPECT_EQ(WTERMSIG(afl_->exits()[0].wait_status), SIGKILL);
  EXPECT_FALSE(afl_->exits()[0].by_engine);
  const Answer after = afl_->Run(Genuine("c2"));
  EXPECT_EQ(after.wait_status, 0);
  EXPECT_NE(after.pid, first_.pid);
}

// As afl-fuzz and the keeper end a walk that does not end, whatever that is due to.
TEST_P(AflTest, AKillAfterALongWalkIsTheWalks) {
  ASSERT_TRUE(Start("puzzle-hang", 600000));
  std::thread killer([&] {
    std::this_thread::sleep_for(seconds(12));
    kill(first_.pid, SIGKILL);
  });
  const Answer killed = afl_->Run(Trigger());
  killer.join();
  EXPECT_TRUE(WIFSIGNALED(killed.wait_status));
  ASSERT_EQ(afl_->exits().size(), 1u);
  EXPECT_TRUE(afl_->exits()[0].by_engine);
}

TEST_P(AflTest, OneThatIsAskedToStopIsNoCrash) {
  ASSERT_TRUE(Start("agct"));
  state().stop.store(1);
  EXPECT_EQ(afl_->Run(Genuine("c2")).wait_status, 0);
  EXPECT_EQ(state().phase.load(), ChildPhase::kDone);
  EXPECT_TRUE(afl_->exits().empty());
  EXPECT_FALSE(afl_->EndedWithin(seconds(1)).has_value()) << "afl-fuzz would complain";
}

// Without a parent, a finding is a crash of the input that made it, and not of a later input.
TEST_P(AflTest, AFindingIsACrash) {
  ASSERT_TRUE(Start("puzzle-crash", 1000, true));
  const Answer crash = afl_->Run(Trigger());
  ASSERT_TRUE(WIFSIGNALED(crash.wait_status)) << crash.wait_status;
  EXPECT_EQ(WTERMSIG(crash.wait_status), SIGABRT);
  EXPECT_EQ(afl_->Run(Genuine("c2")).wait_status, 0);
  EXPECT_TRUE(afl_->exits().empty());
}

std::string Stat(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.rfind(name, 0) == 0) return line.substr(line.find(": ") + 2);
  return "";
}

bool IsInstalled() { return std::system("command -v afl-fuzz >/dev/null") == 0; }

TEST_P(AflTest, DeathsAreRecordedAndTheRunEndsInOrder) {
  if (!IsInstalled()) GTEST_SKIP() << "afl-fuzz is not installed";
  const TemporaryFolder folder;
  const CommandResult result =
      Fuzz(jdk_, "puzzle-abort", folder.Under("run"),
           {"--engine", "afl", "--workers", "1", "--time", "15s", "--no-confirm"});
  ASSERT_TRUE(result.json.is_object()) << result.line;
  EXPECT_EQ(result.json["status"], "clean-end") << result.line;
  EXPECT_EQ(result.exit_code, 1);
  const nlohmann::json& totals = result.json["totals"];
  const int died = totals["children_died"].get<int>();
  EXPECT_GT(died, 2);
  EXPECT_EQ(totals["children_started"].get<int>(),
            died + totals["children_retired"].get<int>() + 1);
  EXPECT_GT(totals["walks"].get<int>(), 10 * died);
  bool found = false;
  for (const nlohmann::json& bucket : result.json["buckets"]) {
    if (bucket["title"].get<std::string>().find("by signal 6") == std::string::npos) continue;
    found = true;
    EXPECT_TRUE(fs::exists(folder.Under("run/" + bucket["folder"].get<std::string>())));
  }
  EXPECT_TRUE(found) << result.line;
  // afl-fuzz's own output folder, which the tools of AFL++ read.
  const std::string afl = folder.Under("run/afl/w0/");
  EXPECT_GT(std::atoi(Stat(afl + "fuzzer_stats", "execs_done").c_str()), 10 * died);
  EXPECT_EQ(Stat(afl + "fuzzer_stats", "stability"), "100.00%");
  EXPECT_GT(std::distance(fs::directory_iterator(afl + "queue"), {}), 20);
  EXPECT_TRUE(fs::exists(afl + "plot_data"));
}

TEST_P(AflTest, AJvmThatDoesNotStartIsToldAsSuch) {
  if (!IsInstalled()) GTEST_SKIP() << "afl-fuzz is not installed";
  const TemporaryFolder folder;
  const CommandResult result =
      Fuzz(jdk_, "agct", folder.Under("run"),
           {"--engine", "afl", "--time", "30s", "--no-confirm", "--", "-XX:+NoSuchFlag"});
  EXPECT_EQ(result.exit_code, 3) << result.line;
}

INSTANTIATE_TEST_SUITE_P(Each, AflTest, testing::Values(0, 1), [](const auto& info) {
  return std::string(info.param == 0 ? "newest" : "oldest");
});

}  // namespace
}  // namespace walkhammer
