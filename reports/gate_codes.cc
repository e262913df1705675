// SPDX-License-Identifier: Apache-2.0
// The check of what walks answered.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/base/numbers.h"
#include "reports/gate_checks.h"
#include "reports/run_summary.h"

namespace walkhammer {
namespace {

constexpr char kAnyFailure[] = "any failure";  // all codes but frames
constexpr char kAnyAnswer[] = "any answer";    // all codes
constexpr double kFewestEvents = 20;           // of both sides together
constexpr double kFewestWalks = 1000;          // of each side
constexpr double kFewestDegrees = 6;           // of the variation within or between runs

// A stratum that both sides have.
struct Common {
  const Stratum* stratum;
  const CodeCounts *baseline, *candidate;
};

// Strata that are compared together: one, or those of all workloads with the same walker, state and
// region.
struct Group {
  Stratum name;
  bool scenes = false;  // of fuzz runs
  std::vector<Common> members;
};

// A code of a group. The counts are compared with expected events instead of walks: how many events
// the walks would have if both sides had the same share, workload by workload (indirect
// standardisation). So it does not matter which workloads had their turn in a period.
struct CodeCase {
  const Group* group;
  std::string code;
  SideCounts baseline = {}, candidate = {};
  PeriodCount before = {}, now = {};  // sums, of walks
  Dispersion within = {}, between = {};
  RateTest rise = {}, fall = {};

