// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "harness/cli/gate_corpora.h"
#include "harness/cli/verb_testing.h"
#include "reports/gate_testing.h"

namespace walkhammer {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

Outcome Gate(const std::vector<std::string>& arguments) {
  return RunVerb("gate", AddGate, arguments);
}

class GateVerb : public testing::Test {
 protected:
  std::string Run(const char* name, const MadeRun& run = {}) {
    const std::string path = dir_.Under(name);
    run.Write(path);
    return path;
  }
  TemporaryFolder dir_;
};

TEST_F(GateVerb, TheExitCodeIsTheVerdict) {
  const std::string before = Run("a"), now = Run("b", {.failing = 0.02, .seed = 2}),
                    alike = Run("c", {.seed = 3}), none = Run("d", {.periods = 0});
  const Outcome pass = Gate({"--baseline", before, "--candidate", alike});
  EXPECT_EQ(pass.exit_code, 0);
  EXPECT_THAT(pass.out, StartsWith("PASS: "));
  EXPECT_THAT(pass.out, HasSubstr("\nwalkhammer gate: PASS. agct: "));
  EXPECT_THAT(pass.out, EndsWith(" in a million walks (95 %).\n"));
  EXPECT_EQ(Gate({"--baseline", before, "--candidate", now}).exit_code, 1);
  EXPECT_EQ(Gate({"--baseline", before, alike, "--candidate", now, "--json"}).exit_code, 1);
  EXPECT_EQ(Gate({"--baseline", before, "--candidate", none}).exit_code, 1);
  EXPECT_EQ(Gate({"--baseline", none, "--candidate", now}).exit_code, 4);
}

TEST_F(GateVerb, BadInputIsOneSentence) {
  const std::string a = Run("a"), b = Run("b"), policy = dir_.Under("p.toml");
  std::ofstream(policy) << "[effects]\nnew-crsh = \"fail\"\n";
  const std::string copy = dir_.Under("copy"), going = dir_.Under("going"),
                    killed = dir_.Under("killed");
  std::filesystem::copy(a, copy, std::filesystem::copy_options::recursive);
  const auto writer = RunWriter::Create(going, TestIdentity());
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(RunWriter::Create(killed, TestIdentity()).ok());
  const std::vector<std::vector<std::string>> bad = {
      {"--baseline", a},
      {"--candidate", a},
      {"--baseline", a, "--candidate", a},
      {"--baseline", a, a, "--candidate", b},
      {"--baseline", a, "--candidate", a + "/."},
      {"--baseline", a, "--candidate", dir_.Under("none")},
      {"--baseline", a, "--candidate", b, "--policy", policy},
      {"--baseline", a, "--candidate", b, "--policy", dir_.Under("none")},
      {"--baseline", a, "--candidate", b, "--replay", "1"},  // of no JDK that is here
      {"--baseline", a, "--candidate", b, "--replay", "3"},
      {"--baseline", a, "--candidate", copy},
      {"--baseline", a, "--candidate", going},
      {"--baseline", a, "--candidate", b, killed}};
  for (const auto& arguments : bad) {
    const Outcome outcome = Gate(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
  EXPECT_THAT(Gate(bad[10]).err, HasSubstr(copy + ": is given twice: " + a + " holds"));
  EXPECT_THAT(Gate(bad[11]).err, HasSubstr(going + ": this run still goes on"));
  EXPECT_THAT(Gate(bad[12]).err, HasSubstr(killed + ": this run was killed before it could"));
  EXPECT_THAT(Gate(bad[6]).err, HasSubstr("p.toml:2: there is no kind \"new-crsh\""));
}

TEST_F(GateVerb, APolicyWithoutRunsIsChecked) {
  const std::string good = dir_.Under("good.toml"), bad = dir_.Under("bad.toml");
  std::ofstream(good) << "[limits]\ncode-ratio = 1.1\n";
  std::ofstream(bad) << "[limits]\ncode-ratio = 0.9\n";
  const Outcome fine = Gate({"--policy", good});
  EXPECT_EQ(fine.exit_code, 0);
  EXPECT_EQ(fine.out + fine.err, "");
  const Outcome wrong = Gate({"--policy", bad});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("bad.toml:2: code-ratio must be a number from 1 to 100"));
  EXPECT_EQ(Gate({}).exit_code, 2);
  EXPECT_EQ(Gate({"--policy", good, "--json"}).exit_code, 2);
  EXPECT_EQ(Gate({"--policy", good, "--baseline", Run("a")}).exit_code, 2);
}

TEST_F(GateVerb, WhatTheJdksAnsweredBeforeIsJudgedWithTheRuns) {
  const std::string a = Run("a"), b = Run("b", {.seed = 2}), file = dir_.Under("corpora.json");
  const std::vector<std::string> gate = {"--baseline",        a,   "--candidate", b,
                                         "--corpora-answers", file};
  EXPECT_EQ(Gate(gate).exit_code, 2);  // there is no such file
  ASSERT_TRUE(WriteGateCorpora(file, {}).ok());
  EXPECT_EQ(Gate(gate).exit_code, 0);
  ASSERT_TRUE(
      WriteGateCorpora(file, {{{"12 frames\nA.a @1", "code -5", 1, "seeds/x.walk", "walk 1\n"}},
                              {{"nmethod::_state", "x reads it; lost"}}})
          .ok());
  const Outcome worse = Gate(gate);
  EXPECT_EQ(worse.exit_code, 1);
  EXPECT_THAT(worse.out, HasSubstr("1 request: seeds/x.walk; the first: 12 frames became code -5"));
  EXPECT_THAT(worse.out, HasSubstr("lost-struct    nmethod::_state\n        x reads it; lost\n"));
  for (const char* text : {"", "[1]", "{\"answers\": 1}", "{"}) {
    std::ofstream(file) << text;
    const Outcome bad = Gate(gate);
    EXPECT_EQ(bad.exit_code, 2) << text;
    EXPECT_THAT(bad.err, HasSubstr(file));
    EXPECT_EQ(bad.out, "");
  }
}

TEST_F(GateVerb, JdksAreTwoAndWithoutRuns) {
  const std::string a = Run("a");
  EXPECT_THAT(Gate({"--jdk", "/none"}).err, HasSubstr("--jdk twice"));
  EXPECT_THAT(Gate({"--jdk", "/none", "--jdk", "/none", "--baseline", a, "--candidate", a}).err,
              HasSubstr("runs or --jdk, not both"));
  EXPECT_EQ(Gate({"--jdk", "/none", "--jdk", "/none"}).exit_code, 2);
  EXPECT_EQ(Gate({"--walker", "agct", "--baseline", a, "--candidate", Run("b")}).exit_code, 2);
}

TEST_F(GateVerb, AStoreSaysWhatIsKnown) {
  const std::string a = Run("a"), b = Run("b", {.buckets = {{.title = "crash in f"}}, .seed = 2}),
                    store = dir_.Under("bugs");
  std::filesystem::create_directory(store);
  const std::vector<std::string> gate = {"--baseline", a, "--candidate", b, "--bugs", store};
  EXPECT_EQ(Gate(gate).exit_code, 1);
  const auto write = [&](const std::string& state) {
    std::ofstream(store + "/JDK-1.toml") << "title = \"t\"\nsignatures = [\"agct: crash in f\"]\n"
                                         << state;
  };
  write("state = \"open\"\n");
  const Outcome known = Gate(gate);
  EXPECT_EQ(known.exit_code, 0);
  EXPECT_THAT(known.out, HasSubstr("known: JDK-1; seen"));
  write("state = \"accepted\"\nreason = \"r\"\nuntil = 2020-02-29\n");
  EXPECT_EQ(Gate(gate).exit_code, 1);
  write("state = \"accepted\"\nreason = \"r\"\nuntil = 2999-02-28\n");
  EXPECT_EQ(Gate(gate).exit_code, 0);
  write("state = \"fixed\"\nfixed-in = \"26\"\n");  // the synthetic runs are of 25
  EXPECT_EQ(Gate(gate).exit_code, 0);
  auto of_26 = gate;
  of_26.insert(of_26.end(), {"--build", "26"});
  const Outcome back = Gate(of_26);
  EXPECT_EQ(back.exit_code, 1);
  EXPECT_THAT(back.out, HasSubstr("is back: JDK-1 was fixed in 26"));
}

TEST_F(GateVerb, AStoreThatCannotBeReadIsOneSentence) {
  const std::string a = Run("a"), b = Run("b"), store = dir_.Under("bugs"),
                    none = dir_.Under("none");
  std::filesystem::create_directory(store);
  EXPECT_EQ(Gate({"--bugs", store}).exit_code, 0);
  EXPECT_EQ(Gate({"--bugs", none}).exit_code, 2);
  std::ofstream(store + "/x.toml") << "state = \"opne\"\n";
  for (const auto& bad : std::vector<std::vector<std::string>>{
           {"--bugs", store},
           {"--baseline", a, "--candidate", b, "--bugs", store},
           {"--baseline", a, "--candidate", b, "--bugs", none},
           {"--baseline", a, "--candidate", b, "--build", "26"},
           {"--baseline", a, "--candidate", b, "--bugs", store, "--build", "tonight"}}) {
    const Outcome outcome = Gate(bad);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

}  // namespace
}  // namespace walkhammer
