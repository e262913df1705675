// SPDX-License-Identifier: Apache-2.0
// The shared steps of line.h, on observations that a test has made.
#include "harness/line/line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace walkhammer {
namespace {

using ::testing::ElementsAre;

std::unique_ptr<LineState> NewState() { return std::make_unique<LineState>(); }

class LineTest : public ::testing::Test {
 protected:
  LineTest() {
    seen_.request = &request_;
    seen_.walker = &AllWalkers()[0];
    seen_.methods = &methods_;
    seen_.buffer_intact = true;
    seen_.trace = {Ending::kReturned, 0, nullptr};
    seen_.fault = &fault_;
    seen_.unsafe_call = &unsafe_;
    seen_.before = seen_.after = {0, kStateInJava, 0x7000, 0x100, 0x7010, 0};
  }
  uint64_t Site(uint8_t oracle = 0, uint8_t outcome = 1, uint64_t walker = 0) {
    return SiteOf(seen_, oracle, outcome, walker, *state_);
  }
  void CrashAt(std::vector<uint64_t> calls) {
    seen_.trace.ending = Ending::kCrashed;
    fault_.registers.pc = calls[0];
    std::copy(calls.begin(), calls.end(), fault_.native);
    fault_.native_count = static_cast<int32_t>(calls.size());
  }
  uint64_t CrashSiteAt(std::vector<uint64_t> calls) {
    CrashAt(std::move(calls));
    return Site();
  }
  void AddModule(uint64_t start, uint64_t end) {
    Module& module = state_->modules[state_->module_count.fetch_add(1)];
    module.start = module.bias = start;
    module.end = end;
  }
  std::vector<std::string> Refusals() {
    std::vector<std::string> names;
    accepted_ = JudgeWalk(seen_, without_, [&](uint8_t oracle, uint8_t outcome, const char*) {
      const Oracle& o = AllOracles()[oracle];
      names.push_back(std::string(o.name) + "/" + o.outcomes[outcome].name);
    });
    return names;
  }

