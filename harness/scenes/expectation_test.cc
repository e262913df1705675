// SPDX-License-Identifier: Apache-2.0
#include "harness/scenes/expectation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/trace.h"

namespace walkhammer {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kMethod = 0x7000;
constexpr uint64_t kOther = 0x7100;

// An nmethod with 256 bytes of code; the deoptimisation handler is in the last 16 bytes.
CodeBlob Nmethod(uint64_t begin, uint64_t method, int level, bool installed = true,
                 int entry_bci = -1) {
  CodeBlob blob{};
  blob.begin = begin;
  blob.end = begin + 0x100;
  blob.name = "nmethod";
  blob.is_nmethod = true;
  blob.method = method;
  blob.comp_level = level;
  blob.installed = installed;
  blob.entry_bci = entry_bci;
  blob.deopt_handler = begin + 0xf0;
  return blob;
}
constexpr uint64_t kC1 = 0x1000, kC2 = 0x2000, kOsr = 0x3000, kStale = 0x4000, kOthers = 0x5000;

std::vector<CodeBlob> Blobs() {
  CodeBlob stub{};
  stub.begin = 0x6000;
  stub.end = 0x6100;
  stub.name = "StubRoutines";
  stub.method = kMethod;  // ignored: a blob that is not an nmethod has no method
  stub.comp_level = 4;
  stub.installed = true;
  return {Nmethod(kC1, kMethod, 3),
          Nmethod(kC2, kMethod, 4),
          Nmethod(kOsr, kMethod, 4, false, 17),
          Nmethod(kStale, kMethod, 4, false),
          Nmethod(kOthers, kOther, 4),
          stub};
}

std::string Check(const char* kind, std::vector<uint64_t> stack) {
  const Expectation expected{kind, "a.B.m()V", kMethod};
  return Unmet({&expected, 1}, stack, Blobs());
}

TEST(Expectation, NothingExpectedHolds) { EXPECT_EQ(Unmet({}, {}, {}), ""); }

struct Row {
  const char* name;
  std::vector<uint64_t> stack;
  std::vector<const char*> holds;  // kinds that hold
  const char* found;               // what the sentence says for all other kinds
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.found; }

constexpr const char* kKinds[] = {"interpreted", "c1",    "c2",         "c2-inlined",
                                  "osr",         "deopt", "invalidated"};

class ExpectationTest : public testing::TestWithParam<Row> {};

TEST_P(ExpectationTest, HoldsOrNot) {
  for (const char* kind : kKinds) {
    bool wanted = false;
    for (const std::string holds : GetParam().holds) wanted |= holds == kind;
    const std::string unmet = Check(kind, GetParam().stack);
    if (wanted)
      EXPECT_EQ(unmet, "") << kind;
    else
      EXPECT_EQ(unmet, std::string("the activation of a.B.m()V should be ") + kind + " and is " +
                           GetParam().found);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Stacks, ExpectationTest,
    testing::Values(
        Row{"Nothing", {}, {"c2-inlined"}, "not there"},
        Row{"OthersCodeOnly", {kOthers + 0x10, kOther}, {"c2-inlined"}, "not there"},
        Row{"StubOnly", {0x6010}, {"c2-inlined"}, "not there"},
        Row{"MethodWord", {1, kMethod, 2}, {"interpreted", "c2-inlined"}, "interpreted"},
        Row{"C1", {kC1 + 0x10}, {"c1"}, "compiled by C1"},
        Row{"C2", {kC2 + 0x10}, {"c2"}, "compiled by C2"},
        Row{"C2AndMethodWord", {kMethod, kC2 + 0x10}, {"c2"}, "compiled by C2"},
        Row{"Osr", {kOsr + 0x10}, {"osr"}, "compiled for on-stack replacement"},
        Row{"Deopt", {kC2 + 0xf0}, {"deopt"}, "deoptimised"},
        Row{"DeoptOfStaleCode", {kStale + 0xf0}, {"deopt"}, "deoptimised"},
        Row{"StaleCode", {kStale + 0x10}, {"c2", "invalidated"}, "compiled by C2"},
        Row{"Mixed", {kC1 + 0x10, kC2 + 0x10}, {"c1", "c2"}, "compiled by C2"},
        // A return address is never the first byte of code, nor at or after its end.
        Row{"FirstByte", {kC2}, {"c2-inlined"}, "not there"},
        Row{"LastByte", {kC2 + 0xff}, {"c2"}, "compiled by C2"},
        Row{"End", {kC2 + 0x100}, {"c2-inlined"}, "not there"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Expectation, TheFirstUnmetIsNamed) {
  const Expectation expected[] = {{"c2", "a.B.first()V", kMethod},
                                  {"c1", "a.B.second()V", kOther},
                                  {"osr", "a.B.third()V", kOther}};
  const std::vector<uint64_t> stack = {kC2 + 0x10};
  EXPECT_THAT(Unmet(expected, stack, Blobs()), HasSubstr("a.B.second()V should be c1"));
}

TEST(Expectation, UnknownKindNeverHolds) {
  EXPECT_THAT(Check("c3", {kC2 + 0x10}), HasSubstr("should be c3"));
}

// The kind of frame that walkers should report.
int32_t Expected(std::vector<const char*> kinds, std::vector<uint64_t> stack) {
  std::vector<Expectation> expectations;
  for (const char* kind : kinds) expectations.push_back({kind, "a.B.m()V", kMethod});
  return ExpectedKind(expectations, kMethod, stack, Blobs());
}

TEST(ExpectedKind, FollowsFromWhatTheSceneClaims) {
  EXPECT_EQ(Expected({"interpreted"}, {kMethod}), KindOfFrame(1, 0));
  EXPECT_EQ(Expected({"c1"}, {kC1 + 8}), KindOfFrame(1, 3));
  EXPECT_EQ(Expected({"c2"}, {kC2 + 8}), KindOfFrame(1, 4));
  EXPECT_EQ(Expected({"osr"}, {kOsr + 8}), KindOfFrame(1, 4));
  EXPECT_EQ(Expected({"c2-inlined"}, {}), KindOfFrame(2, 4));
}

TEST(ExpectedKind, WhatIsClaimedTwiceDifferentlyOrNotAtAllIsUnknown) {
  EXPECT_EQ(Expected({"c2", "interpreted"}, {kC2 + 8, kMethod}), 0);
  EXPECT_EQ(Expected({"deopt"}, {kC2 + 0xf0}), 0);
  EXPECT_EQ(Expected({}, {kC2 + 8}), 0);
  EXPECT_EQ(ExpectedKind({}, 0, {}, Blobs()), 0);
}

TEST(CodeBlobTest, AZombieIsToldByItsStateWhoseNumberTheJdkChose) {
  CodeBlob blob = Nmethod(kC2, kMethod, 4);
  blob.state = 4;
  EXPECT_TRUE(blob.IsZombie(17));
  EXPECT_FALSE(blob.IsZombie(11));  // unloaded
  EXPECT_FALSE(blob.IsZombie(21));  // no sweeper
  blob.state = 3;
  EXPECT_TRUE(blob.IsZombie(11));
  EXPECT_FALSE(blob.IsZombie(17));  // unloaded
  blob.is_nmethod = false;
  EXPECT_FALSE(blob.IsZombie(11));
}

}  // namespace
}  // namespace walkhammer
