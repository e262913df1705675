#include "harness/supervise/minimize_input.h"

#include "harness/record/finding_record.h"
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

std::string Gravest(const ReplayOutcome& outcome) {
  std::string gravest;
  for (const FindingRecord& finding : outcome.findings)
    if (gravest.empty() || finding.grade == Grade::kForbidden) gravest = finding.signature.expect;
  return gravest;
}

}  // namespace

Result<MinimizedInput> MinimizeInput(const ReplayInput& input, const ChildSetup& setup,
                                     const MinimizePlan& plan) {
  auto started = ReplayRun::Start(input, setup, /*keep=*/true);
  if (!started.ok()) return started.failure();
  ReplayRun& session = *started.value();
  const WalkRequest original = session.request();
  auto first = session.Wait();
  if (!first.ok()) return first.failure();
  MinimizedInput out;
  out.expect = plan.expect.empty() ? Gravest(first.value()) : plan.expect;
  if (out.expect.empty() || !Shows(first, out.expect))
    return BadInput(input.name + " does not show " +
                    (out.expect.empty() ? "any finding" : out.expect) +
                    " here: there is nothing to minimise");
  const auto in_fresh_processes = [&](const WalkRequest& candidate, int times) {
    const std::string text =
        ToText({candidate, out.expect, setup.platform.arch}, session.symbols());
    for (int i = 0; i < times; i++)
      if (!Shows(Replay({text, input.name, input.hang_limit_ms}, setup), out.expect)) return false;
    return true;
  };
  const auto same = [&](const WalkRequest& candidate) {
    return (!plan.stop || !plan.stop()) && Shows(session.Walk(candidate), out.expect);
  };
  Minimized small = Minimize(original, same, plan.most_tries);
  if (!in_fresh_processes(small.request, plan.times)) {
    // What the process had walked before played a part: try each step in a process of its own.
    const auto same_alone = [&](const WalkRequest& candidate) {
      return (!plan.stop || !plan.stop()) && in_fresh_processes(candidate, 2);
    };
    small = Minimize(original, same_alone, plan.most_tries);
    if (!in_fresh_processes(small.request, plan.times))
      return ToolFailed(input.name + " does not replay every time, so it cannot be minimised");
  }
  out.text = ToText({small.request, out.expect, setup.platform.arch}, session.symbols());
  out.edits_before = original.edit_count;
  out.edits = small.request.edit_count;
  out.tried = small.tried;
  return out;
}

}  // namespace walkhammer
