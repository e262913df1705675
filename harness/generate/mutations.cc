// SPDX-License-Identifier: Apache-2.0
#include "harness/generate/mutations.h"

#include <algorithm>
#include <utility>

#include "harness/generate/random_requests.h"
#include "harness/generate/values.h"

namespace walkhammer {
namespace {

// --- the edit list ---

bool AddEdit(RequestBuilder& builder) {
  const int32_t slot = builder.AnySlot();
  builder.Set(slot, builder.ValueFor(slot));
  return true;
}

bool RemoveEdit(RequestBuilder& builder) {
  if (builder.Edits().empty()) return false;
  builder.Remove(static_cast<int>(builder.Below(builder.request().edit_count)));
  return true;
}

bool DropEdits(RequestBuilder& builder) {
  WalkRequest& request = builder.request();
  if (request.edit_count < 2) return false;
  const uint32_t keep = builder.Below(request.edit_count);
  // Keep either end of the list: the edits of one forgery are adjacent.
  if (builder.Chance(50))
    std::copy(request.edits + request.edit_count - keep, request.edits + request.edit_count,
              request.edits);
  request.edit_count = static_cast<uint16_t>(keep);
  return true;
}

int32_t MovedSlot(RequestBuilder& builder, int32_t slot) {
  const int32_t by = 8 * (1 + static_cast<int32_t>(builder.Below(builder.Chance(70) ? 4 : 32)));
  return builder.Chance(50) ? slot + by : slot - by;
}

bool DuplicateEdit(RequestBuilder& builder) {
  if (builder.Edits().empty()) return false;
  const Edit edit = builder.Edits()[builder.Below(builder.request().edit_count)];
  const int32_t slot = builder.Chance(60) ? MovedSlot(builder, edit.slot) : builder.AnySlot();
  if (slot < 0 || slot >= builder.StackBytes()) return false;
  builder.Set(slot, edit.value);
  return true;
}

bool MoveEdit(RequestBuilder& builder) {
  if (builder.Edits().empty()) return false;
  Edit& edit = builder.Edits()[builder.Below(builder.request().edit_count)];
  const int32_t slot = MovedSlot(builder, edit.slot);
  if (slot < 0 || slot >= builder.StackBytes()) return false;
  edit.slot = slot;
  return true;
}

// Moves all edits by one distance, and with them all values that point among them: a forged frame
// keeps its shape.
bool MoveAllEdits(RequestBuilder& builder) {
  if (builder.Edits().empty()) return false;
  const int32_t by = MovedSlot(builder, 0);
  int32_t low = INT32_MAX, high = INT32_MIN;
  for (const Edit& edit : builder.Edits()) {
    low = std::min(low, edit.slot);
    high = std::max(high, edit.slot);
  }
  if (low + by < 0 || high + by >= builder.StackBytes()) return false;
  auto move = [&](Value& value) {
    if (value.symbol == SymbolTable::IdOf(SymbolKind::kStack) && value.addend >= low &&
        value.addend <= int64_t{high} + 16)
      value.addend += by;
  };
  for (Edit& edit : builder.Edits()) {
    edit.slot += by;
    move(edit.value);
  }
  WalkRequest& request = builder.request();
  for (Value* value : {&request.sp, &request.fp, &request.anchor_sp, &request.anchor_fp})
    move(*value);
  return true;
}

bool SwapEditValues(RequestBuilder& builder) {
  const uint16_t count = builder.request().edit_count;
  if (count < 2) return false;
  const uint32_t a = builder.Below(count), b = (a + 1 + builder.Below(count - 1U)) % count;
  std::swap(builder.Edits()[a].value, builder.Edits()[b].value);
  std::swap(builder.Edits()[a].op, builder.Edits()[b].op);
  return true;
}

bool ChangeEdit(RequestBuilder& builder) {
  if (builder.Edits().empty()) return false;
  Edit& edit = builder.Edits()[builder.Below(builder.request().edit_count)];
  edit.op = EditOp::kSet;
  edit.value = builder.ValueFor(edit.slot);
  return true;
}

bool Bend(RequestBuilder& builder, int32_t slot, bool add) {
  if (slot >= builder.StackBytes()) return false;
  builder.Set(slot,
              Number(add ? builder.Distance() : static_cast<int64_t>(1ULL << builder.Below(64))));
  for (Edit& edit : builder.Edits())
    if (edit.slot == slot) edit.op = add ? EditOp::kAdd : EditOp::kXor;
  return true;
}

// Changes a slot relative to what it holds.
bool BendSlot(RequestBuilder& builder) {
  const bool add = builder.Chance(70);
  return Bend(builder, builder.AnySlot(), add);
}

// Moves an interpreted frame's Method*: memory next to a Method may pass for one.
bool BendMethod(RequestBuilder& builder) {
  const auto methods = builder.stack().Methods();
  if (methods.empty()) return false;
  const auto count = static_cast<uint32_t>(methods.size());
  const uint32_t which = builder.Below(builder.Chance(60) ? std::min(count, 6U) : count);
  return Bend(builder, static_cast<int32_t>(methods[which]), true);
}

Value ContentOf(int32_t slot) { return ValueOf(SymbolKind::kSlot, slot); }

bool SwapSlots(RequestBuilder& builder) {
  const int32_t a = builder.AnySlot(), b = builder.AnySlot();
  if (a == b) return false;
  builder.Set(a, ContentOf(b));
  builder.Set(b, ContentOf(a));
  return true;
}

bool CopySlot(RequestBuilder& builder) {
  const int32_t to = builder.AnySlot(), from = builder.AnySlot();
  if (to == from) return false;
  builder.Set(to, ContentOf(from));
  return true;
}

// --- any value ---

bool Nudge(RequestBuilder& builder) {
  Value& value = builder.AnyUsedValue();
  value = Moved(value, builder.Distance());
  return true;
}

bool AlongInstructions(RequestBuilder& builder) {
  const Vocabulary& words = builder.words();
  for (int tries = 0; tries < 4; tries++) {
    Value& value = builder.AnyUsedValue();
    const Place* place = words.PlaceOf(value.symbol);
    if (place == nullptr || words.OffsetsOf(*place).empty()) continue;
    const auto returns = words.ReturnsOf(*place);
    value = builder.At(*place,
                       !returns.empty() && builder.Chance(50) ? returns : words.OffsetsOf(*place));
    return true;
  }
  return false;
}

template <Value (RequestBuilder::*kMake)()>
bool To(RequestBuilder& builder) {
  builder.AnyUsedValue() = (builder.*kMake)();
  return true;
}

bool Misalign(RequestBuilder& builder) {
  builder.AnyUsedValue().addend ^= 1 + static_cast<int64_t>(builder.Below(7));
  return true;
}

bool ToggleSignature(RequestBuilder& builder) {
  builder.AnyUsedValue().is_signed ^= 1;
  return true;
}

// --- registers ---

bool ShiftPc(RequestBuilder& builder) {
  if (builder.stack().NearPcs().empty()) return false;
  builder.request().pc = ValueOf(SymbolKind::kPristine, builder.OneOf(builder.stack().NearPcs()));
  return true;
}

bool ShiftRegister(RequestBuilder& builder) {
  WalkRequest& request = builder.request();
  const int64_t by = 8 * (1 + static_cast<int64_t>(builder.Below(builder.Chance(70) ? 4 : 64)));
  Value* const registers[] = {&request.pc, &request.sp, &request.fp, &request.lr};
  *registers[builder.Chance(80) ? 1 + builder.Below(2) : builder.Below(4)] =
      ValueOf(SymbolKind::kPristine, builder.Chance(50) ? by : -by);
  return true;
}

bool RandomRegisters(RequestBuilder& builder) {
  const Triple triple = builder.AnyTriple();
  WalkRequest& request = builder.request();
  request.pc = triple.pc;
  request.sp = triple.sp;
  request.fp = triple.fp;
  if (builder.Chance(20)) request.lr = builder.CodeValue();
  return true;
}

bool PristineRegister(RequestBuilder& builder) {
  WalkRequest& request = builder.request();
  Value* const registers[] = {&request.pc, &request.sp, &request.fp, &request.lr};
  *registers[builder.Below(4)] = ValueOf(SymbolKind::kPristine, 0);
  return true;
}

// --- state, depth, scene, everything ---

bool ChangeState(RequestBuilder& builder) {
  constexpr uint8_t kStates[] = {kStateInNative, kStateInNative + 1, kStateInVm,
                                 kStateInVm + 1, kStateInJava,       kStateInJava + 1,
                                 kStateBlocked,  kStateBlocked + 1};
  WalkRequest& request = builder.request();
  request.state = builder.Chance(90) ? builder.OneOf(std::span<const uint8_t>(kStates))
                                     : static_cast<uint8_t>(builder.Below(256));
  // In most states other than in_Java, walkers have nothing to walk without an anchor.
  const bool in_java = request.state == kStateInJava || request.state == kStateInJava + 1;
  if (!in_java && request.anchor == AnchorMode::kCleared && builder.Chance(80))
    request.anchor = AnchorMode::kTrue;
  return true;
}

bool ChangeAnchor(RequestBuilder& builder) {
  WalkRequest& request = builder.request();
  if (request.anchor != AnchorMode::kCleared && builder.Chance(50)) {
    request.anchor = AnchorMode::kCleared;
    request.state = kStateInJava;
  } else {
    request.anchor = AnchorMode::kTrue;
    if (request.state == kStateInJava) request.state = kStateInNative;
  }
  return true;
}

bool ChangeDepth(RequestBuilder& builder) {
  constexpr uint16_t kDepths[] = {1, 2, 3, 8, 16, 32, 48, 64, 128, 128, 512};
  builder.request().depth = builder.Chance(97) ? builder.OneOf(std::span<const uint16_t>(kDepths))
                                               : WalkRequest::kMaxDepth;
  return true;
}

bool ChangeScene(RequestBuilder& builder) {
  const uint8_t scene = builder.AnyScene();
  if (scene == builder.request().scene) return false;
  builder.request().scene = scene;
  return true;
}

bool Fresh(RequestBuilder& builder) {
  WalkRequest& request = builder.request();
  const uint8_t scene = builder.AnyScene();
  if (builder.words().scenes[scene % Vocabulary::kScenes].available == 0) return false;
  if (builder.Chance(60)) {
    RandomRequests(builder.words(), builder.walker(), scene).Next(builder.random(), request);
    return true;
  }
  request = WalkRequest();
  request.scene = scene;
  return true;
}

// The weights follow what unguided runs against JDK 17 and 25 found with each mutation.
constexpr Mutation kMutations[] = {
    {"add-edit", 10, AddEdit},
    {"remove-edit", 6, RemoveEdit},
    {"drop-edits", 2, DropEdits},
    {"duplicate-edit", 3, DuplicateEdit},
    {"move-edit", 4, MoveEdit},
    {"move-all-edits", 2, MoveAllEdits},
    {"swap-edit-values", 2, SwapEditValues},
    {"change-edit", 10, ChangeEdit},
    {"bend-slot", 5, BendSlot},
    {"bend-method", 4, BendMethod},
    {"swap-slots", 2, SwapSlots},
    {"copy-slot", 3, CopySlot},
    {"nudge", 8, Nudge},
    {"along-instructions", 6, AlongInstructions},
    {"to-any-value", 4, To<&RequestBuilder::AnyValue>},
    {"to-code", 3, To<&RequestBuilder::CodeValue>},
    {"to-stack", 4, To<&RequestBuilder::StackValue>},
    {"to-method", 1, To<&RequestBuilder::MethodValue>},
    {"to-edge", 4, To<&RequestBuilder::EdgeValue>},
    {"to-readable", 2, To<&RequestBuilder::ReadableValue>},
    {"to-literal", 2, To<&RequestBuilder::LiteralValue>},
    {"misalign", 1, Misalign},
    {"toggle-signature", 1, ToggleSignature},
    {"shift-pc", 3, ShiftPc},
    {"shift-register", 2, ShiftRegister},
    {"random-registers", 2, RandomRegisters},
    {"pristine-register", 2, PristineRegister},
    {"change-state", 2, ChangeState},
    {"change-anchor", 2, ChangeAnchor},
    {"change-depth", 2, ChangeDepth},
    {"change-scene", 3, ChangeScene},
    {"fresh", 3, Fresh},
    {"redirect-link", 6, RedirectLink},
    {"enter-at-frame", 4, EnterAtFrame},
    {"splice-frame", 6, SpliceFrame},
    {"forge-chain", 8, ForgeChain},
    {"forge-interpreted", 4, ForgeInterpreted},
    {"forge-method", 3, ForgeMethod},
    {"forge-compiled", 3, ForgeCompiled},
    {"forge-deoptimized", 4, ForgeDeoptimized},
    {"forge-entry", 8, ForgeEntry},
    {"forge-anchor", 5, ForgeAnchor},
};

}  // namespace

std::span<const Mutation> AllMutations() { return kMutations; }

}  // namespace walkhammer
