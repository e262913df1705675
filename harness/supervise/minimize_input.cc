// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/minimize_input.h"

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

#include "harness/findings/finding_record.h"
#include "harness/request/text_form.h"

namespace walkhammer {
namespace {

using Clock = std::chrono::steady_clock;

bool Shows(const ReplayOutcome& outcome, const std::string& expect) {
  for (const FindingRecord& finding : outcome.findings)
    if (MatchesExpect(expect, finding.signature) == Match::kExact) return true;
  return false;
}

std::string Gravest(const ReplayOutcome& outcome) {
  std::string gravest;
  for (const FindingRecord& finding : outcome.findings)
    if (gravest.empty() || finding.grade == Grade::kForbidden) gravest = finding.signature.expect;
  return gravest;
}

// One search for a smaller input, and its proof.
class SearchInChild {
 public:
  SearchInChild(const ReplayInput& input, const ChildSetup& setup, const MinimizePlan& plan)
      : input_(input), setup_(setup), plan_(plan) {}

  Result<MinimizedInput> Run();

 private:
  bool IsStopped() const { return plan_.stop && plan_.stop(); }
  bool IsTimeOver() const { return plan_.until && Clock::now() >= *plan_.until; }
  bool MustEnd() const { return IsStopped() || IsTimeOver() || cannot_walk_.has_value(); }
  // Whether the search must end so that there is time left for the proof.
  bool MustProve() const {
    return MustEnd() || (plan_.until && Clock::now() + proof_ >= *plan_.until);
  }
  Result<ReplayOutcome> WalkFirst();
  bool ShowsHere(const WalkRequest& candidate);
  bool AllShow(const WalkRequest& candidate, int times);
  bool NoteUnwalked(const Failure& why);
  Result<MinimizedInput> Found(const Minimized& small, bool proved) const;
  // Why there is no proof although nothing missed.
  Failure WhyEnded() const {
    return cannot_walk_ ? *cannot_walk_
                        : Unable("there is no time left to minimise " + input_.name);
  }

