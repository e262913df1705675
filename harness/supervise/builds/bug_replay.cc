// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/builds/bug_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "harness/base/numbers.h"
#include "harness/base/text.h"
#include "harness/request/symbol_table.h"
#include "harness/request/text_form.h"
#include "harness/supervise/builds/bisection.h"
#include "harness/supervise/builds/replay_tally.h"

namespace walkhammer {
namespace {

constexpr int kMostUnwalkedBugs = 2;  // replays that could not be walked, and none that could

int ReplaysWanted(const Bug& bug) {
  return CleanReplays(LeastProbability(bug.reproduced.shown, bug.reproduced.of));
}

// Why the build is not newer than each one on which the bug was seen; "" if it is.
std::string WhyNotNewer(const Bug& bug, const std::string& version) {
  const auto now = ParseJdkVersion(version);
  if (!now) return fmt::format("it is unknown whether \"{}\" is a newer build", version);
  for (const std::string& build : bug.builds) {
    const auto seen = ParseJdkVersion(build);
    if (!seen) return fmt::format("it is unknown whether {} is newer than \"{}\"", version, build);
    if (*seen >= *now) return fmt::format("it was met on {}, and {} is not newer", build, version);
  }
  return "";
}

// Why replays that did not show the bug do not close it; "" if they do.
std::string WhyNotClosed(const Bug& bug, const BugReplayPlan& plan, const ReplayTally& tally) {
  if (tally.times == 0) return "no request is known that shows it";
  if (tally.walked() == 0) return "could not be walked: " + tally.unable_reason;
  if (tally.found > 0 || tally.broken > 0)
    return "the replays show another finding: " + tally.Words();
  if (tally.stand_ins > 0)
    return fmt::format("this JVM lacks {} of the names in its request, such as {}", tally.stand_ins,
                       tally.stand_in);
  const Reproduced& before = bug.reproduced;
  if (before.of == 0) return "it was never replayed on a build that has it; check it there first";
  if (before.shown == 0)
    return fmt::format("its own build never showed it in a replay either ({} of {})", before.shown,
                       before.of);
  if (const int wanted = ReplaysWanted(bug); wanted > plan.most_times)
    return fmt::format(
        "{} showed it in {} of {} replays, so it would take {}, and --most-times is "
        "{}",
        before.build, before.shown, before.of, wanted, plan.most_times);
  if (const int enough = ReplaysToClose(bug, plan); tally.walked() < enough)
    return fmt::format("only {} of {} replays could be walked: {}", tally.walked(), enough,
                       tally.unable_reason);
  return WhyNotNewer(bug, plan.version);
}

// The JDK that requests of the folder are for, as in "regressions/jdk17/x.walk"; 0: any.
int FeatureOf(std::string_view path) {
  const std::string_view folder = path.substr(0, std::min(path.rfind('/'), path.size()));
  const size_t at = folder.rfind("jdk");
  if (at == folder.npos || folder.size() == path.size()) return 0;
  const auto version = ParseJdkVersion(folder.substr(at + 3));
  return version && folder.find('/', at) == folder.npos ? static_cast<int>(version->numbers[0]) : 0;
}

}  // namespace

const char* ClosedWord(Affected verdict) {
  constexpr const char* kWords[] = {"fixed", "open", "not proven"};  // kNo, kYes, kUnknown
  return kWords[static_cast<int>(verdict)];
}

int ReplaysToClose(const Bug& bug, const BugReplayPlan& plan) {
  if (bug.reproduced.shown == 0) return plan.times;
  return std::max(plan.times, std::min(ReplaysWanted(bug), plan.most_times));
}

BugReplay JudgeReplays(const Bug& bug, const BugReplayPlan& plan, ReplayTally tally) {
  BugReplay replay;
  replay.tally = std::move(tally);
  const ReplayTally& seen = replay.tally;
  if (seen.reproduced > 0) {
    replay.verdict = Affected::kYes;
    replay.why = fmt::format("{} of {} replays show it", seen.reproduced, seen.walked());
  } else if (replay.why = WhyNotClosed(bug, plan, seen); replay.why.empty()) {
    replay.verdict = Affected::kNo;
    replay.why = fmt::format("none of {} replays shows it, and {} of {} did on {}", seen.walked(),
                             bug.reproduced.shown, bug.reproduced.of, bug.reproduced.build);
  }
  return replay;
}

BugReplay JudgeIssue(const Bug& bug, const std::string& version, ReplayTally tally) {
  const Affected by_version = AffectedByVersion(bug, version);
  BugReplay replay{by_version, by_version, std::move(tally), ""};
  const ReplayTally& seen = replay.tally;
  if (seen.reproduced > 0) {
    replay.verdict = Affected::kYes;
    replay.why = by_version == Affected::kNo
                     ? "the replay shows it, though its version should not have it"
                     : "the replay shows it";
  } else if (seen.walked() == 0) {
    replay.why = by_version == Affected::kUnknown ? "unknown for this version, and "
                                                  : "by its version alone: ";
    replay.why += seen.times == 0 ? "no request shows it on this JDK"
                                  : "could not be walked: " + seen.unable_reason;
  } else {
    const std::string silent = Counted(seen.walked(), "replay") + " did not show it";
    replay.why = seen.found > 0 ? "the replay shows another finding: " + seen.Words() : silent;
    if (by_version == Affected::kYes) {
      replay.verdict = Affected::kUnknown;
      if (seen.found == 0)
        replay.why = "its version has it, but " + silent +
                     ": the build may have the fix, or the bug rarely shows";
    } else if (seen.found == 0) {
      replay.verdict = Affected::kNo;
    }
  }
  return replay;
}

std::vector<BugRequest> RequestsFor(const Bug& bug, int feature) {
  std::vector<BugRequest> requests = RequestsOf(bug);
  std::erase_if(requests, [&](const BugRequest& request) {
    const int only = FeatureOf(request.file);
    return only != 0 && only != feature;
  });
  return requests;
}

Result<ReplayTally> ReplayBug(const Bug& bug, const Jdk& jdk, int times,
                              const BugReplayPlan& plan) {
  Build build{jdk, plan.version, "", Words(bug.flags)};
  build.flags.insert(build.flags.end(), plan.flags.begin(), plan.flags.end());
  const ChildSetup setup = SetupOf(build, plan.scratch, bug.provider.empty() ? "" : plan.provider);
  const auto symbols = std::make_unique<SymbolTable>();
  ReplayTally kept;
  for (const auto& [name, text] : RequestsFor(bug, jdk.feature)) {
    symbols->Init();
    WalkFile file;
    if (std::string error = ParseText(text, name, *symbols, file); !error.empty())
      return BadInput(std::move(error));
    ReplayPlan replays{file.expect, times, plan.jobs};
    replays.most_unable = kMostUnwalkedBugs;
    replays.stop = plan.stop;
    ReplayTally tally = ReplayTimes({text, name}, setup, replays);
    if (tally.reproduced > 0 || (plan.stop && plan.stop())) return tally;
    const bool was_silent =
        kept.walked() > 0 && kept.found == 0 && kept.broken == 0 && kept.stand_ins == 0;
    if (kept.times == 0 || was_silent) kept = std::move(tally);
  }
  return kept;
}

void NoteReplay(const BugReplay& replay, const Seen& build, const Day& today, Bug& bug) {
  AddEvidence(
      today, fmt::format("{} on {}: {}", ClosedWord(replay.verdict), build.build, replay.why), bug);
  if (replay.verdict == Affected::kYes) {
    NoteSeen(build, bug);
    bug.reproduced = {build.build, replay.tally.reproduced, replay.tally.walked()};
  } else if (replay.verdict == Affected::kUnknown) {
    // It is worth knowing that a build on which the bug was met does not show it in replays.
    const bool met_here =
        std::find(bug.builds.begin(), bug.builds.end(), build.build) != bug.builds.end();
    if (met_here && bug.reproduced.shown == 0 && replay.tally.walked() > 0)
      bug.reproduced = {build.build, 0, replay.tally.walked()};
  } else {
    bug.state = BugState::kFixed;
    bug.fixed_in = build.build;
    bug.reason.clear();
    bug.until.reset();
  }
}

}  // namespace walkhammer
