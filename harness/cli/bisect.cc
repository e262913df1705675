// SPDX-License-Identifier: Apache-2.0
// bisect: between which two builds a request starts or stops failing.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/base/print.h"
#include "harness/cli/options.h"
#include "harness/cli/print_json.h"
#include "harness/cli/provider.h"
#include "harness/cli/walk_file.h"
#include "harness/jvm/images/jdk_choice.h"
#include "harness/jvm/images/jdk_version.h"
#include "harness/process/interrupt.h"
#include "harness/process/scratch.h"
#include "harness/request/text_form.h"
#include "harness/supervise/builds/bisection.h"
#include "harness/supervise/builds/replay_tally.h"

namespace walkhammer {
namespace {

using nlohmann::json;
using BisectVerdict = Bisection::Verdict;

struct BisectOptions {
  std::string file, provider;
  std::vector<std::string> jdks, folders, profiles;
  uint64_t measure = 10, most = 60, jobs = 2;
  bool fix = false, quick = false, json = false;
};

// The builds in the order of their versions, distinct, of the request's architecture.
Result<std::vector<Build>> OrderedBuilds(const BisectOptions& options, const std::string& arch,
                                         const std::vector<std::string>& jvm_flags) {
  if (options.jdks.empty() && options.folders.empty())
    return BadInput("name the builds: --jdk-dir DIR, or --jdk several times");
  ASSIGN_OR_RETURN(const auto profiles, SelectProfiles(options.profiles));
  if (profiles.size() > 1) return BadInput("--profile: bisect takes one profile");
  std::vector<Failure> unusable;
  std::vector<Jdk> jdks;
  if (!options.jdks.empty()) {
    ASSIGN_OR_RETURN(jdks, OpenJdks(options.jdks));
  }
  for (const std::string& folder : options.folders) {
    ASSIGN_OR_RETURN(const auto all, JdksIn(folder, &unusable));
    jdks.insert(jdks.end(), all.begin(), all.end());
  }
  for (const Failure& failure : unusable)
    Print(stderr, "walkhammer: skipped: {}\n", failure.message);
  std::vector<Jdk> fitting;
  std::set<std::string> known;
  for (const Jdk& jdk : jdks) {
    if (!arch.empty() && jdk.arch != arch) continue;
    if (!ParseJdkVersion(jdk.version)) {
      Print(stderr, "walkhammer: skipped: {} does not report its version\n", jdk.home);
    } else if (known.insert(jdk.libjvm).second) {
      fitting.push_back(jdk);
    }
  }
  std::stable_sort(fitting.begin(), fitting.end(), [](const Jdk& a, const Jdk& b) {
    return *ParseJdkVersion(a.version) < *ParseJdkVersion(b.version);
  });
  if (fitting.size() < 2)
    return Unable(fmt::format("bisecting takes at least two builds, and {} can be used here",
                              fitting.size()));
  return BuildsOf(fitting, profiles, jvm_flags);
}

const char* StateWord(BuildState state) {
  constexpr const char* kWords[] = {"not asked", "clean", "breaks", "skipped"};
  return kWords[static_cast<int>(state)];
}

struct VerdictInfo {
  const char* word;
  ExitCode code;
};

const VerdictInfo& InfoOf(BisectVerdict verdict) {
  static constexpr VerdictInfo kVerdicts[] = {{"pair", ExitCode::kFindings},
                                              {"all-clean", ExitCode::kClean},
                                              {"all-broken", ExitCode::kFindings},
                                              {"unable", ExitCode::kUnable},
                                              {"stopped", ExitCode::kToolFailed}};
  return kVerdicts[static_cast<int>(verdict)];
}

// One or two sentences: what came of it.
std::string Answer(const Bisection& found, bool fix) {
  const auto label = [&](size_t build) { return found.builds[build].label; };
  if (found.verdict == BisectVerdict::kAllClean) return "No build breaks.";
  if (found.verdict == BisectVerdict::kUnable) return "No build can walk the request.";
  if (found.verdict == BisectVerdict::kStopped) return "Stopped before the search was over.";
  if (found.verdict == BisectVerdict::kAllBroken)
    return fix ? "From the first build that breaks to the newest, every build breaks: none fixes "
                 "it."
               : "The oldest build that can walk the request breaks already, and so does each one "
                 "up to the newest broken build.";
  const auto [older, newer] = found.pair;
  std::string answer = fix ? fmt::format(
                                 "The first build that does not break: {}. The last that "
                                 "does: {}.",
                                 label(newer), label(older))
                           : fmt::format(
                                 "The first build that breaks: {}. The last that does "
                                 "not: {}.",
                                 label(newer), label(older));
  std::vector<std::string> between;
  for (size_t build = older + 1; build < newer; build++) between.push_back(label(build));
  if (!between.empty())
    answer += fmt::format(" Between them, {} could not be judged.", fmt::join(between, ", "));
  return answer;
}

// What else the reader must know: where the history is not what a bisection supposes.
std::vector<std::string> Warnings(const Bisection& found) {
  std::vector<std::string> lines;
  if (found.changes.size() > 1) lines.emplace_back("The history is not monotone:");
  if (found.verdict == BisectVerdict::kAllBroken && found.changes.size() == 1)
    lines.emplace_back("The other direction has a pair:");
  if (!lines.empty())
    for (const auto& [older, newer] : found.changes)
      lines.push_back(fmt::format("  {} {}, {} {}", found.builds[older].label,
                                  StateWord(found.builds[older].state), found.builds[newer].label,
                                  StateWord(found.builds[newer].state)));
  for (const BisectedBuild& build : found.builds)
    if (build.state == BuildState::kBroken && build.probe.reproduced == 0)
      lines.push_back(fmt::format("{} breaks, but differently than the file expects: {}",
                                  build.label, OutcomeWords(build.probe.outcomes)));
  const auto left = std::count_if(found.builds.begin(), found.builds.end(), [](const auto& build) {
    return build.state == BuildState::kNotAsked;
  });
  if (left > 0)
    lines.push_back(
        fmt::format("{} builds were not replayed, so the history may not be monotone.", left));
  if (found.verdict == BisectVerdict::kPair && found.most_missed > 0.011)
    lines.push_back(
        fmt::format("The request breaks rarely: up to {:.0f} % of the builds called "
                    "clean may break. Raise --most-times.",
                    100 * found.most_missed));
  return lines;
}

void PrintBisection(const Bisection& found, bool fix) {
  size_t width = 0;
  for (const BisectedBuild& build : found.builds) width = std::max(width, build.label.size());
  for (const BisectedBuild& build : found.builds) {
    const Probe& probe = build.probe;
    Print(stdout, "{:{}}  {:9}  {:>8}  {}\n", build.label, width, StateWord(build.state),
          fmt::format("{} of {}", probe.broken, probe.walked),
          build.state == BuildState::kUnable ? probe.reason : OutcomeWords(probe.outcomes));
  }
  Print(stdout, "\n{}\n", Answer(found, fix));
  for (const std::string& line : Warnings(found)) Print(stdout, "{}\n", line);
}

json ToJson(const Bisection& found, const BisectOptions& options,
            const std::vector<Build>& builds) {
  json rows = json::array(), changes = json::array();
  for (size_t i = 0; i < builds.size(); i++) {
    const BisectedBuild& build = found.builds[i];
    rows.push_back({{"label", build.label},
                    {"home", builds[i].jdk.home},
                    {"version", builds[i].jdk.version},
                    {"state", StateWord(build.state)},
                    {"walked", build.probe.walked},
                    {"broken", build.probe.broken},
                    {"reproduced", build.probe.reproduced},
                    {"outcomes", build.probe.outcomes},
                    {"reason", build.probe.reason}});
  }
  for (const auto& [older, newer] : found.changes)
    changes.push_back({builds[older].jdk.version, builds[newer].jdk.version});
  json pair = nullptr;
  if (found.verdict == BisectVerdict::kPair)
    pair = {{"older", rows[found.pair.first]}, {"newer", rows[found.pair.second]}};
  return {{"schema", 1},
          {"file", options.file},
          {"direction", options.fix ? "fix" : "break"},
          {"verdict", InfoOf(found.verdict).word},
          {"answer", Answer(found, options.fix)},
          {"warnings", Warnings(found)},
          {"pair", pair},
          {"changes", changes},
          {"monotone", found.changes.size() < 2},
          {"clean_times", found.times},
          {"most_missed", found.most_missed},
          {"builds", rows},
          {"log", found.log}};
}

Probe ProbeOf(const ReplayTally& tally) {
  return {tally.walked(), tally.broken, tally.reproduced, tally.outcomes, tally.unable_reason};
}

Result<ExitCode> RunBisect(const BisectOptions& options,
                           const std::vector<std::string>& jvm_flags) {
  ASSIGN_OR_RETURN(const LoadedWalk walk, ReadWalkFile(options.file));
  ASSIGN_OR_RETURN(const auto library, ProviderLibraryNamed(options.provider));
  ASSIGN_OR_RETURN(const auto builds, OrderedBuilds(options, walk.file.arch, jvm_flags));
  ScratchFolder scratch;
  RETURN_IF_ERROR(scratch.made());

  std::vector<std::string> labels;
  for (const Build& build : builds) labels.push_back(build.label);
  BisectPlan plan;
  plan.fix = options.fix;
  plan.measure_times = static_cast<int>(options.measure);
  plan.most_times = static_cast<int>(options.most);
  plan.all = !options.quick;
  plan.stop = [] { return Interrupted().load(); };
  plan.tell = [](const std::string& line) { Print(stderr, "{}\n", line); };
  const Bisection found = Bisect(labels, plan, [&](size_t build, int times, bool until_broken) {
    ReplayPlan replays{walk.file.expect, times, static_cast<int>(options.jobs)};
    replays.until_broken = until_broken;
    replays.most_unable = 2;
    replays.stop = plan.stop;
    const ChildSetup setup = SetupOf(builds[build], scratch.path(), library);
    return ProbeOf(ReplayTimes({walk.text, options.file}, setup, replays));
  });
  if (options.json) {
    PrintJson(ToJson(found, options, builds));
  } else {
    PrintBisection(found, options.fix);
  }
  return InfoOf(found.verdict).code;
}

}  // namespace

void AddBisect(CLI::App& app, Invocation& chosen) {
  Verb verb(app, "bisect", "Find the two builds between which a request starts or stops failing");
  auto o = std::make_shared<BisectOptions>();
  verb.Argument("file", o->file, ".walk file");
  verb.JdkFolders(o->folders);
  verb.Jdks(o->jdks);
  verb.Flag("--fix", o->fix, "Look for the first build that does not break");
  verb.Flag("--quick", o->quick, "Replay only the builds that the search needs");
  verb.Profiles(o->profiles);
  verb.Provider(o->provider, true);
  verb.Count("--measure-times", o->measure,
             "Replays that measure how reliably the request breaks (default: 10)", 2, 10000);
  verb.Count("--most-times", o->most, "Most replays before a build is called clean (default: 60)",
             2, 100000);
  verb.Jobs(o->jobs, "2");
  verb.Json(o->json);
  verb.Runs(chosen, o, RunBisect);
}

}  // namespace walkhammer