  const std::unique_ptr<LineState> state_ = NewState();
  MethodRegistry methods_;
  WalkRequest request_;
  Fault fault_{};
  UnsafeCall unsafe_{};
  Observation seen_{};
  bool accepted_ = false;
  uint32_t without_ = 0;
};

TEST_F(LineTest, WhatOraclesAcceptIsNotReported) {
  EXPECT_THAT(Refusals(), ElementsAre());
  EXPECT_TRUE(accepted_);
  seen_.after.error_number = 7;
  EXPECT_THAT(Refusals(), ElementsAre("errno/changed"));
  EXPECT_FALSE(accepted_);
  seen_.after.anchor_sp = 0;
  EXPECT_EQ(Refusals().size(), 2U) << "each oracle is asked";
  without_ = 1U << (FindOracle("errno") - AllOracles().data());
  EXPECT_THAT(Refusals(), ElementsAre("thread-state/anchor-changed"));
  EXPECT_THAT(OracleNames(without_), ElementsAre("errno"));
}

TEST_F(LineTest, ASiteIsAPlaceInTheWalkersCode) {
  AddModule(0x10000, 0x20000);
  const uint64_t site = CrashSiteAt({0x10123});
  EXPECT_NE(site, 0U);
  EXPECT_EQ(CrashSiteAt({0x10123, 0x30200}), site) << "a caller in no module";
  const uint64_t called = CrashSiteAt({0x10123, 0x10200});
  EXPECT_NE(called, site);
  EXPECT_EQ(CrashSiteAt({0x10123, 0x10200, 0x10300}), called) << "whoever called that";
  EXPECT_NE(CrashSiteAt({0x10124}), site);
  // The same place of the same module, at another address.
  EXPECT_NE(CrashSiteAt({0x40123}), site);
  state_->module_count.store(0);
  AddModule(0x40000, 0x50000);
  EXPECT_EQ(Site(), site);
  EXPECT_NE(Site(1), site);
  EXPECT_NE(Site(0, 2), site);
  EXPECT_NE(Site(0, 1, 1), site);
  // Where a call hung says little, so all hangs are one site.
  seen_.trace.ending = Ending::kHung;
  const uint64_t hung = Site();
  CrashAt({0x41111});
  seen_.trace.ending = Ending::kHung;
  EXPECT_EQ(Site(), hung);
}

// A walker that is wrong about one scene may be right about the next.
TEST_F(LineTest, WhatIsUntrueOfASceneIsItsSite) {
  const auto site_in = [&](const char* oracle, uint8_t scene) {
    request_.scene = scene;
    const auto index = static_cast<size_t>(FindOracle(oracle) - AllOracles().data());
    return SiteOf(seen_, static_cast<uint8_t>(index), 1, 0, *state_);
  };
  EXPECT_NE(site_in("truth", 1), site_in("truth", 2));
  EXPECT_EQ(site_in("truth", 1), site_in("truth", 1));
  EXPECT_EQ(site_in("errno", 1), site_in("errno", 2));
}

// Else a walker that jumps anywhere takes all sites, and no other bug is handed over any more.
TEST_F(LineTest, APcInNoModuleIsItsCallersSite) {
  AddModule(0x10000, 0x20000);
  std::set<uint64_t> unmapped, called_here, called_there, deeper;
  for (uint64_t pc = 0x700000; pc < 0x700000 + 2 * kMaxCrashSites; pc++) {
    unmapped.insert(CrashSiteAt({pc}));
    called_here.insert(CrashSiteAt({pc, 0x10100, 0x10500}));
    called_there.insert(CrashSiteAt({pc, 0x10200}));
    deeper.insert(CrashSiteAt({pc, pc + 1, 0x10100}));
  }
  EXPECT_EQ(unmapped.size(), 1U);
  EXPECT_EQ(called_here.size(), 1U);
  EXPECT_EQ(called_there.size(), 1U);
  EXPECT_EQ(deeper, called_here);
  EXPECT_NE(called_here, called_there);
  EXPECT_NE(unmapped, called_here);
  // The ends of the module.
  EXPECT_EQ(unmapped.count(CrashSiteAt({0x10000})), 1U) << "offset 0 is no code";
  EXPECT_EQ(unmapped.count(CrashSiteAt({0x10001})), 0U);
  EXPECT_EQ(unmapped.count(CrashSiteAt({0x1ffff})), 0U);
  EXPECT_EQ(unmapped.count(CrashSiteAt({0x20000})), 1U);
}

TEST_F(LineTest, AnUnsafeCallHasASiteByItsCaller) {
  AddModule(0x10000, 0x20000);
  unsafe_.function = "malloc";
  unsafe_.native_count = 1;
  unsafe_.native[0] = 0x10123;
  const uint64_t site = Site();
  unsafe_.native[0] = 0x10124;
  EXPECT_NE(Site(), site);
}

TEST_F(LineTest, WithoutCallsWhatTheListHeldBeforeIsNoPlace) {
  AddModule(0x10000, 0x20000);
  CrashAt({0x10123});
  fault_.native_count = 0;
  const uint64_t nowhere = Site();
  fault_.native[0] = 0x10456;
  EXPECT_EQ(Site(), nowhere);
}

TEST_F(LineTest, WildCountsOfCallsAreNotBelieved) {
  for (const int32_t count : {-1, INT32_MIN, kMaxNativeFrames + 1, INT32_MAX}) {
    CrashAt({0x10123});
    fault_.native_count = count;
    EXPECT_NE(Site(), 0U) << count;
  }
}

TEST_F(LineTest, TheFirstOfASiteAndEachFourfoldCountAreHandedOver) {
  std::vector<int> handed_over;
  for (int count = 1; count <= 300; count++)
    if (WantsReport(*state_, 77, 5, false) >= 0) handed_over.push_back(count);
  EXPECT_THAT(handed_over, ElementsAre(1, 2, 3, 4, 16, 64, 256));
  EXPECT_EQ(state_->crash_sites[77].count.load(), 300U);
  EXPECT_EQ(state_->crash_sites[77].sent.load(), 7U);
}

TEST_F(LineTest, WhatIsBetterThanAllBeforeIsHandedOverUpToABound) {
  for (int i = 0; i < 3; i++) EXPECT_GE(WantsReport(*state_, 77, 1000, false), 0);
  EXPECT_GE(WantsReport(*state_, 77, 1000, false), 0) << "the fourth";
  EXPECT_LT(WantsReport(*state_, 77, 1000, false), 0) << "as good as before";
  int sent = 4;
  for (uint64_t rank = 999; rank > 900; rank--) sent += WantsReport(*state_, 77, rank, false) >= 0;
  EXPECT_EQ(sent, 16);
  EXPECT_LT(WantsReport(*state_, 77, 0, false), 0);
  EXPECT_GE(WantsReport(*state_, 77, 0, true), 0) << "but all are wanted";
}

TEST_F(LineTest, SitesOfOnePlaceStandBesideEachOther) {
  EXPECT_EQ(WantsReport(*state_, 3, 0, false), 3);
  EXPECT_EQ(WantsReport(*state_, 3 + kMaxCrashSites, 0, false), 4);
  EXPECT_EQ(WantsReport(*state_, 3, 0, false), 3);
}

TEST_F(LineTest, AFullTableIsCounted) {
  for (uint64_t site = 1; site <= kMaxCrashSites; site++)
    EXPECT_GE(WantsReport(*state_, site, 0, false), 0);
  EXPECT_EQ(state_->dropped_findings.load(), 0U);
  EXPECT_LT(WantsReport(*state_, 5000, 0, false), 0);
  EXPECT_EQ(state_->dropped_findings.load(), 1U);
}

// Else three that found no room would silence the site.
TEST_F(LineTest, WhatWasDroppedGivesItsPlaceBack) {
  for (int i = 0; i < 5; i++) {
    const int site = WantsReport(*state_, 77, 0, false);
    ASSERT_EQ(site, 77) << i;
    WasDropped(*state_, site);
  }
  EXPECT_EQ(state_->dropped_findings.load(), 5U);
  EXPECT_EQ(state_->crash_sites[77].count.load(), 5U) << "seen they were";
  EXPECT_EQ(state_->crash_sites[77].sent.load(), 0U);
  // The whole quota is there, and no more than that.
  std::vector<int> handed_over;
  for (int count = 6; count <= 20; count++)
    if (WantsReport(*state_, 77, 0, false) >= 0) handed_over.push_back(count);
  EXPECT_THAT(handed_over, ElementsAre(6, 7, 8, 16));
}

// Nor does a better-ranked one that found no room stand in the way of the next.
TEST_F(LineTest, ADroppedBestIsNotTheBest) {
  for (int i = 0; i < 4; i++) EXPECT_GE(WantsReport(*state_, 77, 1000, false), 0);
  const int site = WantsReport(*state_, 77, 10, false);
  ASSERT_EQ(site, 77);
  WasDropped(*state_, site);
  EXPECT_GE(WantsReport(*state_, 77, 10, false), 0);
  EXPECT_LT(WantsReport(*state_, 77, 10, false), 0);
  EXPECT_EQ(state_->crash_sites[77].sent.load(), 5U);
}

TEST_F(LineTest, AFindingTellsWhatWasSeen) {
  Frame frames[] = {{4, 0, &request_}, {5, 0, &seen_}};
  methods_.Add(&request_, "a.B.inner()V", 10, false);
  methods_.Add(&seen_, "a.B.outer()V", 10, false);
  seen_.trace = {Ending::kReturned, 2, frames};
  request_.depth = 8;
  RawFinding finding{};
  FillFinding(seen_, 1, 2, "a sentence", finding);
  EXPECT_EQ(finding.oracle, 1);
  EXPECT_EQ(finding.outcome, 2);
  EXPECT_EQ(finding.num_frames, 2);
  EXPECT_STREQ(finding.detail, "a sentence");
  EXPECT_EQ(finding.kept_frames, 2);
  EXPECT_STREQ(finding.frame_text, "a.B.inner()V @ 4\na.B.outer()V @ 5");
  // A walk that did not return has no frames.
  finding = {};
  seen_.trace.ending = Ending::kCrashed;
  fault_.registers.pc = 0x123;
  FillFinding(seen_, 0, 1, "", finding);
  EXPECT_EQ(finding.fault.registers.pc, 0x123U);
  EXPECT_EQ(finding.kept_frames, 0);
}

TEST(CodeSlotTest, EachAnswerHasASlot) {
  EXPECT_EQ(CodeSlotOf({Ending::kReturned, 3, nullptr}), kCodeFrames);
  EXPECT_EQ(CodeSlotOf({Ending::kReturned, 0, nullptr}), 1);
  EXPECT_EQ(CodeSlotOf({Ending::kReturned, -28, nullptr}), kCodeOther - 1);
  EXPECT_EQ(CodeSlotOf({Ending::kReturned, -29, nullptr}), kCodeOther);
  EXPECT_EQ(CodeSlotOf({Ending::kReturned, INT32_MIN, nullptr}), kCodeOther);
  EXPECT_EQ(CodeSlotOf({Ending::kCrashed, 3, nullptr}), kCodeCrash);
  EXPECT_EQ(CodeSlotOf({Ending::kHung, 3, nullptr}), kCodeHang);
}

}  // namespace
}  // namespace walkhammer
