// SPDX-License-Identifier: Apache-2.0
#include "harness/generate/mutations.h"

#include <algorithm>
#include <utility>

#include "harness/generate/random_requests.h"
#include "harness/generate/values.h"

namespace walkhammer {
namespace {

// --- the edit list ---

bool AddEdit(Draft& draft) {
  const int32_t slot = draft.AnySlot();
  draft.Set(slot, draft.ValueFor(slot));
  return true;
}

bool RemoveEdit(Draft& draft) {
  if (draft.Edits().empty()) return false;
  draft.Remove(static_cast<int>(draft.Below(draft.request().edit_count)));
  return true;
}

bool DropEdits(Draft& draft) {
  WalkRequest& request = draft.request();
  if (request.edit_count < 2) return false;
  const uint32_t keep = draft.Below(request.edit_count);
  // Keep either end of the list: the edits of one forgery are adjacent.
  if (draft.Chance(50))
    std::copy(request.edits + request.edit_count - keep, request.edits + request.edit_count,
              request.edits);
  request.edit_count = static_cast<uint16_t>(keep);
  return true;
}

int32_t MovedSlot(Draft& draft, int32_t slot) {
  const int32_t by = 8 * (1 + static_cast<int32_t>(draft.Below(draft.Chance(70) ? 4 : 32)));
  return draft.Chance(50) ? slot + by : slot - by;
}

bool DuplicateEdit(Draft& draft) {
  if (draft.Edits().empty()) return false;
  const Edit edit = draft.Edits()[draft.Below(draft.request().edit_count)];
  const int32_t slot = draft.Chance(60) ? MovedSlot(draft, edit.slot) : draft.AnySlot();
  if (slot < 0 || slot >= draft.StackBytes()) return false;
  draft.Set(slot, edit.value);
  return true;
}

bool MoveEdit(Draft& draft) {
  if (draft.Edits().empty()) return false;
  Edit& edit = draft.Edits()[draft.Below(draft.request().edit_count)];
  const int32_t slot = MovedSlot(draft, edit.slot);
  if (slot < 0 || slot >= draft.StackBytes()) return false;
  edit.slot = slot;
  return true;
}

// Moves all edits by one distance, and with them all values that point among them: a forged frame
// keeps its shape.
bool MoveAllEdits(Draft& draft) {
  if (draft.Edits().empty()) return false;
  const int32_t by = MovedSlot(draft, 0);
  int32_t low = INT32_MAX, high = INT32_MIN;
  for (const Edit& edit : draft.Edits()) {
    low = std::min(low, edit.slot);
    high = std::max(high, edit.slot);
  }
  if (low + by < 0 || high + by >= draft.StackBytes()) return false;
  auto move = [&](Value& value) {
    if (value.symbol == SymbolTable::IdOf(SymbolKind::kStack) && value.addend >= low &&
        value.addend <= int64_t{high} + 16)
      value.addend += by;
  };
  for (Edit& edit : draft.Edits()) {
    edit.slot += by;
    move(edit.value);
  }
  WalkRequest& request = draft.request();
  for (Value* value : {&request.sp, &request.fp, &request.anchor_sp, &request.anchor_fp})
    move(*value);
  return true;
}

bool SwapEditValues(Draft& draft) {
  const uint16_t count = draft.request().edit_count;
  if (count < 2) return false;
  const uint32_t a = draft.Below(count), b = (a + 1 + draft.Below(count - 1U)) % count;
  std::swap(draft.Edits()[a].value, draft.Edits()[b].value);
  std::swap(draft.Edits()[a].op, draft.Edits()[b].op);
  return true;
}

bool ChangeEdit(Draft& draft) {
  if (draft.Edits().empty()) return false;
  Edit& edit = draft.Edits()[draft.Below(draft.request().edit_count)];
  edit.op = EditOp::kSet;
  edit.value = draft.ValueFor(edit.slot);
  return true;
}

bool Bend(Draft& draft, int32_t slot, bool add) {
  if (slot >= draft.StackBytes()) return false;
  draft.Set(slot, Number(add ? draft.Distance() : static_cast<int64_t>(1ULL << draft.Below(64))));
  for (Edit& edit : draft.Edits())
    if (edit.slot == slot) edit.op = add ? EditOp::kAdd : EditOp::kXor;
  return true;
}

// Changes a slot relative to what it holds.
bool BendSlot(Draft& draft) {
  const bool add = draft.Chance(70);
  return Bend(draft, draft.AnySlot(), add);
}

// Moves an interpreted frame's Method*: memory next to a Method may pass for one.
bool BendMethod(Draft& draft) {
  const auto methods = draft.stack().Methods();
  if (methods.empty()) return false;
  const auto count = static_cast<uint32_t>(methods.size());
  const uint32_t which = draft.Below(draft.Chance(60) ? std::min(count, 6U) : count);
  return Bend(draft, static_cast<int32_t>(methods[which]), true);
}

Value ContentOf(int32_t slot) { return ValueOf(SymbolKind::kSlot, slot); }

bool SwapSlots(Draft& draft) {
  const int32_t a = draft.AnySlot(), b = draft.AnySlot();
  if (a == b) return false;
  draft.Set(a, ContentOf(b));
  draft.Set(b, ContentOf(a));
  return true;
}

bool CopySlot(Draft& draft) {
  const int32_t to = draft.AnySlot(), from = draft.AnySlot();
  if (to == from) return false;
  draft.Set(to, ContentOf(from));
  return true;
}

// --- any value ---

bool Nudge(Draft& draft) {
  Value& value = draft.AnyUsedValue();
  value = Moved(value, draft.Distance());
  return true;
}

bool AlongInstructions(Draft& draft) {
  const Vocabulary& words = draft.words();
  for (int tries = 0; tries < 4; tries++) {
    Value& value = draft.AnyUsedValue();
    const Place* place = words.PlaceOf(value.symbol);
    if (place == nullptr || words.OffsetsOf(*place).empty()) continue;
    const auto returns = words.ReturnsOf(*place);
    value =
        draft.At(*place, !returns.empty() && draft.Chance(50) ? returns : words.OffsetsOf(*place));
    return true;
  }
  return false;
}

bool ToAnyValue(Draft& draft) {
  draft.AnyUsedValue() = draft.AnyValue();
  return true;
}

bool ToCode(Draft& draft) {
  draft.AnyUsedValue() = draft.CodeValue();
  return true;
}

bool ToStack(Draft& draft) {
  draft.AnyUsedValue() = draft.StackValue();
  return true;
}

bool ToMethod(Draft& draft) {
  draft.AnyUsedValue() = draft.MethodValue();
  return true;
}

bool ToEdge(Draft& draft) {
  draft.AnyUsedValue() = draft.EdgeValue();
  return true;
}

bool ToLiteral(Draft& draft) {
  draft.AnyUsedValue() = draft.LiteralValue();
  return true;
}

bool ToReadable(Draft& draft) {
  draft.AnyUsedValue() = draft.ReadableValue();
  return true;
}

bool Misalign(Draft& draft) {
  draft.AnyUsedValue().addend ^= 1 + static_cast<int64_t>(draft.Below(7));
  return true;
}

bool ToggleSignature(Draft& draft) {
  draft.AnyUsedValue().is_signed ^= 1;
  return true;
}

// --- registers ---

bool ShiftPc(Draft& draft) {
  if (draft.stack().NearPcs().empty()) return false;
  draft.request().pc = ValueOf(SymbolKind::kPristine, draft.OneOf(draft.stack().NearPcs()));
  return true;
}

bool ShiftRegister(Draft& draft) {
  WalkRequest& request = draft.request();
  const int64_t by = 8 * (1 + static_cast<int64_t>(draft.Below(draft.Chance(70) ? 4 : 64)));
  Value* const registers[] = {&request.pc, &request.sp, &request.fp, &request.lr};
  *registers[draft.Chance(80) ? 1 + draft.Below(2) : draft.Below(4)] =
      ValueOf(SymbolKind::kPristine, draft.Chance(50) ? by : -by);
  return true;
}

bool RandomRegisters(Draft& draft) {
  const Triple triple = draft.AnyTriple();
  WalkRequest& request = draft.request();
  request.pc = triple.pc;
  request.sp = triple.sp;
  request.fp = triple.fp;
  if (draft.Chance(20)) request.lr = draft.CodeValue();
  return true;
}

bool PristineRegister(Draft& draft) {
  WalkRequest& request = draft.request();
  Value* const registers[] = {&request.pc, &request.sp, &request.fp, &request.lr};
  *registers[draft.Below(4)] = ValueOf(SymbolKind::kPristine, 0);
  return true;
}

// --- state, depth, scene, everything ---

bool ChangeState(Draft& draft) {
  constexpr uint8_t kStates[] = {kStateInNative, kStateInNative + 1, kStateInVm,
                                 kStateInVm + 1, kStateInJava,       kStateInJava + 1,
                                 kStateBlocked,  kStateBlocked + 1};
  WalkRequest& request = draft.request();
  request.state = draft.Chance(90) ? draft.OneOf(std::span<const uint8_t>(kStates))
                                   : static_cast<uint8_t>(draft.Below(256));
  // In most states other than in_Java, walkers have nothing to walk without an anchor.
  const bool in_java = request.state == kStateInJava || request.state == kStateInJava + 1;
  if (!in_java && request.anchor == AnchorMode::kCleared && draft.Chance(80))
    request.anchor = AnchorMode::kTrue;
  return true;
}

bool ChangeAnchor(Draft& draft) {
  WalkRequest& request = draft.request();
  if (request.anchor != AnchorMode::kCleared && draft.Chance(50)) {
    request.anchor = AnchorMode::kCleared;
    request.state = kStateInJava;
  } else {
    request.anchor = AnchorMode::kTrue;
    if (request.state == kStateInJava) request.state = kStateInNative;
  }
  return true;
}

bool ChangeDepth(Draft& draft) {
  constexpr uint16_t kDepths[] = {1, 2, 3, 8, 16, 32, 48, 64, 128, 128, 512};
  draft.request().depth =
      draft.Chance(97) ? draft.OneOf(std::span<const uint16_t>(kDepths)) : WalkRequest::kMaxDepth;
  return true;
}

bool ChangeScene(Draft& draft) {
  const uint8_t scene = draft.AnyScene();
  if (scene == draft.request().scene) return false;
  draft.request().scene = scene;
  return true;
}

bool Fresh(Draft& draft) {
  WalkRequest& request = draft.request();
  const uint8_t scene = draft.AnyScene();
  if (draft.words().scenes[scene % Vocabulary::kScenes].available == 0) return false;
  if (draft.Chance(60)) {
    RandomRequests(draft.words(), draft.walker(), scene).Next(draft.random(), request);
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
    {"to-any-value", 4, ToAnyValue},
    {"to-code", 3, ToCode},
    {"to-stack", 4, ToStack},
    {"to-method", 1, ToMethod},
    {"to-edge", 4, ToEdge},
    {"to-readable", 2, ToReadable},
    {"to-literal", 2, ToLiteral},
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
