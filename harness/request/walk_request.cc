// SPDX-License-Identifier: Apache-2.0
#include "harness/request/walk_request.h"

#include <algorithm>
#include <iterator>

namespace walkhammer {
namespace {

// The greatest distance, in bytes up or down, of a shifted register from its pristine value.
constexpr int64_t kShiftLimit = 64;

bool IsPristineWithin(const Value& value, int64_t limit) {
  return value.symbol == SymbolTable::IdOf(SymbolKind::kPristine) && value.is_signed == 0 &&
         value.addend >= -limit && value.addend <= limit;
}

bool AllPristineWithin(const WalkRequest& request, int64_t limit) {
  return IsPristineWithin(request.pc, limit) && IsPristineWithin(request.sp, limit) &&
         IsPristineWithin(request.fp, limit) && IsPristineWithin(request.lr, limit);
}

// True if HotSpot's own transitions let a signal find this pair of state and anchor.
bool StateFitsAnchor(const WalkRequest& request) {
  return (request.state == kStateInJava && request.anchor == AnchorMode::kCleared) ||
         (request.state == kStateInNative && request.anchor == AnchorMode::kTrue);
}

}  // namespace

bool operator==(const WalkRequest& a, const WalkRequest& b) {
  return a.walker == b.walker && a.scene == b.scene && a.state == b.state && a.anchor == b.anchor &&
         a.depth == b.depth && a.edit_count == b.edit_count && a.options == b.options &&
         a.origin == b.origin && a.against == b.against &&
         std::equal(a.reserved, a.reserved + 2, b.reserved) && a.fault == b.fault && a.pc == b.pc &&
         a.sp == b.sp && a.fp == b.fp && a.lr == b.lr && a.anchor_sp == b.anchor_sp &&
         a.anchor_pc == b.anchor_pc && a.anchor_fp == b.anchor_fp &&
         std::equal(a.edits, a.edits + std::min<int>(a.edit_count, WalkRequest::kMaxEdits),
                    b.edits);
}

Realism RealismOf(const WalkRequest& request) {
  if (request.fault != 0) return Realism::kFailingLoad;
  if (request.origin == Origin::kSample) return Realism::kGenuine;
  if (request.edit_count > 0) return Realism::kEditedStack;
  if (request.anchor == AnchorMode::kCustom) return Realism::kRandomRegisters;
  if (AllPristineWithin(request, 0) && StateFitsAnchor(request)) return Realism::kGenuine;
  return AllPristineWithin(request, kShiftLimit) ? Realism::kShifted : Realism::kRandomRegisters;
}

int RankOf(Realism realism, int edit_count) {
  return static_cast<int>(realism) * kRanksOfRealism + edit_count;
}

std::string_view RealismWord(Realism realism) {
  static constexpr std::string_view kWords[] = {"genuine",      "shifted",      "random-registers",
                                                "edited-stack", "failing-load", "unknown"};
  return kWords[static_cast<size_t>(std::min(realism, Realism::kCount))];
}

// Source: enum JavaThreadState in HotSpot's globalDefinitions.hpp.
const char* StateWord(uint8_t state) {
  static constexpr const char* kWords[] = {
      "uninitialized", nullptr,       "new",     "new_trans",     "in_native", "in_native_trans",
      "in_vm",         "in_vm_trans", "in_Java", "in_Java_trans", "blocked",   "blocked_trans"};
  return state < std::size(kWords) ? kWords[state] : nullptr;
}

}  // namespace walkhammer
