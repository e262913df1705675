// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "harness/cli/options.h"
#include "reports/gate_testing.h"

namespace walkhammer {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

struct Outcome {
  int exit_code;
  std::string out, err;
};

Outcome Gate(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"walkhammer", "gate"});
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  Invocation chosen;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code = RunCommand({AddGate}, chosen, static_cast<int>(argv.size()), argv.data());
  std::string out = testing::internal::GetCapturedStdout();
  return {code, std::move(out), testing::internal::GetCapturedStderr()};
}

class GateVerb : public testing::Test {
 protected:
  std::string Run(const char* name, const MadeRun& run = {}) {
    const std::string path = dir_.Under(name);
    run.Write(path);
    return path;
  }
  TempDir dir_;
};

TEST_F(GateVerb, TheExitCodeIsTheVerdict) {
  MadeRun worse, empty;
  worse.failing = 0.02;
  worse.seed = 2;
  empty.periods = 0;
  MadeRun same;
  same.seed = 3;
  const std::string before = Run("a"), now = Run("b", worse), alike = Run("c", same),
                    none = Run("d", empty);
  const Outcome pass = Gate({"--baseline", before, "--candidate", alike});
  EXPECT_EQ(pass.exit_code, 0);
  EXPECT_THAT(pass.out, StartsWith("PASS: "));
  EXPECT_THAT(pass.out, HasSubstr("\nwalkhammer gate: PASS. agct: "));
  EXPECT_THAT(pass.out, EndsWith(" in a million walks (95 %).\n"));
  EXPECT_EQ(Gate({"--baseline", before, "--candidate", now}).exit_code, 1);
  EXPECT_EQ(Gate({"--baseline", before, alike, "--candidate", now, "--json"}).exit_code, 1);
  EXPECT_EQ(Gate({"--baseline", before, "--candidate", none}).exit_code, 4);
  EXPECT_EQ(Gate({"--baseline", none, "--candidate", now}).exit_code, 4);
}

TEST_F(GateVerb, BadInputIsOneSentence) {
  const std::string a = Run("a"), b = Run("b"), policy = dir_.Under("p.toml");
  std::ofstream(policy) << "[effects]\nnew-crsh = \"fail\"\n";
  const std::vector<std::vector<std::string>> bad = {
      {"--baseline", a},
      {"--candidate", a},
      {"--baseline", a, "--candidate", a},
      {"--baseline", a, a, "--candidate", b},
      {"--baseline", a, "--candidate", a + "/."},
      {"--baseline", a, "--candidate", dir_.Under("none")},
      {"--baseline", a, "--candidate", b, "--policy", policy},
      {"--baseline", a, "--candidate", b, "--policy", dir_.Under("none")},
      {"--baseline", a, "--candidate", b, "--replay", "3"}};  // of no JDK that is here
  for (const auto& arguments : bad) {
    const Outcome outcome = Gate(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
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

}  // namespace
}  // namespace walkhammer
