// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/builds/bug_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "harness/base/text.h"
#include "harness/request/symbol_table.h"
#include "harness/request/text_form.h"
#include "harness/supervise/builds/bisection.h"
#include "harness/supervise/builds/build.h"

namespace walkhammer {
namespace {

constexpr int kMostUnwalkedBugs = 2;  // replays that could not be walked, and none that could

int ReplaysWanted(const Bug& bug) {
  return CleanReplays(LeastProbability(bug.reproduced.shown, bug.reproduced.of));
}

// Why the build is not newer than each one on which the bug was seen; "" if it is.
std::string WhyNotNewer(const Bug& bug, const std::string& version) {
  const auto now = ParseJdkVersion(version);
  if (!now) return fmt::format("nobody knows whether \"{}\" is a newer build", version);
  for (const std::string& build : bug.builds) {
    const auto seen = ParseJdkVersion(build);
    if (!seen) return fmt::format("nobody knows whether {} is newer than \"{}\"", version, build);
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

}  // namespace

const char* BugReplayWord(BugReplayVerdict verdict) {
  switch (verdict) {
    case BugReplayVerdict::kOpen:
      return "open";
    case BugReplayVerdict::kFixed:
      return "fixed";
    case BugReplayVerdict::kNotProven:
      break;
  }
  return "not proven";
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
    replay.verdict = BugReplayVerdict::kOpen;
    replay.why = fmt::format("{} of {} replays show it", seen.reproduced, seen.walked());
    return replay;
  }
  replay.why = WhyNotClosed(bug, plan, seen);
  if (!replay.why.empty()) return replay;
  replay.verdict = BugReplayVerdict::kFixed;
  replay.why = fmt::format("none of {} replays shows it, and {} of {} did on {}", seen.walked(),
                           bug.reproduced.shown, bug.reproduced.of, bug.reproduced.build);
  return replay;
}

Result<BugReplay> ReplayBug(const Bug& bug, const Jdk& jdk, const BugReplayPlan& plan) {
  if (bug.walk.empty()) return JudgeReplays(bug, plan, {});
  const std::string name = bug.id + ".walk";
  const auto symbols = std::make_unique<SymbolTable>();
  symbols->Init();
  WalkFile file;
  if (std::string error = ParseText(bug.walk, name, *symbols, file); !error.empty())
    return BadInput(std::move(error));
  Build build{jdk, plan.version, "", Words(bug.flags)};
  build.flags.insert(build.flags.end(), plan.flags.begin(), plan.flags.end());
  ReplayPlan replays{file.expect, ReplaysToClose(bug, plan), plan.jobs};
  replays.most_unable = kMostUnwalkedBugs;
  replays.stop = plan.stop;
  const ChildSetup setup = SetupOf(build, plan.scratch, bug.provider.empty() ? "" : plan.provider);
  return JudgeReplays(bug, plan, ReplayTimes({bug.walk, name}, setup, replays));
}

void NoteReplay(const BugReplay& replay, const Seen& build, const Day& today, Bug& bug) {
  AddEvidence(today,
              fmt::format("{} on {}: {}", BugReplayWord(replay.verdict), build.build, replay.why),
              bug);
  if (replay.verdict == BugReplayVerdict::kOpen) {
    NoteSeen(build, bug);
    bug.reproduced = {build.build, replay.tally.reproduced, replay.tally.walked()};
  } else if (replay.verdict == BugReplayVerdict::kNotProven) {
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
