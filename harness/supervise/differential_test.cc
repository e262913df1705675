// SPDX-License-Identifier: Apache-2.0
// Several walkers on the same synthetic requests, from end to end on a real JDK.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <string>

#include "harness/base/files.h"
#include "harness/base/testing/temporary_folder.h"
#include "harness/supervise/command_testing.h"

namespace walkhammer {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class DifferentialTest : public NewestJdkTest {
 protected:
  CommandResult Fuzz(const std::string& walkers, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"--no-coverage", "--no-minimize"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return walkhammer::Fuzz(jdk_, walkers, folder_.Under(walkers), arguments);
  }
  // Number of compared requests of this realism; with `kind`, only those of this kind of answer.
  static uint64_t Compared(const CommandResult& run, const std::string& realism,
                           const std::string& kind = "") {
    uint64_t requests = 0;
    for (const nlohmann::json& row : run.json["agreement"])
      if (row["realism"] == realism && (kind.empty() || row["kind"] == kind))
        requests += row["samples"].get<uint64_t>();
    return requests;
  }
};

TEST_F(DifferentialTest, WalkersAgreeOnScenesAndAreComparedOnWhatIsMadeOfThem) {
  const CommandResult run =
      Fuzz("agct,asgst", {"--walks", "20000", "--no-confirm", "--workers", "1"});
  EXPECT_EQ(run.json["identity"]["walker"], "agct,asgst");
  EXPECT_EQ(run.json["totals"]["walks"], 40000);
  EXPECT_EQ(run.json["totals"]["pristine_true"], 4) << "in_Java and in_native, of both";
  EXPECT_GE(Compared(run, "genuine"), 2u);
  EXPECT_EQ(Compared(run, "genuine"), Compared(run, "genuine", "none"));
  EXPECT_GT(Compared(run, "edited-stack", "none"), 0u) << run.json["agreement"];
  std::set<std::string> walkers;
  for (const nlohmann::json& row : run.json["counts"]) walkers.insert(row["walker"]);
  EXPECT_EQ(walkers, (std::set<std::string>{"agct", "asgst"}));
  for (const nlohmann::json& bucket : run.json["buckets"])
    EXPECT_TRUE(bucket["oracle"] != "agreement" || bucket["grade"] == "Interesting") << bucket;
}

TEST_F(DifferentialTest, OneWalkerIsComparedWithNobody) {
  const CommandResult run = Fuzz("agct", {"--walks", "40", "--no-confirm"});
  EXPECT_EQ(run.json["agreement"], nlohmann::json::array());
  EXPECT_EQ(run.json["totals"]["walks"], 40);
}

// 0x2: ASGST_END_ON_FIRST_JAVA_FRAME.
TEST_F(DifferentialTest, WalksThatAnOptionEndsLackNothing) {
  for (const char* walker : {"iterator", "ids", "queue"}) {
    const std::string file =
        folder_.Write("it.walk", std::string("walk 1\nwalker ") + walker +
                                     "\nagainst agct\nscene c2\nstate in_Java\noptions 0x2\n");
    const CommandResult run = Replay(file, 1);
    const nlohmann::json& replay = run.json["replays"][0];
    EXPECT_EQ(replay["outcomes"].value("1 frames", 0), 1) << replay;
    EXPECT_EQ(replay["with_findings"], 0) << replay;
  }
}

TEST_F(DifferentialTest, APlantedDisagreementIsFoundAndReplays) {
  const std::string pair = "agct,puzzle-skip-caller";
  const CommandResult run = Fuzz(pair, {"--walks", "2000"});
  const nlohmann::json bucket =
      BucketOf(run, "agreement/skipped-caller: puzzle-skip-caller against agct");
  EXPECT_EQ(bucket["grade"], "Interesting");
  EXPECT_EQ(bucket["confirmed"], 5);
  EXPECT_THAT(ReadFile(InputOf(pair, bucket)),
              HasSubstr("walker puzzle-skip-caller\nagainst agct\n"));
  const CommandResult replay = Replay(InputOf(pair, bucket), 1);
  EXPECT_EQ(replay.json["replays"][0]["reproduced"], 1) << replay.json;
  EXPECT_THAT(replay.json["replays"][0]["differs"].get<std::string>(), HasSubstr(", for agct "));
}

TEST_F(DifferentialTest, ALieAboutASceneIsForbidden) {
  const CommandResult run = Fuzz("agct,puzzle-lie", {"--walks", "40", "--no-confirm"});
  EXPECT_EQ(run.exit_code, 1);
  const nlohmann::json bucket = BucketOf(run, "agreement/scene-differs: puzzle-lie against agct");
  EXPECT_EQ(bucket["grade"], "Forbidden");
  EXPECT_EQ(bucket["realism"], "genuine");
}

// Whatever the order of the walkers, the .walk of a crash names the walker that crashed, and no
// other.
TEST_F(DifferentialTest, CrashesAndDeathsAreTheirWalkers) {
  for (const std::string pair : {"agct,puzzle-crash", "puzzle-crash,agct", "agct,puzzle-abort"}) {
    const CommandResult run = Fuzz(pair, {"--walks", "300", "--no-confirm"});
    const bool dies = pair.ends_with("abort");
    const nlohmann::json bucket = BucketOf(run, dies ? "JVM death" : "Crash,");
    const std::string culprit = dies ? "puzzle-abort" : "puzzle-crash";
    EXPECT_THAT(ReadFile(InputOf(pair, bucket)), HasSubstr("walker " + culprit + "\nscene"));
    EXPECT_EQ(bucket["title"].get<std::string>().ends_with(", by " + culprit),
              pair.starts_with("agct"))
        << bucket["title"];
  }
}

}  // namespace
}  // namespace walkhammer
