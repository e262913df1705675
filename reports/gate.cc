// SPDX-License-Identifier: Apache-2.0
#include "reports/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "harness/base/json_text.h"
#include "harness/base/numbers.h"
#include "reports/gate_checks.h"

namespace walkhammer {
namespace {

// The builds of a side, by version, else by the JDK.
std::string BuildOf(const GateSide& side) {
  std::set<std::string> builds;
  for (const RunRow& run : side.runs) {
    const std::string& vm = run.identity.vm_version;
    builds.insert(vm.empty() ? run.identity.jdk_path : VersionOfVm(vm));
  }
  std::string text;
  for (const std::string& build : builds) text += (text.empty() ? "" : ", ") + build;
  return text;
}

// Why nothing can be said; empty: something can.
std::string WhyVacuous(const GateSide& baseline, const GateSide& candidate) {
  if (baseline.successful == 0) return "no walk of the baseline returned a frame";
  if (candidate.successful == 0) return "";
  const bool common =
      std::any_of(baseline.codes.begin(), baseline.codes.end(),
                  [&](const auto& stratum) { return candidate.codes.contains(stratum.first); }) ||
      (baseline.guided > 0 && candidate.guided > 0 &&
       std::any_of(baseline.walked.begin(), baseline.walked.end(),
                   [&](const std::string& name) { return candidate.walked.contains(name); }));
  return common ? "" : "the sides have no walker and workload in common";
}

void AddNotes(const GateSide& baseline, const GateSide& candidate, GateVerdict& verdict) {
  for (const GateSide* side : {&baseline, &candidate})
    verdict.notes.insert(verdict.notes.end(), side->differences.begin(), side->differences.end());
  const size_t guided = baseline.guided + candidate.guided;
  const size_t compared = baseline.runs.size() + candidate.runs.size() - guided;
  if (compared > 0 && compared < 4)
    verdict.notes.push_back(
        "there are fewer than two runs on each side, so how far runs of one build differ is not "
        "measured but assumed; give more runs");
  const RunIdentity &before = baseline.runs.front().identity,
                    &now = candidate.runs.front().identity;
  if (before.cpu_model != now.cpu_model)
    verdict.notes.push_back("the sides ran on different processors, so times do not compare");
  if (before.tool_version != now.tool_version)
    verdict.notes.push_back(fmt::format("walkhammer {} made the baseline, {} the candidate",
                                        before.tool_version, now.tool_version));
  if (guided > 0)
    verdict.notes.push_back(fmt::format(
        "{} of a guided engine, which chooses what it walks by what it has met, {} not compared by "
        "error codes and times",
        Counted(guided, "run"), guided == 1 ? "is" : "are"));
  else if (baseline.times.empty() || candidate.times.empty())
    verdict.notes.push_back("a side has no times of walks");
}

// The reason that a run which failed gives; empty if none failed.
std::string WhyFailed(const GateSide& side) {
  for (const RunRow& run : side.runs)
    if (run.status == RunStatus::kFailed && !run.reason.empty()) return ": " + run.reason;
  return "";
}

// Walks a second of CPU time, by the fuzz runs of the random engine; 0: there are none. How busy
// the machine was does not count.
double WalkRate(const GateSide& side) {
  double walks = 0, seconds = 0;
  for (const RunRow& run : side.runs) {
    if (run.identity.Kind() != "fuzz" || run.identity.IsGuided()) continue;
    walks += static_cast<double>(run.totals.walks);
    seconds += static_cast<double>(run.totals.walking_cpu_ms) / 1000;
  }
  return seconds > 0 ? walks / seconds : 0;
}

// A candidate that does not walk, or not as the baseline does.
void CheckWalks(const GateSides& sides, GateVerdict& verdict) {
  const GateSide &baseline = sides.baseline, &candidate = sides.candidate;
  const std::string before =
      fmt::format("the baseline's runs made {}, {} with a frame", Counted(baseline.walks, "walk"),
                  Grouped(baseline.successful));
  if (candidate.walks == 0)
    AddChange({GateKind::kCannotStart, "nothing was walked",
               before + "; the candidate's none" + WhyFailed(candidate)},
              sides.policy, verdict);
  else if (candidate.successful == 0)
    AddChange(
        {GateKind::kNoStacks, "no walk returned a frame",
         fmt::format("of {} of the candidate's; {}", Counted(candidate.walks, "walk"), before)},
        sides.policy, verdict);
  const double rate = WalkRate(baseline), now = WalkRate(candidate);
  if (candidate.walks > 0 && rate > 0 && now > 0 && now < sides.policy.walk_rate * rate)
    AddChange(
        {GateKind::kFewerWalks, "walks of synthetic requests",
         fmt::format("{} a second of CPU time, the baseline made {}",
                     Grouped(static_cast<uint64_t>(now)), Grouped(static_cast<uint64_t>(rate)))},
        sides.policy, verdict);
}

bool SameProcessors(const GateSide& baseline, const GateSide& candidate) {
  return baseline.runs.front().identity.cpu_model == candidate.runs.front().identity.cpu_model;
}

size_t CountOf(const GateVerdict& verdict, GateEffect effect) {
  return static_cast<size_t>(
      std::count_if(verdict.changes.begin(), verdict.changes.end(),
                    [&](const GateChange& change) { return change.effect == effect; }));
}

void WithoutVerdict(const std::string& why, GateVerdict& verdict) {
  verdict.why = why;
  verdict.word = "NOT ENOUGH DATA";
  verdict.exit = ExitCode::kToolFailed;
}

// Sorts the changes, and says whether any fails.
bool SetWord(GateVerdict& verdict) {
  std::stable_sort(verdict.changes.begin(), verdict.changes.end(),
                   [](const GateChange& a, const GateChange& b) { return a.effect > b.effect; });
  const bool fails = CountOf(verdict, GateEffect::kFail) > 0;
  verdict.word = fails ? "REGRESSION" : "PASS";
  verdict.exit = fails ? ExitCode::kFindings : ExitCode::kClean;
  return fails;
}

}  // namespace

GateVerdict JudgeGate(const GateSide& baseline, const GateSide& candidate, const GatePolicy& policy,
                      const GateReplay& replay, const GateAnswers& answers) {
  GateVerdict verdict;
  verdict.baseline = {BuildOf(baseline), baseline.runs.size(), baseline.walks};
  verdict.candidate = {BuildOf(candidate), candidate.runs.size(), candidate.walks};
  verdict.bound = 1e6 * UpperBound(0, candidate.walks);
  if (!candidate.runs.empty()) verdict.walkers = candidate.runs.front().identity.walker;
  verdict.why = WhyVacuous(baseline, candidate);
  if (!verdict.why.empty()) {
    verdict.word = "VACUOUS";
    verdict.exit = ExitCode::kToolFailed;
    return verdict;
  }
  AddNotes(baseline, candidate, verdict);
  const GateSides sides{baseline, candidate, policy, replay, answers};
  CheckWalks(sides, verdict);
  CheckTruth(sides, verdict);
  NoteCommonUnits(sides, verdict);
  CheckBuckets(sides, verdict);
  CheckCorpora(sides, verdict);
  CheckAnswers(sides, verdict);
  CheckWorkloads(sides, verdict);
  CheckCoverage(sides, verdict);
  CheckCodes(sides, verdict);
  if (SameProcessors(baseline, candidate)) CheckTimes(sides, verdict);
  if (SetWord(verdict)) return verdict;
  const std::string why = WhyTooLittle(sides, verdict);
  if (!why.empty()) WithoutVerdict(why, verdict);
  return verdict;
}

GateVerdict JudgeJdkImages(const GateSide& baseline, const GateSide& candidate,
                           const GatePolicy& policy, const GateAnswers& answers,
                           uint64_t compared) {
  GateVerdict verdict;
  verdict.baseline.build = BuildOf(baseline);
  verdict.candidate.build = BuildOf(candidate);
  verdict.walkers = candidate.runs.front().identity.walker;
  CheckCorpora({baseline, candidate, policy, {}, answers}, verdict);
  if (!SetWord(verdict) && compared == 0)
    WithoutVerdict("no request of the corpora has an answer of both JDKs", verdict);
  return verdict;
}

namespace {

std::string ChangeText(const GateChange& change) {
  std::string text = OnOneLine(fmt::format("  {:<4}  {:<13}  {}", GateEffectWord(change.effect),
                                           GateKindWord(change.kind), change.what)) +
                     "\n";
  text += OnOneLine("        " + change.details) + "\n";
  if (!change.input.empty()) text += OnOneLine("        " + change.input) + "\n";
  return text;
}

std::string ListText(const char* title, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string text = fmt::format("\n{}\n", title);
  for (const std::string& line : lines) text += OnOneLine("  " + line) + "\n";
  return text;
}

std::string FamilyText(const char* what, const GateFamily& family) {
  return fmt::format("  {:<14}{} compared, {} without enough data\n", what,
                     Grouped(family.compared), Grouped(family.not_enough));
}

}  // namespace

std::string GateText(const GateVerdict& verdict) {
  std::string text =
      fmt::format("{}: {} against {}\n", verdict.word, OnOneLine(verdict.candidate.build),
                  OnOneLine(verdict.baseline.build));
  text += "\nChanges\n";
  if (verdict.changes.empty())
    text += verdict.why.empty() ? "  none\n" : "  not compared: " + verdict.why + "\n";
  for (const GateChange& change : verdict.changes) text += ChangeText(change);
  text += ListText("Better", verdict.better) + ListText("Notes", verdict.notes);
  if (verdict.candidate.runs == 0) return text + "\n" + GateLine(verdict) + "\n";
  text += "\nCompared\n";
  for (const auto& [name, side] :
       {std::pair("baseline", verdict.baseline), {"candidate", verdict.candidate}})
    text += fmt::format("  {:<14}{} runs, {} walks\n", name, side.runs, Grouped(side.walks));
  text += FamilyText("error codes", verdict.codes) + FamilyText("walk times", verdict.times) +
          FamilyText("buckets", verdict.buckets);
  if (verdict.answers.compared > 0)
    text += fmt::format("  {:<14}{} compared one by one, {} that vary left out\n", "answers",
                        Grouped(verdict.answers.compared), Grouped(verdict.answers.not_enough));
  return text + "\n" + GateLine(verdict) + "\n";
}

namespace {

constexpr size_t kNamedChanges = 3;  // in the last line

// "new-crash: crash in f (10 of 10 against 0 of 10, genuine, FILE.walk)"
std::string NamedChange(const GateChange& change) {
  std::string shown = change.evidence;
  if (!change.input.empty()) shown += (shown.empty() ? "" : ", ") + change.input;
  return fmt::format("{}: {}{}", GateKindWord(change.kind), change.what,
                     shown.empty() ? "" : " (" + shown + ")");
}

}  // namespace

std::string GateLine(const GateVerdict& verdict) {
  const GateTotals &before = verdict.baseline, &now = verdict.candidate;
  const bool has_runs = now.runs + before.runs > 0;
  std::string text = fmt::format("walkhammer gate: {}. {}: {} against {}; ", verdict.word,
                                 verdict.walkers, now.build, before.build);
  text += has_runs ? fmt::format("{} + {} runs, {} + {} walks; ", now.runs, before.runs,
                                 Grouped(now.walks), Grouped(before.walks))
                   : std::string("the corpora and vmStructs, without runs; ");
  if (!verdict.why.empty()) return OnOneLine(text + verdict.why);
  std::string found;
  for (size_t i = 0; i < std::min(verdict.changes.size(), kNamedChanges); i++)
    found += (found.empty() ? "" : ", ") + NamedChange(verdict.changes[i]);
  if (verdict.changes.size() > kNamedChanges)
    found += fmt::format(" and {} more", verdict.changes.size() - kNamedChanges);
  text += found.empty() ? "nothing is worse" : found;
  if (!has_runs) return OnOneLine(text + ".");
  text +=
      fmt::format("; {} answers, {} codes and {} times compared", Grouped(verdict.answers.compared),
                  Grouped(verdict.codes.compared), Grouped(verdict.times.compared));
  return OnOneLine(text + fmt::format("; a crash that was not met has at most {} in a million "
                                      "walks (95 %).",
                                      Rounded(verdict.bound, 2)));
}

namespace {

using Json = nlohmann::ordered_json;

Json SideJson(const GateTotals& side) {
  return {{"build", side.build}, {"runs", side.runs}, {"walks", side.walks}};
}

Json FamilyJson(const GateFamily& family) {
  return {{"compared", family.compared}, {"not_enough_data", family.not_enough}};
}

}  // namespace

std::string GateJsonText(const GateVerdict& verdict) {
  Json changes = Json::array();
  for (const GateChange& change : verdict.changes)
    changes.push_back({{"effect", GateEffectWord(change.effect)},
                       {"kind", GateKindWord(change.kind)},
                       {"what", change.what},
                       {"details", change.details},
                       {"p", change.p},
                       {"bug", change.bug.empty() ? Json(nullptr) : Json(change.bug)},
                       {"input", change.input.empty() ? Json(nullptr) : Json(change.input)}});
  const Json json = {{"gate", 1},
                     {"verdict", verdict.word},
                     {"why", verdict.why},
                     {"exit_code", static_cast<int>(verdict.exit)},
                     {"walkers", verdict.walkers},
                     {"baseline", SideJson(verdict.baseline)},
                     {"candidate", SideJson(verdict.candidate)},
                     {"changes", changes},
                     {"better", verdict.better},
                     {"notes", verdict.notes},
                     {"compared",
                      {{"codes", FamilyJson(verdict.codes)},
                       {"times", FamilyJson(verdict.times)},
                       {"buckets", FamilyJson(verdict.buckets)},
                       {"answers", FamilyJson(verdict.answers)}}},
                     {"unmet_crash_at_most_per_million", verdict.bound},
                     {"line", GateLine(verdict)}};
  return JsonText(json);
}

}  // namespace walkhammer
