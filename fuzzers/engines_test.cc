// SPDX-License-Identifier: Apache-2.0
// Tests the engines from end to end: guidance finds puzzles that chance does not find, and
// libFuzzer runs cope with children that retire or die and take all seeds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "harness/base/testing/temporary_folder.h"
#include "harness/supervise/command_testing.h"

namespace walkhammer {
namespace {

namespace fs = std::filesystem;

struct Expected {
  const char* puzzle;
  const char* title;  // part of the bucket's title
};

// The planted bugs of engine_puzzles.cc.
constexpr Expected kPuzzles[] = {{"puzzle-maze", "MazeEnd"}, {"puzzle-slots", "SlotsEnd"}};
constexpr const char* kGuided[] = {"libfuzzer", "afl"};

using Param = std::tuple<Expected, const char*, size_t>;  // engine, index into TestJdks()

void PrintTo(const Expected& expected, std::ostream* out) { *out << expected.puzzle; }

std::string NameOf(const Param& param) {
  const auto& [expected, engine, which] = param;
  std::string name = expected.puzzle;
  name.replace(name.find('-'), 1, "_");
  return name + "_" + engine + (which == 0 ? "_newest" : "_oldest");
}

// How many walks all workers had made when one found it: a worker numbers its own walks. The run
// goes on until the test learns of the finding, which takes long where the disk is busy (seen: 35
// s). UINT64_MAX: none found it.
uint64_t WalksUntil(const nlohmann::json& json, const char* title) {
  const auto workers = json["identity"]["workers"].get<uint64_t>();
  for (const nlohmann::json& bucket : json["buckets"])
    if (bucket["title"].get<std::string>().find(title) != std::string::npos)
      return workers * bucket["first_sequence"].get<uint64_t>();
  return UINT64_MAX;
}

class EnginePuzzleTest : public testing::TestWithParam<Param> {
 protected:
  void SetUp() override {
    const std::vector<Jdk> jdks = TestJdks();
    const size_t which = std::get<2>(GetParam());
    if (jdks.size() <= which) GTEST_SKIP() << "no such JDK on this machine";
    jdk_ = jdks[which];
  }
  Jdk jdk_;
  TemporaryFolder folder_;
};

TEST_P(EnginePuzzleTest, GuidanceFindsIt) {
  const auto& [expected, engine, which] = GetParam();
  // How many walks libFuzzer needs is a matter of luck: 0.3 to 6.1 million in 14 runs, 1.5 on
  // average, so one run in a hundred needs more than 7. A busy machine takes longer for as many
  // walks, but has the same chance.
  const uint64_t most_walks = engine == std::string("afl") ? 3'000'000 : 20'000'000;
  const CommandResult result = RunWalkhammerUntil(
      expected.title, FuzzArguments(jdk_, expected.puzzle, folder_.Under("run"),
                                    {"--engine", engine, "--time", "240s", "--no-confirm"}));
  ASSERT_TRUE(result.json.is_object()) << result.line;
  EXPECT_EQ(result.json["status"], "interrupted") << result.line;
  EXPECT_EQ(result.json["totals"]["children_died"], 0) << result.line;
  EXPECT_LE(WalksUntil(result.json, expected.title), most_walks) << result.line;
}

INSTANTIATE_TEST_SUITE_P(Each, EnginePuzzleTest,
                         testing::Combine(testing::ValuesIn(kPuzzles), testing::ValuesIn(kGuided),
                                          testing::Values(0, 1)),
                         [](const auto& info) { return NameOf(info.param); });

class LibFuzzerRunTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::vector<Jdk> jdks = TestJdks();
    if (jdks.empty()) GTEST_SKIP() << "no JDK on this machine";
    jdk_ = jdks.front();
  }
  void WriteSeed(const std::string& file, const std::string& lines) const {
    folder_.Write("corpus/" + file, "walk 1\nwalker agct\nscene c2\n" + lines);
  }
  CommandResult Run(const char* walker, const char* time, std::vector<std::string> options) const {
    options.insert(options.end(), {"--engine", "libfuzzer", "--time", time});
    options.insert(options.end(), {"--corpus", folder_.Under("corpus")});
    return Fuzz(jdk_, walker, folder_.Under("run"), options);
  }
  // Names of the entries of a folder.
  std::vector<std::string> In(const std::string& folder) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.Under(folder)))
      names.push_back(entry.path().filename());
    return names;
  }

  Jdk jdk_;
  TemporaryFolder folder_;
};