  const ReplayInput& input_;
  const ChildSetup& setup_;
  const MinimizePlan& plan_;
  std::unique_ptr<ReplayRun> session_;  // a process that stays
  WalkRequest original_{};
  std::string expect_;
  Clock::duration proof_{};             // time that the proof will take
  int unwalked_ = 0;                    // walks in a row that failed
  std::optional<Failure> cannot_walk_;  // after kMostUnwalked of them
};

// A walk that failed is tried again: true, unless there were too many.
bool SearchInChild::NoteUnwalked(const Failure& why) {
  if (MustEnd()) return false;
  if (++unwalked_ >= kMostUnwalked)
    cannot_walk_ = Unable(input_.name + " could not be walked: " + why.message);
  return !cannot_walk_.has_value();
}

Result<ReplayOutcome> SearchInChild::WalkFirst() {
  for (;;) {
    ASSIGN_OR_RETURN(session_, ReplayRun::Start(input_, setup_, /*keep=*/true));
    auto first = session_->Wait([this] { return MustEnd(); });
    if (first.ok()) {
      unwalked_ = 0;
      return first;
    }
    if (!NoteUnwalked(first.failure())) return first.failure();
  }
}

// Whether the process that stays shows the finding.
bool SearchInChild::ShowsHere(const WalkRequest& candidate) {
  for (;;) {
    if (MustProve()) return false;
    const auto outcome = session_->Walk(candidate, [this] { return MustEnd(); });
    if (outcome.ok()) {
      unwalked_ = 0;
      return Shows(outcome.value(), expect_);
    }
    if (!NoteUnwalked(outcome.failure())) return false;
  }
}

// True if each of `times` fresh processes shows the finding; at most plan_.jobs of them run at a
// time. False, too, if the search must end.
bool SearchInChild::AllShow(const WalkRequest& candidate, int times) {
  const ReplayInput input{ToText({candidate, expect_, setup_.platform.arch}, session_->symbols()),
                          input_.name, input_.hang_limit_ms};
  std::vector<std::unique_ptr<ReplayRun>> running;
  for (int wanted = times, shown = 0; shown < times;) {
    if (MustEnd()) return false;
    if (wanted > 0 && running.size() < static_cast<size_t>(plan_.jobs)) {
      auto run = ReplayRun::Start(input, setup_);
      if (run.ok()) {
        running.push_back(std::move(run.value()));
        wanted--;
      } else if (!NoteUnwalked(run.failure())) {
        return false;
      }
      continue;
    }
    bool any = false;
    for (size_t i = 0; i < running.size(); i++) {
      const auto outcome = running[i]->Poll();
      if (outcome == nullptr) continue;
      any = true;
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i--));
      if (!outcome->ok()) {
        if (!NoteUnwalked(outcome->failure())) return false;
        wanted++;
        continue;
      }
      unwalked_ = 0;
      if (!Shows(outcome->value(), expect_)) return false;
      shown++;
    }
    if (!any) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

Result<MinimizedInput> SearchInChild::Found(const Minimized& small, bool proved) const {
  MinimizedInput out;
  out.expect = expect_;
  out.text = ToText({small.request, expect_, setup_.platform.arch}, session_->symbols());
  out.edits_before = original_.edit_count;
  out.edits = small.request.edit_count;
  out.tried = small.tried;
  out.proved = proved;
  return out;
}

Result<MinimizedInput> SearchInChild::Run() {
  const Clock::time_point began = Clock::now();
  const auto first = WalkFirst();
  if (IsStopped()) return ToolFailed("interrupted before " + input_.name + " was walked");
  if (!first.ok()) return first.failure();
  original_ = session_->request();
  expect_ = plan_.expect.empty() ? Gravest(first.value()) : plan_.expect;
  if (expect_.empty() || !Shows(first.value(), expect_))
    return BadInput(input_.name + " does not show " + (expect_.empty() ? "any finding" : expect_) +
                    " here: there is nothing to minimise");
  proof_ = (Clock::now() - began) * ((plan_.times + plan_.jobs - 1) / plan_.jobs);
  if (plan_.until && MustProve()) return WhyEnded();
  Minimized small = Minimize(
      original_, [this](const WalkRequest& candidate) { return ShowsHere(candidate); },
      plan_.most_tries);
  if (AllShow(small.request, plan_.times)) return Found(small, true);
  if (IsStopped()) return Found(small, false);
  if (MustEnd()) return WhyEnded();
  // Earlier walks of the same process played a part: try each step in fresh processes.
  small = Minimize(
      original_,
      [this](const WalkRequest& candidate) { return !MustProve() && AllShow(candidate, 2); },
      plan_.most_tries);
  if (AllShow(small.request, plan_.times)) return Found(small, true);
  if (IsStopped()) return Found(small, false);
  if (MustEnd()) return WhyEnded();
  return ToolFailed(input_.name + " does not replay every time, so it cannot be minimised");
}

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
      FailEarlier();
      if (before == best_ || Exhausted()) return {best_, tried_};
    }
  }

 private:
  bool Exhausted() const { return tried_ >= most_tries_; }

  // Keeps the candidate if it differs from `best_` and reproduces.
  bool Try(WalkRequest candidate) {
    if (candidate == best_ || Exhausted()) return false;
    candidate.origin = Origin::kMade;  // a changed sample is not a sample
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

  // The same load may fail nearer to the begin of the walk: half of what is before it is left out,
  // then a quarter.
  void FailEarlier() {
    for (uint32_t step = best_.fault / 2; step >= 1; step /= 2)
      TryWith([&](WalkRequest& r) { r.fault -= r.fault > step ? step : 0; });
  }

  WalkRequest best_;
  const Reproduces& reproduces_;
  int most_tries_;
  int tried_ = 0;
};

}  // namespace

Result<MinimizedInput> MinimizeInput(const ReplayInput& input, const ChildSetup& setup,
                                     const MinimizePlan& plan) {
  return SearchInChild(input, setup, plan).Run();
}

Minimized Minimize(const WalkRequest& request, const Reproduces& reproduces, int most_tries) {
  return Search(request, reproduces, most_tries).Run();
}

}  // namespace walkhammer
