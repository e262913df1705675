// SPDX-License-Identifier: Apache-2.0
#include "reports/gate_policy.h"

#include <gmock/gmock.h>

#include <fstream>

#include "harness/base/testing/fails_with.h"
#include "harness/store/record_testing.h"

namespace walkhammer {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string Refusal(std::string_view text) {
  const Result<GatePolicy> policy = ParseGatePolicy(text, "p.toml");
  if (policy.ok()) return "was taken";
  EXPECT_EQ(policy.failure().code, ExitCode::kBadInput);
  EXPECT_EQ(policy.failure().message.find('\n'), std::string::npos);
  return policy.failure().message;
}

TEST(GatePolicy, WhatItDoesNotNameStays) {
  const GatePolicy policy = ParseGatePolicy("", "p.toml").value(), fresh;
  EXPECT_EQ(policy.effects, fresh.effects);
  EXPECT_EQ(policy.alpha, fresh.alpha);
}

TEST(GatePolicy, SetsEffectsAndLimits) {
  const GatePolicy policy = ParseGatePolicy(
                                "# ours\n[effects]\ncodes = \"warn\"\nslower = \"ignore\"\n"
                                "[limits]\nfalse-alarms = 0.01\ncode-ratio = 2\n",
                                "p.toml")
                                .value();
  EXPECT_EQ(policy.EffectOf(GateKind::kCodes), GateEffect::kWarn);
  EXPECT_EQ(policy.EffectOf(GateKind::kSlower), GateEffect::kIgnore);
  EXPECT_EQ(policy.EffectOf(GateKind::kNewCrash), GateEffect::kFail);
  EXPECT_EQ(policy.alpha, 0.01);
  EXPECT_EQ(policy.code_ratio, 2);
}

TEST(GatePolicy, EachMistakeIsNamedWithItsLine) {
  EXPECT_THAT(Refusal("[effects]\n\nnew-crsh = \"fail\"\n"), StartsWith("p.toml:3: "));
  EXPECT_THAT(Refusal("[effects]\nnew-crsh = \"fail\"\n"), HasSubstr("\"new-crash\""));
  EXPECT_THAT(Refusal("[effects]\ncodes = \"fial\"\n"), HasSubstr("p.toml:2: "));
  EXPECT_THAT(Refusal("[effects]\ncodes = 3\n"), HasSubstr("must be \"fail\""));
  EXPECT_THAT(Refusal("[limit]\n"), HasSubstr("\"limits\""));
  EXPECT_THAT(Refusal("limits = 3\n"), HasSubstr("must be a table"));
  EXPECT_THAT(Refusal("[limits]\ncode-rato = 2\n"), HasSubstr("\"code-ratio\""));
  EXPECT_THAT(Refusal("[limits]\ncode-ratio = 0.9\n"), HasSubstr("from 1 to 100"));
  EXPECT_THAT(Refusal("[limits]\ncode-ratio = 101\n"), HasSubstr("from 1 to 100"));
  EXPECT_THAT(Refusal("[limits]\ncode-ratio = nan\n"), HasSubstr("from 1 to 100"));
  EXPECT_THAT(Refusal("[limits]\ncode-ratio = \"2\"\n"), HasSubstr("must be a number"));
  EXPECT_THAT(Refusal("[limits\n"), StartsWith("p.toml:1: "));
  EXPECT_THAT(Refusal("a = 1\na = 2\n"), StartsWith("p.toml:2: "));
}

TEST(GatePolicy, BothEndsOfARangeAreTaken) {
  for (const char* text : {"code-ratio = 1", "code-ratio = 100", "code-share = 0", "coverage = 1",
                           "false-alarms = 0.1", "false-alarms = 1e-6"})
    EXPECT_TRUE(ParseGatePolicy(std::string("[limits]\n") + text, "p").ok()) << text;
}

TEST(GatePolicy, IsReadFromAFile) {
  TemporaryFolder temp;
  std::ofstream(temp.Under("p.toml")) << "[effects]\ncodes = \"warn\"\n";
  EXPECT_EQ(ReadGatePolicy(temp.Under("p.toml")).value().EffectOf(GateKind::kCodes),
            GateEffect::kWarn);
  for (const std::string& path : {temp.Under("none"), temp.path()})
    EXPECT_THAT(ReadGatePolicy(path), FailsWith(ExitCode::kBadInput)) << path;
}

}  // namespace
}  // namespace walkhammer
