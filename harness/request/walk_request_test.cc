// SPDX-License-Identifier: Apache-2.0
#include "harness/request/walk_request.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace walkhammer {
namespace {

constexpr uint32_t kPristineId = SymbolTable::IdOf(SymbolKind::kPristine);
constexpr uint32_t kHeapId = SymbolTable::IdOf(SymbolKind::kHeap);

TEST(WalkRequestTest, EqualityComparesEveryField) {
  const std::function<void(WalkRequest&)> changes[] = {
      [](WalkRequest& r) { r.walker = 1; },
      [](WalkRequest& r) { r.scene = 1; },
      [](WalkRequest& r) { r.state = 1; },
      [](WalkRequest& r) { r.anchor = AnchorMode::kTrue; },
      [](WalkRequest& r) { r.depth = 1; },
      [](WalkRequest& r) { r.edits[r.edit_count++] = Edit{}; },
      [](WalkRequest& r) { r.options = 1; },
      [](WalkRequest& r) { r.origin = Origin::kSample; },
      [](WalkRequest& r) { r.against = 1; },
      [](WalkRequest& r) { r.reserved[1] = 1; },
      [](WalkRequest& r) { r.fault = 1; },
      [](WalkRequest& r) { r.pc.addend = 1; },
      [](WalkRequest& r) { r.sp.symbol = 0; },
      [](WalkRequest& r) { r.fp.is_signed = 1; },
      [](WalkRequest& r) { r.lr.addend = 1; },
      [](WalkRequest& r) { r.anchor_sp.addend = 1; },
      [](WalkRequest& r) { r.anchor_pc.addend = 1; },
      [](WalkRequest& r) { r.anchor_fp.addend = 1; },
  };
  EXPECT_EQ(WalkRequest{}, WalkRequest{});
  for (const auto& change : changes) {
    WalkRequest changed;
    change(changed);
    EXPECT_FALSE(changed == WalkRequest{}) << "change " << &change - changes;
    EXPECT_EQ(changed, changed);
  }
}

TEST(WalkRequestTest, EqualityComparesTheEditsInUse) {
  WalkRequest a, b;
  for (WalkRequest* request : {&a, &b}) std::fill_n(request->edits, WalkRequest::kMaxEdits, Edit{});
  b.edits[1].slot = 8;
  a.edit_count = b.edit_count = 1;
  EXPECT_EQ(a, b);
  a.edit_count = b.edit_count = 2;
  EXPECT_FALSE(a == b);
  a.edits[1].slot = 8;
  EXPECT_EQ(a, b);
  b.edits[1].op = EditOp::kXor;
  EXPECT_FALSE(a == b);
  b.edits[1].op = EditOp::kSet;
  b.edits[1].value.addend = 1;
  EXPECT_FALSE(a == b);
  a.edit_count = b.edit_count = UINT16_MAX;  // from damaged memory
  EXPECT_FALSE(a == b);
}

TEST(WalkRequestTest, UsedBytesCoverTheEditsInUse) {
  WalkRequest request;
  EXPECT_EQ(request.UsedBytes(), offsetof(WalkRequest, edits));
  request.edit_count = WalkRequest::kMaxEdits;
  EXPECT_EQ(request.UsedBytes(), sizeof(WalkRequest));
  request.edit_count = UINT16_MAX;  // from damaged memory
  EXPECT_EQ(request.UsedBytes(), sizeof(WalkRequest));
}

TEST(WalkRequestTest, ACopyHoldsTheEditsInUse) {
  WalkRequest full;
  full.scene = 3;
  for (int i = 0; i < WalkRequest::kMaxEdits; i++)
    full.edits[full.edit_count++] = {8 * i, EditOp::kSet, {}, {i, 0, 0}};
  WalkRequest copy = full;
  EXPECT_EQ(copy, full);
  const WalkRequest& itself = copy;
  copy = itself;
  EXPECT_EQ(copy, full);
  full.edit_count = 1;
  copy = full;
  EXPECT_EQ(copy, full);
  EXPECT_EQ(copy.edits[1].slot, 8);  // unchanged: beyond edit_count
}

TEST(RealismTest, GenuineIsWhatASignalShows) {
  WalkRequest request;
  EXPECT_EQ(RealismOf(request), Realism::kGenuine);
  request.state = kStateInNative;
  EXPECT_EQ(RealismOf(request), Realism::kShifted);
  request.anchor = AnchorMode::kTrue;
  EXPECT_EQ(RealismOf(request), Realism::kGenuine);
  request.state = kStateInJava;
  EXPECT_EQ(RealismOf(request), Realism::kShifted);
  request.state = kStateBlocked;
  EXPECT_EQ(RealismOf(request), Realism::kShifted);
}

TEST(RealismTest, ShiftedIsWithin64BytesInEachRegister) {
  for (Value WalkRequest::*reg :
       {&WalkRequest::pc, &WalkRequest::sp, &WalkRequest::fp, &WalkRequest::lr}) {
    WalkRequest request;
    for (int64_t near : {int64_t{1}, int64_t{64}, int64_t{-64}}) {
      request.*reg = Value{near, kPristineId};
      EXPECT_EQ(RealismOf(request), Realism::kShifted) << near;
    }
    for (int64_t far : {int64_t{65}, int64_t{-65}, INT64_MIN, INT64_MAX}) {
      request.*reg = Value{far, kPristineId};
      EXPECT_EQ(RealismOf(request), Realism::kRandomRegisters) << far;
    }
    request.*reg = Value{0, kHeapId};
    EXPECT_EQ(RealismOf(request), Realism::kRandomRegisters);
  }
}

TEST(RealismTest, NoSignalShowsASignedRegister) {
  for (Value WalkRequest::*reg :
       {&WalkRequest::pc, &WalkRequest::sp, &WalkRequest::fp, &WalkRequest::lr}) {
    WalkRequest request;
    (request.*reg).is_signed = 1;
    EXPECT_EQ(RealismOf(request), Realism::kRandomRegisters);
    (request.*reg).is_signed = 0;
    EXPECT_EQ(RealismOf(request), Realism::kGenuine);
  }
}

TEST(RealismTest, CustomAnchorAndEdits) {
  WalkRequest request;
  request.anchor = AnchorMode::kCustom;
  EXPECT_EQ(RealismOf(request), Realism::kRandomRegisters);
  request.edit_count = 1;
  EXPECT_EQ(RealismOf(request), Realism::kEditedStack);
  request.anchor = AnchorMode::kCleared;
  EXPECT_EQ(RealismOf(request), Realism::kEditedStack);
}

TEST(RealismTest, ASampleIsGenuine) {
  WalkRequest request;
  request.origin = Origin::kSample;
  request.anchor = AnchorMode::kCustom;
  request.edits[request.edit_count++] = Edit{};
  EXPECT_EQ(RealismOf(request), Realism::kGenuine);
  request.origin = Origin::kMade;
  EXPECT_EQ(RealismOf(request), Realism::kEditedStack);
}

TEST(RealismTest, ALoadThatFailsIsNeverMet) {
  WalkRequest request;
  request.fault = 1;
  EXPECT_EQ(RealismOf(request), Realism::kFailingLoad);
  request.origin = Origin::kSample;
  EXPECT_EQ(RealismOf(request), Realism::kFailingLoad);
}

TEST(RealismTest, Words) {
  EXPECT_EQ(RealismWord(Realism::kGenuine), "genuine");
  EXPECT_EQ(RealismWord(Realism::kShifted), "shifted");
  EXPECT_EQ(RealismWord(Realism::kRandomRegisters), "random-registers");
  EXPECT_EQ(RealismWord(Realism::kEditedStack), "edited-stack");
  EXPECT_EQ(RealismWord(Realism::kFailingLoad), "failing-load");
  EXPECT_LT(Realism::kGenuine, Realism::kShifted);
}

TEST(StateWordTest, DeclaredStates) {
  const char* const kWords[] = {"uninitialized", nullptr,           "new",     "new_trans",
                                "in_native",     "in_native_trans", "in_vm",   "in_vm_trans",
                                "in_Java",       "in_Java_trans",   "blocked", "blocked_trans"};
  for (int state = 0; state < 256; state++)
    EXPECT_STREQ(StateWord(static_cast<uint8_t>(state)), state < 12 ? kWords[state] : nullptr);
  EXPECT_STREQ(StateWord(kStateInNative), "in_native");
  EXPECT_STREQ(StateWord(kStateInVm), "in_vm");
  EXPECT_STREQ(StateWord(kStateInJava), "in_Java");
  EXPECT_STREQ(StateWord(kStateBlocked), "blocked");
}

}  // namespace
}  // namespace walkhammer