// Such inputs delay neither the successors, which load the corpus anew, nor the merge at the end.
TEST_F(LibFuzzerRunTest, InputsThatRetireEachChildHoldNobodyUp) {
  for (const char* n : {"1", "2", "3"}) WriteSeed(n, std::string("depth 1234\n# ") + n + "\n");
  // On a busy machine the children alone may take 8 s to start.
  CommandResult run = Run("puzzle-strand", "8s", {"--no-confirm"});
  ASSERT_TRUE(run.json.is_object()) << run.line;
  if (run.json["totals"]["walks"] <= 10000) {
    std::filesystem::remove_all(folder_.Under("run"));
    run = Run("puzzle-strand", "80s", {"--no-confirm"});
    ASSERT_TRUE(run.json.is_object()) << run.line;
  }
  EXPECT_EQ(run.json["status"], "clean-end") << run.line;
  EXPECT_GE(run.json["totals"]["children_retired"], 3) << run.json["totals"];
  EXPECT_GT(run.json["totals"]["walks"], 10000) << run.json["totals"];
  EXPECT_GT(In("corpus").size(), 20u);
}

TEST_F(LibFuzzerRunTest, DeathsAreWhatReplaysShow) {
  // By default, replays may take as long as the run, 3 s. A busy machine may need more.
  const CommandResult run =
      Run("puzzle-abort", "3s", {"--workers", "1", "--no-minimize", "--confirm-time", "100s"});
  ASSERT_TRUE(run.json.is_object()) << run.line;
  bool found = false;
  for (const nlohmann::json& bucket : run.json["buckets"]) {
    if (bucket["oracle"] != "survival") continue;
    found = true;
    EXPECT_EQ(bucket["title"], "JVM death by signal 6");
    EXPECT_EQ(bucket["confirmed"], 5) << bucket;
  }
  EXPECT_TRUE(found) << run.json["buckets"];
  EXPECT_THAT(In("run"), testing::Each(testing::Not(testing::StartsWith("crash-"))));
}

// All crash folders hold an input.walk, so names of seeds repeat.
TEST_F(LibFuzzerRunTest, SeedsOfOneNameAreAllTaken) {
  for (const char* folder : {"a/", "b/", "c/", ""})
    WriteSeed(std::string(folder) + "input.walk", std::string("# ") + folder + "\n");
  const CommandResult run = Run("agct", "1s", {"--workers", "1", "--no-confirm"});
  ASSERT_TRUE(run.json.is_object()) << run.line;
  size_t taken = 0;
  const std::vector<std::string> seeds = In("run/seeds");
  for (const std::string& name : seeds) taken += name.ends_with("input.walk") ? 1 : 0;
  EXPECT_EQ(taken, 4u);
  EXPECT_THAT(seeds, testing::Contains("12-vtable-stub.walk"));  // one of the reviewed seeds
}

TEST(EnginePuzzles, ChanceDoesNotFindThem) {
  const std::vector<Jdk> jdks = TestJdks();
  if (jdks.empty()) GTEST_SKIP() << "no JDK on this machine";
  for (const Expected& expected : kPuzzles) {
    const TemporaryFolder folder;
    const CommandResult result = Fuzz(jdks.back(), expected.puzzle, folder.Under("run"),
                                      {"--walks", "2000000", "--no-confirm"});
    ASSERT_TRUE(result.json.is_object()) << result.line;
    EXPECT_GT(result.json["totals"]["walks"], 1000000) << result.line;
    EXPECT_EQ(WalksUntil(result.json, expected.title), UINT64_MAX) << expected.puzzle;
  }
}

}  // namespace
}  // namespace walkhammer
