// SPDX-License-Identifier: Apache-2.0
#include "harness/generate/random_requests.h"

#include <algorithm>
#include <cstring>

#include "harness/generate/values.h"
#include "harness/request/walker_table.h"

namespace walkhammer {
namespace {

constexpr uint32_t kNearWords = 64;  // most walks read only this much of the stack's top

// A small distance in bytes, positive or negative, aligned or not.
int64_t Distance(Random& random) {
  const uint32_t what = random.Below(4);
  if (what == 0) return static_cast<int64_t>(random.Below(9)) - 4;
  if (what == 1) return 8 * (static_cast<int64_t>(random.Below(17)) - 8);
  if (what == 2) return 8 * (static_cast<int64_t>(random.Below(257)) - 128);
  return static_cast<int64_t>(random.Below(8192)) - 4096;
}

uint32_t Pick(Random& random, std::span<const uint32_t> offsets) {
  // Half of the picks are near the stack's top, which every walk reads.
  auto count = static_cast<uint32_t>(offsets.size());
  if (random.Chance(50)) count = std::min(count, 16U);
  return offsets[random.Below(count)];
}

}  // namespace

Value RandomRequests::Literal(Random& random) const {
  const uint32_t what = random.Below(6);
  if (what < 1) return Number(0);
  if (what < 2) return Number(static_cast<int64_t>(random.Below(4096)));
  if (what < 3) return Number(-1 - static_cast<int64_t>(random.Below(4096)));
  if (what < 4) return Number(INT64_MIN + static_cast<int64_t>(random.Below(16)));
  if (what < 5) return Number(static_cast<int64_t>(1ULL << random.Below(64)));
  return Number(static_cast<int64_t>(random.Next()));
}

Value RandomRequests::FromPool(Random& random, SymbolKind kind) const {
  auto pool = vocabulary_.Of(kind);
  if (pool.empty()) return ValueOf(SymbolKind::kUnmapped, 0);
  const Place& entry = pool[random.Below(static_cast<uint32_t>(pool.size()))];
  int64_t addend = 0;
  if (random.Chance(70))
    addend = static_cast<int64_t>(random.Below(std::max(entry.size, 1U)));
  else if (random.Chance(50))
    addend = Distance(random);
  return {addend, entry.symbol, 0};
}

Value RandomRequests::CodeValue(Random& random) const {
  const uint32_t what = random.Below(8);
  if (what < 3) return FromPool(random, SymbolKind::kNmethod);
  if (what < 5) return FromPool(random, SymbolKind::kStub);
  if (what < 7) return FromPool(random, SymbolKind::kCodelet);
  if (stack_.Code().empty()) return FromPool(random, SymbolKind::kStub);
  return ValueOf(SymbolKind::kSlot, Pick(random, stack_.Code()));
}

Value RandomRequests::StackValue(Random& random) const {
  const uint32_t what = random.Below(8);
  if (what < 2) return OnStack(8 * static_cast<int64_t>(random.Below(kNearWords)));
  if (what < 3) return OnStack(8 * static_cast<int64_t>(random.Below(stack_.words)));
  if (what < 4) return OnStack(Distance(random));
  if (what < 5) return ValueOf(SymbolKind::kStackBase, -static_cast<int64_t>(random.Below(4096)));
  if (what < 6) return ValueOf(SymbolKind::kStackLimit, Distance(random) * 4);
  if (what < 7) return FromPool(random, SymbolKind::kSceneStack);
  if (stack_.Pointers().empty()) return OnStack(0);
  return ValueOf(SymbolKind::kSlot, Pick(random, stack_.Pointers()));
}

Value RandomRequests::AnyValue(Random& random) const {
  const uint32_t what = random.Below(16);
  if (what < 4) return CodeValue(random);
  if (what < 8) return StackValue(random);
  if (what < 10) return FromPool(random, SymbolKind::kMethod);
  if (what < 11) return FromPool(random, SymbolKind::kLibrary);
  if (what < 12) return FromPool(random, SymbolKind::kLibraryEnd);
  if (what > 12) return Literal(random);
  constexpr SymbolKind kPlaces[] = {
      SymbolKind::kHeap,      SymbolKind::kHeapEnd,      SymbolKind::kMetaspace,
      SymbolKind::kCodeCache, SymbolKind::kCodeCacheEnd, SymbolKind::kUnmapped,
      SymbolKind::kNoAccess,  SymbolKind::kZeroPage,     SymbolKind::kThread};
  const int64_t distance = Distance(random);
  return ValueOf(kPlaces[random.Below(std::size(kPlaces))], distance);
}

Value RandomRequests::Shifted(Random& random) const {
  return ValueOf(SymbolKind::kPristine, Distance(random) / 32);
}

// Returns a slot, bytes above stack+0. `fitting`: a value of the kind that the slot holds.
uint32_t RandomRequests::SlotOffset(Random& random, Value& fitting) const {
  const uint32_t what = random.Below(8);
  if (what < 3 && !stack_.Code().empty()) {
    fitting = CodeValue(random);
    fitting.is_signed = random.Chance(4) ? 1 : 0;
    return Pick(random, stack_.Code());
  }
  if (what < 6 && !stack_.Pointers().empty()) {
    fitting = StackValue(random);
    return Pick(random, stack_.Pointers());
  }
  if (what == 6 && !stack_.Methods().empty()) {
    fitting = FromPool(random, SymbolKind::kMethod);
    return Pick(random, stack_.Methods());
  }
  fitting = AnyValue(random);
  return 8 * random.Below(random.Chance(70) ? std::min(stack_.words, kNearWords) : stack_.words);
}

void RandomRequests::AddEdits(Random& random, WalkRequest& request) const {
  uint16_t count = 1;
  while (count < 8 && random.Chance(45)) count++;
  for (uint16_t i = 0; i < count; i++) {
    Edit& edit = request.edits[i];
    edit = {};
    Value fitting;
    edit.slot = static_cast<int32_t>(SlotOffset(random, fitting));
    const uint32_t how = random.Below(8);
    if (how < 5) {
      edit.op = EditOp::kSet;
      edit.value = random.Chance(60) ? fitting : AnyValue(random);
    } else if (how == 5) {
      edit.op = EditOp::kXor;
      edit.value = Number(static_cast<int64_t>(1ULL << random.Below(48)));
    } else {
      edit.op = EditOp::kAdd;
      edit.value = Number(Distance(random));
    }
  }
  request.edit_count = count;
}

void RandomRequests::PickState(Random& random, WalkRequest& request) const {
  const uint32_t what = random.Below(100);
  if (what < 80) return;  // in_Java, anchor cleared
  if (what < 90) {
    constexpr uint8_t kSafeStates[] = {kStateInNative, kStateInVm, kStateBlocked};
    request.state = kSafeStates[random.Below(3)];
    request.anchor = AnchorMode::kTrue;
  } else if (what < 97) {
    request.state = random.Chance(50) ? kStateInJava : kStateInNative;
    request.anchor = AnchorMode::kCustom;
    request.anchor_sp = random.Chance(50) ? ValueOf(SymbolKind::kPristine, 0) : StackValue(random);
    request.anchor_pc = random.Chance(50) ? ValueOf(SymbolKind::kPristine, 0) : CodeValue(random);
    request.anchor_fp = random.Chance(50) ? ValueOf(SymbolKind::kPristine, 0) : StackValue(random);
  } else {
    request.state = static_cast<uint8_t>(random.Below(random.Chance(80) ? 12 : 256));
    request.anchor = random.Chance(50) ? AnchorMode::kTrue : AnchorMode::kCleared;
  }
}

void RandomRequests::Next(Random& random, WalkRequest& request) const {
  static const WalkRequest fresh;
  request = fresh;
  request.walker = walker_;
  request.scene = scene_;
  // Mostly just enough for a usual scene: walking 128 frames of a deep scene takes 5 us.
  const uint32_t depth = random.Below(1000);
  request.depth = depth < 200   ? static_cast<uint16_t>(1 + random.Below(40))
                  : depth < 950 ? 48
                                : 128;
  if (depth == 999) request.depth = static_cast<uint16_t>(1 + random.Below(WalkRequest::kMaxDepth));

  const uint32_t what = random.Below(100);
  if (what < 2) return;  // genuine
  const uint32_t known = AllWalkers()[walker_].options;
  if (known != 0 && random.Chance(20))
    request.options = static_cast<uint32_t>(random.Next()) & known;
  PickState(random, request);
  if (what < 10) {  // shifted
    (random.Chance(50)   ? request.pc
     : random.Chance(50) ? request.sp
                         : request.fp) = Shifted(random);
    if (random.Chance(30)) request.pc = Shifted(random);
    return;
  }
  if (what < 22) {  // random registers
    request.pc = random.Chance(80) ? CodeValue(random) : AnyValue(random);
    if (random.Chance(70)) request.sp = random.Chance(80) ? StackValue(random) : AnyValue(random);
    if (random.Chance(70)) request.fp = random.Chance(80) ? StackValue(random) : AnyValue(random);
    if (random.Chance(30)) request.lr = CodeValue(random);
    return;
  }
  AddEdits(random, request);
  if (what < 72) return;
  if (random.Chance(60)) request.pc = CodeValue(random);
  if (random.Chance(40)) request.sp = StackValue(random);
  if (random.Chance(40)) request.fp = StackValue(random);
}

}  // namespace walkhammer
