// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "harness/request/request_testing.h"
#include "harness/supervise/minimize_input.h"

namespace walkhammer {
namespace {

constexpr int kPlenty = 100000;

Edit SetEdit(int32_t slot, int64_t value) {
  Edit edit;
  edit.slot = slot;
  edit.value = {value, 0, 0};
  return edit;
}

bool HasEdit(const WalkRequest& request, int32_t slot) {
  for (int i = 0; i < request.edit_count; i++)
    if (request.edits[i].slot == slot) return true;
  return false;
}

WalkRequest Cluttered() {
  WalkRequest request;
  request.state = kStateInVm;
  request.anchor = AnchorMode::kCustom;
  request.anchor_sp = {64, SymbolTable::IdOf(SymbolKind::kStack), 0};
  request.depth = 777;
  request.options = 5;
  request.pc = {0x1234, SymbolTable::IdOf(SymbolKind::kHeap), 0};
  request.sp = {8, SymbolTable::IdOf(SymbolKind::kStack), 0};
  for (int i = 0; i < 20; i++) request.edits[i] = SetEdit(8 * i, 1000 + i);
  request.edit_count = 20;
  return request;
}

TEST(MinimizerTest, KeepsOnlyTheEditsThatMatter) {
  const auto needs_two = [](const WalkRequest& r) { return HasEdit(r, 24) && HasEdit(r, 120); };
  const Minimized out = Minimize(Cluttered(), needs_two, kPlenty);
  EXPECT_EQ(out.request.edit_count, 2);
  EXPECT_TRUE(needs_two(out.request));
  EXPECT_EQ(out.request.pc, WalkRequest().pc);
  EXPECT_EQ(out.request.sp, WalkRequest().sp);
  EXPECT_EQ(out.request.state, WalkRequest().state);
  EXPECT_EQ(out.request.anchor, AnchorMode::kCleared);
  EXPECT_EQ(out.request.depth, WalkRequest().depth);
  EXPECT_EQ(out.request.edits[0].value, (Value{0, 0, 0}));
}

TEST(MinimizerTest, FailsTheSameLoadEarlier) {
  WalkRequest request;
  request.fault = 1234;
  const auto each_third = [](const WalkRequest& r) { return r.fault % 3 == 1; };
  const uint32_t earlier = Minimize(request, each_third, kPlenty).request.fault;
  EXPECT_LT(earlier, 20U);
  EXPECT_EQ(earlier % 3, 1U);
  const auto only_that = [](const WalkRequest& r) { return r.fault == 1234; };
  EXPECT_EQ(Minimize(request, only_that, kPlenty).request.fault, 1234U);
  EXPECT_EQ(Minimize(
                WalkRequest(), [](const WalkRequest&) { return true; }, kPlenty)
                .request.fault,
            0U);
}

TEST(MinimizerTest, KeepsTheRegisterThatMattersAndShrinksItsAddend) {
  const auto needs_heap = [](const WalkRequest& r) {
    return r.pc.symbol == SymbolTable::IdOf(SymbolKind::kHeap) && r.pc.addend > 1000;
  };
  const Minimized out = Minimize(Cluttered(), needs_heap, kPlenty);
  EXPECT_EQ(out.request.edit_count, 0);
  EXPECT_EQ(out.request.pc.symbol, SymbolTable::IdOf(SymbolKind::kHeap));
  EXPECT_LE(out.request.pc.addend, 0x1234 / 4 + 1);
}

TEST(MinimizerTest, FindsTheSmallestDepth) {
  const auto needs_depth = [](const WalkRequest& r) { return r.depth >= 300; };
  EXPECT_EQ(Minimize(Cluttered(), needs_depth, kPlenty).request.depth, 300);
}

TEST(MinimizerTest, OnlyAnUnchangedSampleStaysOne) {
  WalkRequest sample = Cluttered();
  sample.origin = Origin::kSample;
  const auto none = [](const WalkRequest&) { return false; };
  EXPECT_EQ(Minimize(sample, none, kPlenty).request, sample);
  const auto fewer = [](const WalkRequest& r) { return r.edit_count >= 19 && r.depth == 777; };
  const WalkRequest changed = Minimize(sample, fewer, kPlenty).request;
  EXPECT_EQ(changed.edit_count, 19);
  EXPECT_EQ(changed.origin, Origin::kMade);
}

TEST(MinimizerTest, StopsWhenTheTriesAreUsedUp) {
  int asked = 0;
  const auto never = [&](const WalkRequest&) {
    asked++;
    return false;
  };
  const Minimized out = Minimize(Cluttered(), never, 7);
  EXPECT_EQ(asked, 7);
  EXPECT_EQ(out.tried, 7);
  EXPECT_EQ(out.request, Cluttered());
}

TEST(MinimizerTest, IsIdempotentAndNeverLosesTheBug) {
  auto symbols = NewSymbolTable();
  AnyRequests random(1);
  for (int i = 0; i < 300; i++) {
    const WalkRequest start = random.Request(*symbols);
    const uint64_t wanted = random.Below(4);
    // Any stable property will do; this one depends on several fields at once.
    const auto same = [&](const WalkRequest& r) {
      return r.edit_count >= std::min<int>(start.edit_count, static_cast<int>(wanted)) &&
             (wanted != 3 || r.pc == start.pc);
    };
    const WalkRequest once = Minimize(start, same, kPlenty).request;
    EXPECT_TRUE(same(once));
    EXPECT_EQ(Minimize(once, same, kPlenty).request, once);
  }
}

}  // namespace
}  // namespace walkhammer
