// The engines, from end to end: guidance finds what chance does not, and leaves folders that the
// engines' own tools understand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "harness/supervise/command_testing.h"

namespace walkhammer {
namespace {

namespace fs = std::filesystem;

struct Expected {
  const char* puzzle;
  const char* title;  // part of the bucket's
};

// What engine_puzzles.cc promises.
constexpr Expected kPuzzles[] = {{"puzzle-maze", "MazeEnd"}, {"puzzle-slots", "SlotsEnd"}};
constexpr const char* kGuided[] = {"libfuzzer", "afl"};

struct Param {
  Expected expected;
  const char* engine;
  size_t jdk;  // into TestJdks()
};

std::vector<Param> AllParams() {
  std::vector<Param> params;
  for (const Expected& expected : kPuzzles)
    for (const char* engine : kGuided)
      for (const size_t jdk : {0, 1}) params.push_back({expected, engine, jdk});
  return params;
}

void PrintTo(const Param& param, std::ostream* out) { *out << param.expected.puzzle; }

bool Found(const nlohmann::json& json, const char* title) {
  for (const nlohmann::json& bucket : json["buckets"])
    if (bucket["title"].get<std::string>().find(title) != std::string::npos) return true;
  return false;
}

class EnginePuzzleTest : public testing::TestWithParam<Param> {
 protected:
  void SetUp() override {
    const std::vector<Jdk> jdks = TestJdks();
    if (jdks.size() <= GetParam().jdk) GTEST_SKIP() << "no such JDK on this machine";
    jdk_ = jdks[GetParam().jdk];
  }
  Jdk jdk_;
  RunFolder folder_;
};

TEST_P(EnginePuzzleTest, GuidanceFindsIt) {
  const auto& [expected, engine, which] = GetParam();
  // In steps, so that the test ends soon where it can: the corpus is carried on.
  for (int step = 0; step < 8; step++) {
    const std::string run = "run" + std::to_string(step);
    const CommandResult result =
        Fuzz(jdk_, expected.puzzle, folder_.Under(run),
             {"--engine", engine, "--time", "8s", "--no-confirm", "--seed",
              std::to_string(step + 1), "--corpus", folder_.Under("corpus")});
    ASSERT_TRUE(result.json.is_object()) << result.line;
    EXPECT_EQ(result.json["status"], "clean-end") << result.line;
    EXPECT_EQ(result.json["totals"]["children_died"], 0) << result.line;
    EXPECT_GT(result.json["totals"]["walks"], 10000) << result.line;
    if (Found(result.json, expected.title)) return;
  }
  FAIL() << engine << " did not find the crash in " << expected.title;
}

INSTANTIATE_TEST_SUITE_P(Each, EnginePuzzleTest, testing::ValuesIn(AllParams()),
                         [](const auto& info) {
                           std::string name = info.param.expected.puzzle;
                           name.replace(name.find('-'), 1, "_");
                           return name + "_" + info.param.engine +
                                  (info.param.jdk == 0 ? "_oldest" : "_newest");
                         });

TEST(EnginePuzzles, ChanceDoesNotFindThem) {
  const std::vector<Jdk> jdks = TestJdks();
  if (jdks.empty()) GTEST_SKIP() << "no JDK on this machine";
  for (const Expected& expected : kPuzzles) {
    const RunFolder folder;
    const CommandResult result =
        Fuzz(jdks.front(), expected.puzzle, folder.Under("run"), {"--time", "10s", "--no-confirm"});
    ASSERT_TRUE(result.json.is_object()) << result.line;
    EXPECT_GT(result.json["totals"]["walks"], 1000000) << result.line;
    EXPECT_FALSE(Found(result.json, expected.title)) << expected.puzzle;
  }
}

}  // namespace
}  // namespace walkhammer
