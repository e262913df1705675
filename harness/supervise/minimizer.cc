// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/minimizer.h"

#include <algorithm>

namespace walkhammer {
namespace {

constexpr Value kPristineValue{0, SymbolTable::IdOf(SymbolKind::kPristine), 0};
constexpr Value kZero{0, SymbolTable::IdOf(SymbolKind::kLiteral), 0};

class Search {
 public:
  Search(const WalkRequest& request, const Reproduces& reproduces, int most_tries)
      : best_(request), reproduces_(reproduces), most_tries_(most_tries) {}

  Minimized Run() {
    // A later simplification may make an earlier one possible.
    for (WalkRequest before = best_;; before = best_) {
      DropEdits();
      RestoreHeader();
      SimplifyValues();
      ShrinkDepth();
      if (before == best_ || Exhausted()) return {best_, tried_};
    }
  }

 private:
  bool Exhausted() const { return tried_ >= most_tries_; }

  // Keeps the candidate if it differs from `best_` and reproduces.
  bool Try(WalkRequest candidate) {
    if (candidate == best_ || Exhausted()) return false;
    candidate.origin = Origin::kMade;  // a changed sample is no sample
    tried_++;
    if (!reproduces_(candidate)) return false;
    best_ = candidate;
    return true;
  }

  static WalkRequest WithoutEdits(const WalkRequest& from, int first, int count) {
    WalkRequest out = from;
    std::move(out.edits + first + count, out.edits + out.edit_count, out.edits + first);
    out.edit_count = static_cast<uint16_t>(out.edit_count - count);
    return out;
  }

  // Large pieces first, then single edits.
  void DropEdits() {
    for (int size = best_.edit_count; size >= 1; size /= 2)
      for (int first = 0; first + size <= best_.edit_count;)
        if (!Try(WithoutEdits(best_, first, size))) first += size;
  }

  template <typename Change>
  void TryWith(Change change) {
    WalkRequest candidate = best_;
    change(candidate);
    Try(candidate);
  }

  void RestoreHeader() {
    const WalkRequest fresh;
    TryWith([&](WalkRequest& r) {
      r.anchor = AnchorMode::kCleared;
      r.anchor_sp = r.anchor_pc = r.anchor_fp = Value{};
    });
    if (best_.anchor == AnchorMode::kCustom) {
      TryWith([&](WalkRequest& r) {
        r.anchor = AnchorMode::kTrue;
        r.anchor_sp = r.anchor_pc = r.anchor_fp = Value{};
      });
    }
    TryWith([&](WalkRequest& r) { r.state = fresh.state; });
    TryWith([&](WalkRequest& r) { r.options = fresh.options; });
    for (Value WalkRequest::*reg :
         {&WalkRequest::lr, &WalkRequest::fp, &WalkRequest::sp, &WalkRequest::pc})
      TryWith([&](WalkRequest& r) { r.*reg = kPristineValue; });
  }

  // Tries plain values first. `pristine`: the pristine symbol has a meaning for this value.
  void SimplifyValue(const std::function<Value&(WalkRequest&)>& value, bool pristine) {
    const auto put = [&](const Value& plain) {
      TryWith([&](WalkRequest& r) { value(r) = plain; });
    };
    if (pristine) put(kPristineValue);
    if (value(best_) == kPristineValue || value(best_) == kZero) return;
    put(kZero);
    if (value(best_) == kZero) return;
    put({0, value(best_).symbol, 0});
    // Halve what is left of the addend.
    for (int64_t addend = value(best_).addend / 2; addend != 0; addend /= 2) {
      const Value before = value(best_);
      put({addend, before.symbol, 0});
      if (value(best_) == before) break;
    }
  }

  void SimplifyValues() {
    for (Value WalkRequest::*reg :
         {&WalkRequest::pc, &WalkRequest::sp, &WalkRequest::fp, &WalkRequest::lr})
      SimplifyValue([reg](WalkRequest& r) -> Value& { return r.*reg; }, true);
    if (best_.anchor == AnchorMode::kCustom)
      for (Value WalkRequest::*reg :
           {&WalkRequest::anchor_sp, &WalkRequest::anchor_pc, &WalkRequest::anchor_fp})
        SimplifyValue([reg](WalkRequest& r) -> Value& { return r.*reg; }, true);
    for (int i = 0; i < best_.edit_count; i++)
      SimplifyValue([i](WalkRequest& r) -> Value& { return r.edits[i].value; }, false);
  }

  // Tries the default depth; if that does not reproduce, bisects for the smallest depth that does.
  void ShrinkDepth() {
    const WalkRequest fresh;
    TryWith([&](WalkRequest& r) { r.depth = fresh.depth; });
    if (best_.depth == fresh.depth) return;
    for (int low = 1, high = best_.depth; low < high && !Exhausted();) {
      const int middle = (low + high) / 2;
      TryWith([&](WalkRequest& r) { r.depth = static_cast<uint16_t>(middle); });
      if (best_.depth == middle)
        high = middle;
      else
        low = middle + 1;
    }
  }

  WalkRequest best_;
  const Reproduces& reproduces_;
  int most_tries_;
  int tried_ = 0;
};

}  // namespace

Minimized Minimize(const WalkRequest& request, const Reproduces& reproduces, int most_tries) {
  return Search(request, reproduces, most_tries).Run();
}

}  // namespace walkhammer
