// SPDX-License-Identifier: Apache-2.0
// gate --night, and the verbs that take a night's folder for its merged runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/cli/verb_testing.h"
#include "harness/store/run_folders.h"
#include "reports/night_testing.h"

namespace walkhammer {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class NightVerb : public MadeNights {
 protected:
  Outcome Night(const std::string& dir, const std::vector<std::string>& options = {}) {
    std::vector<std::string> arguments = {"--night", dir, "--known", known_};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return RunVerb("gate", AddGate, arguments);
  }
  static std::string Group(const std::string& night) { return GroupFolder(night, kNightGroup); }

  const std::string known_ = temp_.Under("known");
  void SetUp() override { std::filesystem::create_directory(known_); }
};

TEST_F(NightVerb, TheExitCodeIsTheVerdict) {
  const std::string first = Add({});
  const Outcome green = Night(first);
  EXPECT_EQ(green.exit_code, 0) << green.err;
  EXPECT_THAT(green.out, StartsWith("GREEN: nothing is new\n"));
  SetGreen(first);
  const std::string second = Add({.is_new = true, .buckets = {Confirmed("crash in f")}});
  const Outcome red = Night(second + "/");
  EXPECT_EQ(red.exit_code, 1);
  EXPECT_THAT(red.out, AllOf(StartsWith("RED: 1 new bug\n"), HasSubstr(first)));
  EXPECT_TRUE(std::filesystem::exists(second + "/reports/stress.jdk.agct.gate.txt"));
  EXPECT_EQ(Night(second, {"--failed", "1"}).exit_code, 1);
  EXPECT_EQ(Night(first, {"--failed", "1"}).exit_code, 4);
  EXPECT_EQ(Night(second, {"--baseline", second}).exit_code, 2) << "given twice";
  EXPECT_EQ(Night(second, {"--nights", known_}).exit_code, 1);
  temp_.Write("bugs/X-1.toml",
              "title = \"t\"\nstate = \"open\"\nsignatures = [\"agct: crash in f\"]\n");
  EXPECT_EQ(Night(second, {"--bugs", temp_.Under("bugs")}).exit_code, 0);
}

TEST_F(NightVerb, BadInputIsOneSentence) {
  const std::string night = Add({});
  for (const auto& arguments :
       std::vector<std::vector<std::string>>{{"--night", temp_.Under("none")},
                                             {"--night", Group(night)},
                                             {"--night", night, "--policy", "none"},
                                             {"--night", night, "--bugs", "none"},
                                             {"--night", night, "--baseline", known_},
                                             {"--night", night, "--baseline", known_, known_},
                                             {"--night", night, "--candidate", night},
                                             {"--night", night, "--build", "26"},
                                             {"--night", night, "--markdown", "-"},
                                             {"--night", night, "--keep", known_},
                                             {"--night", night, "--times", "5"},
                                             {"--nights", known_},
                                             {"--failed", "1"},
                                             {"--jobs", "1"}}) {
    const Outcome outcome = RunVerb("gate", AddGate, arguments);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.out;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

TEST_F(NightVerb, JsonSaysTheSame) {
  const std::string night = Add({.buckets = {Confirmed("crash in f")}});
  const Outcome text = Night(night), outcome = Night(night, {"--json"});
  EXPECT_EQ(outcome.exit_code, text.exit_code);
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_THAT(text.out, StartsWith(json["verdict"].get<std::string>() + ": "));
  EXPECT_EQ(json["exit_code"], text.exit_code);
  ASSERT_EQ(json["bugs"].size(), 1U);
  EXPECT_EQ(json["bugs"][0]["says"], "new");
  EXPECT_THAT(json["bugs"][0]["signature"].get<std::string>(), HasSubstr("crash in f"));
  ASSERT_EQ(json["groups"].size(), 1U);
  EXPECT_EQ(json["groups"][0]["group"], kNightGroup);
}

TEST_F(NightVerb, ANightStandsForItsMergedRuns) {
  const std::string one = Add({.buckets = {Confirmed("crash in f")}}), two = Add({});
  EXPECT_THAT(RunFolders({one, known_}), ElementsAre(Group(one), known_));
  EXPECT_THAT(RunFolders({Group(one)}), ElementsAre(Group(one)));
  EXPECT_EQ(RunVerb("report", AddReport, {one}).out,
            RunVerb("report", AddReport, {Group(one)}).out);
  EXPECT_EQ(RunVerb("gate", AddGate, {"--baseline", two, "--candidate", one}).out,
            RunVerb("gate", AddGate, {"--baseline", Group(two), "--candidate", Group(one)}).out);
  const std::string store = temp_.Under("store");
  EXPECT_EQ(RunVerb("bugs", AddBugs, {"update", "--store", store, "--only-known", one}).exit_code,
            1);
  EXPECT_THAT(RunVerb("bugs", AddBugs, {"list", "--store", store}).out, "");
  EXPECT_EQ(RunVerb("bugs", AddBugs, {"update", "--store", store, one}).exit_code, 1);
  EXPECT_THAT(RunVerb("bugs", AddBugs, {"list", "--store", store}).out, HasSubstr("crash in f"));
  EXPECT_EQ(RunVerb("bugs", AddBugs, {"grade", "--store", store, one}).exit_code, 0);
  const Outcome known = RunVerb("bugs", AddBugs, {"update", "--store", store, "--only-known", one});
  EXPECT_EQ(known.exit_code, 0);
  EXPECT_THAT(known.out, HasSubstr("1 known"));
}

TEST_F(NightVerb, MergedNightsAreANight) {
  const std::string one = Add({}), two = Add({}), out = temp_.Under("week");
  const Outcome merged = RunVerb("merge", AddMerge, {one, two, "--out", out});
  EXPECT_EQ(merged.exit_code, 0) << merged.err;
  EXPECT_THAT(GroupsOfNight(out), ElementsAre(kNightGroup));
  EXPECT_EQ(RunVerb("merge", AddMerge, {one, Group(two), "--out", out + "2"}).exit_code, 2);
}

TEST_F(NightVerb, AHistoryCountsEachRunOnce) {
  const std::string one = Add({}), two = Add({});
  std::filesystem::create_directories(one + "/runs");
  std::filesystem::copy(Group(one), one + "/runs/1", std::filesystem::copy_options::recursive);
  std::filesystem::copy(Group(two), temp_.Under("copy"), std::filesystem::copy_options::recursive);
  const Outcome history = RunVerb("report", AddReport, {"--history", temp_.path()});
  EXPECT_THAT(history.out, StartsWith("2 runs from "));
}

}  // namespace
}  // namespace walkhammer
