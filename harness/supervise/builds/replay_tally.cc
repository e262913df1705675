// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/builds/replay_tally.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "harness/findings/signature.h"

namespace walkhammer {
namespace {

bool IsBreak(const std::string& oracle) {
  return oracle == kCrashOracleName || oracle == kHangOracleName || oracle == kDeathOracleName;
}

}  // namespace

void ReplayTally::Add(const Result<ReplayOutcome>& outcome, const std::string& expect,
                      const std::function<bool(const FindingRecord&)>& also_counts) {
  times++;
  if (!outcome.ok()) {
    unable++;
    unable_reason = outcome.failure().message;
    if (outcome.failure().code != ExitCode::kUnable) unable_code = ExitCode::kToolFailed;
    each.emplace_back("could not be walked");
    return;
  }
  const ReplayOutcome& seen = outcome.value();
  stand_ins = seen.stand_ins;
  stand_in = seen.stand_in;
  std::vector<std::string> shown;
  bool forbidden = false, shows = false, breaks = false;
  for (const FindingRecord& finding : seen.findings) {
    shown.push_back(finding.signature.expect);
    const bool is_forbidden = finding.grade == Grade::kForbidden;
    forbidden |= is_forbidden;
    breaks |= is_forbidden && IsBreak(finding.oracle);
    if (finding.oracle == "agreement") against = finding.detail;
    const bool counts =
        (expect.empty() ? is_forbidden : MatchesExpect(expect, finding.signature) != Match::kNo) ||
        (also_counts && also_counts(finding));
    if (counts && !example) example = finding;
    shows |= counts;
  }
  if (seen.returned) {
    frames = seen.frames;
    shown.push_back(seen.num_frames > 0 ? fmt::format("{} frames", seen.num_frames)
                                        : fmt::format("code {}", seen.num_frames));
  }
  for (const std::string& what : shown) outcomes[what]++;
  each.push_back(fmt::format("{}", fmt::join(shown, " + ")));
  if (forbidden) found++;
  if (shows) reproduced++;
  if (shows || breaks) broken++;
}

std::string OutcomeWords(const std::map<std::string, int>& outcomes) {
  std::vector<std::string> words;
  for (const auto& [what, count] : outcomes) words.push_back(fmt::format("{} x {}", count, what));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string ReplayTally::Words() const {
  const std::string words = OutcomeWords(outcomes);
  if (unable == 0) return words;
  return fmt::format("{}{}{} x could not be walked", words, words.empty() ? "" : ", ", unable);
}

ReplayTally ReplayTimes(const ReplayInput& input, const ChildSetup& setup, const ReplayPlan& plan) {
  ReplayTally tally;
  std::vector<std::unique_ptr<ReplayRun>> running;
  const auto ended = [&] {
    return tally.times >= plan.times || (plan.until_broken && tally.broken > 0) ||
           (plan.most_unable > 0 && tally.walked() == 0 && tally.times >= plan.most_unable) ||
           (plan.stop && plan.stop());
  };
  for (int started = 0; !ended();) {
    if (started < plan.times && running.size() < static_cast<size_t>(plan.jobs)) {
      auto run = ReplayRun::Start(input, setup);
      started++;
      if (run.ok()) {
        running.push_back(std::move(run.value()));
      } else {
        tally.Add(run.failure(), plan.expect);
      }
      continue;
    }
    bool any = false;
    for (size_t i = 0; i < running.size() && !ended(); i++) {
      const auto outcome = running[i]->Poll();
      if (outcome == nullptr) continue;
      if (plan.on_outcome && outcome->ok()) plan.on_outcome(outcome->value());
      tally.Add(*outcome, plan.expect, plan.also_counts);
      any = true;
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i--));
    }
    if (!any) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return tally;
}

Result<std::vector<Build>> BuildsOf(const std::vector<Jdk>& jdks,
                                    const std::vector<const Profile*>& profiles,
                                    const std::vector<std::string>& user_flags) {
  std::vector<Build> builds;
  for (const Jdk& jdk : jdks) {
    const auto same = std::count_if(jdks.begin(), jdks.end(),
                                    [&](const Jdk& other) { return other.version == jdk.version; });
    for (const Profile* profile : profiles) {
      if (profile->has_aot_cache)
        return BadInput(
            fmt::format("profile {} is for stress: replays make no AOT cache", profile->name));
      Build build{jdk, jdk.version, profile->name, profile->flags};
      if (same > 1) build.label += " in " + jdk.home;
      build.flags.insert(build.flags.end(), user_flags.begin(), user_flags.end());
      builds.push_back(std::move(build));
    }
  }
  return builds;
}

ChildSetup SetupOf(const Build& build, const std::string& scratch, const std::string& provider) {
  ChildSetup setup{build.jdk.libjvm, build.jdk.platform, build.flags, true, scratch};
  setup.provider = provider;
  return setup;
}

}  // namespace walkhammer