  bool IsLarge(const GatePolicy& policy) const {
    return std::abs(now.events / now.walks - before.events / before.walks) >= policy.code_share;
  }
};

// Events of all codes but frames.
SideCounts Failures(const CodeCounts& codes) {
  SideCounts sum = codes.begin()->second;
  for (RunCounts& run : sum)
    for (PeriodCount& period : run) period.events = 0;
  for (const auto& [code, side] : codes)
    for (size_t run = 0; run < side.size() && code != "frames"; run++)
      for (size_t i = 0; i < side[run].size(); i++) sum[run][i].events += side[run][i].events;
  return sum;
}

// All walks as events.
SideCounts AllWalks(const CodeCounts& codes) {
  SideCounts all = codes.begin()->second;
  for (RunCounts& run : all)
    for (PeriodCount& period : run) period.events = period.walks;
  return all;
}

// The side's counts of a code that it may lack.
SideCounts CountsOf(const CodeCounts& codes, const std::string& code) {
  if (code == kAnyFailure) return Failures(codes);
  if (code == kAnyAnswer) return AllWalks(codes);
  if (const auto at = codes.find(code); at != codes.end()) return at->second;
  return Failures({{"frames", codes.begin()->second}});
}

// Adds counts of a workload whose walks have events with the share `rate` on both sides together.
void AddExpected(const SideCounts& counts, double rate, SideCounts& sum) {
  sum.resize(std::max(sum.size(), counts.size()));
  for (size_t run = 0; run < counts.size(); run++) {
    sum[run].resize(std::max(sum[run].size(), counts[run].size()));
    for (size_t i = 0; i < counts[run].size(); i++)
      sum[run][i] = sum[run][i] + PeriodCount{counts[run][i].events, rate * counts[run][i].walks};
  }
}

CodeCase CaseOf(const Group& group, const std::string& code) {
  CodeCase each{&group, code};
  for (const Common& member : group.members) {
    const SideCounts before = CountsOf(*member.baseline, code),
                     now = CountsOf(*member.candidate, code);
    const PeriodCount a = SumOf(before), b = SumOf(now), both = a + b;
    each.before = each.before + a;
    each.now = each.now + b;
    if (a.walks <= 0 || b.walks <= 0 || both.events <= 0) continue;
    AddExpected(before, both.events / both.walks, each.baseline);
    AddExpected(now, both.events / both.walks, each.candidate);
  }
  each.within = WithinRuns(each.baseline, each.candidate);
  // Binomial counts vary less than Poisson's, by the share of walks without the event.
  const PeriodCount all = each.before + each.now;
  if (all.walks > 0)
    each.within.factor = std::max({each.within.factor, 1 - all.events / all.walks, 0.01});
  each.between = BetweenRuns(each.baseline, each.candidate, each.within);
  return each;
}

bool HasEnough(const CodeCase& each) {
  return std::min(each.before.walks, each.now.walks) >= kFewestWalks &&
         std::max(each.within.degrees, each.between.degrees) >= kFewestDegrees;
}

void AddCases(const Group& group, GateFamily& family, std::vector<CodeCase>& cases) {
  std::set<std::string> codes;
  for (const Common& member : group.members)
    for (const auto* side : {member.baseline, member.candidate})
      for (const auto& [code, counts] : *side)
        if (code != "frames") codes.insert(code);
  if (codes.size() > 1) codes.insert(kAnyFailure);
  for (const std::string& code : codes) {
    CodeCase each = CaseOf(group, code);
    if (each.before.events + each.now.events < kFewestEvents) continue;
    const bool enough = HasEnough(each);
    (enough ? family.compared : family.not_enough)++;
    if (enough) cases.push_back(std::move(each));
  }
}

size_t RunsWithWalks(const SideCounts& side) {
  return static_cast<size_t>(
      std::count_if(side.begin(), side.end(), [](const RunCounts& run) { return !run.empty(); }));
}

// Share of the data that HasEnough needs and the group has, for a code of any number of events.
double DataOf(const Group& group) {
  const CodeCase all = CaseOf(group, kAnyAnswer);
  const auto runs = static_cast<double>(RunsWithWalks(all.baseline) + RunsWithWalks(all.candidate));
  const double walks = std::min(all.before.walks, all.now.walks) / kFewestWalks,
               periods = (all.within.degrees + runs) / (kFewestDegrees + runs),
               of_runs = all.between.degrees / kFewestDegrees;
  return std::min(walks, std::max(periods, of_runs));
}

// In C code, which calls are interrupted there differs from run to run.
const Spread& SpreadOf(const Group& group) {
  if (group.scenes) return kSceneCodeSpread;
  return group.name.region == "library" ? kLibraryCodeSpread : kCodeSpread;
}

void Test(CodeCase& each, const GatePolicy& policy) {
  const PeriodCount a = SumOf(each.baseline), b = SumOf(each.candidate);
  const auto runs =
      static_cast<double>(RunsWithWalks(each.baseline) + RunsWithWalks(each.candidate));
  const double of_run = std::sqrt(each.within.factor * runs / (a.events + b.events));
  const Dispersion between = Moderated(each.between, PriorOf(SpreadOf(*each.group), of_run));
  const Dispersion all{
      each.within.factor * std::max(1.0, between.factor),
      each.within.degrees > 0 ? std::min(between.degrees, each.within.degrees) : between.degrees};
  each.rise = CompareRates(a, b, all, policy.code_ratio);
  each.fall = CompareRates(b, a, all, policy.code_ratio);
}

// Groups of one for each stratum that both sides have, and of all workloads: what is more frequent
// everywhere is found with less data there.
std::vector<Group> CommonGroups(const GateSide& baseline, const GateSide& candidate) {
  std::vector<Group> groups;
  std::map<Stratum, Group> all;
  for (const auto& [stratum, codes] : baseline.codes) {
    const auto at = candidate.codes.find(stratum);
    if (at == candidate.codes.end()) continue;
    const Common common{&stratum, &codes, &at->second};
    const bool scene = baseline.scenes.contains(stratum.workload);
    groups.push_back({stratum, scene, {common}});
    Group& group =
        all[{stratum.walker, scene ? kAllScenes : kAllWorkloads, stratum.state, stratum.region}];
    group.scenes = scene;
    group.members.push_back(common);
  }
  for (auto& [name, group] : all) {
    if (group.members.size() < 2) continue;
    group.name = name;
    groups.push_back(std::move(group));
  }
  return groups;
}

std::string CaseText(const CodeCase& each) {
  const Stratum& name = each.group->name;
  std::string where = fmt::format("{}, {}, {}", name.walker, name.workload, name.state);
  if (!name.region.empty()) where += ", " + name.region;
  const std::string code_name = CodeNameOf(name.walker, each.code);
  return fmt::format("{}: {}{}{}", where, each.code, code_name.empty() ? "" : " ", code_name);
}

// "1.00 % -> 1.31 % of 1,234,567 walks (x1.31, 95 %: 1.25 to 1.38)"
std::string RiseText(const CodeCase& each) {
  const std::string walks = Grouped(static_cast<uint64_t>(each.now.walks));
  if (each.before.events == 0)
    return fmt::format("never -> {} % of {} walks", Rounded(100 * each.now.events / each.now.walks),
                       walks);
  return fmt::format("{} % -> {} % of {} walks (x{}, 95 %: {} to {})",
                     Rounded(100 * each.before.events / each.before.walks),
                     Rounded(100 * each.now.events / each.now.walks), walks,
                     Rounded(each.rise.ratio), Rounded(each.rise.low), Rounded(each.rise.high));
}

// For a group of one; empty for others.
std::string DistanceText(const Group& group) {
  if (group.members.size() != 1) return "";
  const CodeCounts &baseline = *group.members[0].baseline, &candidate = *group.members[0].candidate;
  std::set<std::string> codes;
  for (const auto* side : {&baseline, &candidate})
    for (const auto& [code, counts] : *side) codes.insert(code);
  std::vector<SideCounts> before, now;
  for (const std::string& code : codes) {
    before.push_back(CountsOf(baseline, code));
    now.push_back(CountsOf(candidate, code));
  }
  const Distance found = CompareDistributions(before, now);
  return fmt::format("; {} % of all answers there differ, and chance alone makes {} % differ",
                     Rounded(100 * found.distance), Rounded(100 * found.noise));
}

}  // namespace

void CheckCodes(const GateSides& sides, GateVerdict& verdict) {
  const GatePolicy& policy = sides.policy;
  const std::vector<Group> groups = CommonGroups(sides.baseline, sides.candidate);
  std::vector<CodeCase> cases;
  for (const Group& group : groups) {
    AddCases(group, verdict.codes, cases);
    if (group.members.size() == 1 || group.scenes)
      NoteData(sides, group.name.walker, group.members.front().stratum->workload, DataOf(group),
               verdict);
  }
  std::vector<double> rises, falls;
  for (CodeCase& each : cases) {
    Test(each, policy);
    rises.push_back(each.rise.p);
    falls.push_back(each.fall.p);
  }
  rises = Holm(rises);
  falls = Holm(falls);
  for (size_t i = 0; i < cases.size(); i++) {
    const CodeCase& each = cases[i];
    if (!each.IsLarge(policy)) continue;
    if (rises[i] < policy.alpha)
      AddChange(
          {GateKind::kCodes, CaseText(each), RiseText(each) + DistanceText(*each.group), rises[i]},
          policy, verdict);
    if (falls[i] < policy.alpha && verdict.better.size() < kMostBetter)
      verdict.better.push_back(fmt::format("{}: {}", CaseText(each), RiseText(each)));
  }
}

}  // namespace walkhammer
