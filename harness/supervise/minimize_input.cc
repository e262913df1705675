// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/minimize_input.h"

#include <memory>
#include <thread>
#include <vector>

#include "harness/findings/finding_record.h"
#include "harness/request/text_form.h"
#include "harness/supervise/minimizer.h"

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

}  // namespace

Result<MinimizedInput> MinimizeInput(const ReplayInput& input, const ChildSetup& setup,
                                     const MinimizePlan& plan) {
  return SearchInChild(input, setup, plan).Run();
}

}  // namespace walkhammer
