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

bool Shows(const Result<ReplayOutcome>& outcome, const std::string& expect) {
  if (!outcome.ok()) return false;
  for (const FindingRecord& finding : outcome.value().findings)
    if (MatchesExpect(expect, finding.signature) == Match::kExact) return true;
  return false;
}

// True if each of `times` fresh processes shows `expect`; at most `jobs` of them run at a time.
bool AllShow(const ReplayInput& input, const ChildSetup& setup, const std::string& expect,
             int times, int jobs, const std::function<bool()>& give_up) {
  std::vector<std::unique_ptr<ReplayRun>> running;
  for (int started = 0, shown = 0; shown < times;) {
    if (give_up()) return false;
    if (started < times && running.size() < static_cast<size_t>(jobs)) {
      auto run = ReplayRun::Start(input, setup);
      if (!run.ok()) return false;
      running.push_back(std::move(run.value()));
      started++;
      continue;
    }
    bool any = false;
    for (size_t i = 0; i < running.size(); i++) {
      const auto outcome = running[i]->Poll();
      if (outcome == nullptr) continue;
      if (!Shows(*outcome, expect)) return false;
      shown++;
      any = true;
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i--));
    }
    if (!any) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

std::string Gravest(const ReplayOutcome& outcome) {
  std::string gravest;
  for (const FindingRecord& finding : outcome.findings)
    if (gravest.empty() || finding.grade == Grade::kForbidden) gravest = finding.signature.expect;
  return gravest;
}

}  // namespace

Result<MinimizedInput> MinimizeInput(const ReplayInput& input, const ChildSetup& setup,
                                     const MinimizePlan& plan) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point began = Clock::now();
  const auto give_up = [&] {
    return (plan.give_up && plan.give_up()) || (plan.until && Clock::now() >= *plan.until);
  };
  ASSIGN_OR_RETURN(auto started, ReplayRun::Start(input, setup, /*keep=*/true));
  ReplayRun& session = *started;
  const WalkRequest original = session.request();
  auto first = session.Wait(give_up);
  if (!first.ok()) return first.failure();
  MinimizedInput out;
  out.expect = plan.expect.empty() ? Gravest(first.value()) : plan.expect;
  if (out.expect.empty() || !Shows(first, out.expect))
    return BadInput(input.name + " does not show " +
                    (out.expect.empty() ? "any finding" : out.expect) +
                    " here: there is nothing to minimise");
  // Time that the search must leave for the proof.
  const Clock::duration proof = (Clock::now() - began) * ((plan.times + plan.jobs - 1) / plan.jobs);
  const auto stop = [&] {
    return (plan.stop && plan.stop()) || give_up() ||
           (plan.until && Clock::now() + proof >= *plan.until);
  };
  const Failure no_time = Unable("there is no time left to minimise " + input.name);
  if (plan.until && stop()) return no_time;
  const auto in_fresh_processes = [&](const WalkRequest& candidate, int times) {
    const std::string text =
        ToText({candidate, out.expect, setup.platform.arch}, session.symbols());
    return AllShow({text, input.name, input.hang_limit_ms}, setup, out.expect, times, plan.jobs,
                   give_up);
  };
  const auto same = [&](const WalkRequest& candidate) {
    return !stop() && Shows(session.Walk(candidate, give_up), out.expect);
  };
  Minimized small = Minimize(original, same, plan.most_tries);
  if (!in_fresh_processes(small.request, plan.times)) {
    if (give_up()) return no_time;
    // Earlier walks of the same process played a part: try each step in fresh processes.
    const auto same_alone = [&](const WalkRequest& candidate) {
      return !stop() && in_fresh_processes(candidate, 2);
    };
    small = Minimize(original, same_alone, plan.most_tries);
    if (!in_fresh_processes(small.request, plan.times)) {
      if (give_up()) return no_time;
      return ToolFailed(input.name + " does not replay every time, so it cannot be minimised");
    }
  }
  out.text = ToText({small.request, out.expect, setup.platform.arch}, session.symbols());
  out.edits_before = original.edit_count;
  out.edits = small.request.edit_count;
  out.tried = small.tried;
  return out;
}

}  // namespace walkhammer
