// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/builds/bug_check.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "harness/request/symbol_table.h"
#include "harness/request/text_form.h"
#include "harness/supervise/builds/build.h"

namespace walkhammer {
namespace {

constexpr int kMostUnable = 2;  // replays that could not be walked, and none that could

using Judgement = std::pair<Affected, std::string>;

// For a bug that was not replayed. `reason`: why.
Judgement ByVersionAlone(Affected by_version, const std::string& reason) {
  if (by_version == Affected::kUnknown)
    return {Affected::kUnknown, "nobody knows for this version, and " + reason};
  return {by_version, "by its version alone: " + reason};
}

// For a bug that was replayed and did not show.
Judgement NotShown(Affected by_version, const ReplayTally& tally) {
  const std::string replays = fmt::format("{} replays", tally.walked());
  if (tally.found > 0) {
    const std::string other = "the replay shows another finding: " + tally.Words();
    if (by_version == Affected::kNo) return {Affected::kNo, other};
    return {Affected::kUnknown, other};
  }
  if (by_version == Affected::kYes)
    return {Affected::kUnknown,
            fmt::format("its version has it, but {} did not show it: the build may have the fix, "
                        "or the bug shows seldom",
                        replays)};
  return {Affected::kNo, fmt::format("{} did not show it", replays)};
}

}  // namespace

BugCheck JudgeBug(const KnownBug& bug, const std::string& version, ReplayTally tally) {
  BugCheck check;
  check.by_version = AffectedByVersion(bug, version);
  check.tally = std::move(tally);
  const ReplayTally& seen = check.tally;
  Judgement judgement;
  if (seen.reproduced > 0) {
    judgement = {Affected::kYes, check.by_version == Affected::kNo
                                     ? "the replay shows it, though its version should not have it"
                                     : "the replay shows it"};
  } else if (seen.walked() > 0) {
    judgement = NotShown(check.by_version, seen);
  } else {
    judgement = ByVersionAlone(check.by_version,
                               seen.times == 0 ? "no replay shows this bug"
                                               : "could not be walked: " + seen.unable_reason);
  }
  std::tie(check.verdict, check.why) = std::move(judgement);
  return check;
}

Result<BugCheck> CheckBug(const KnownBug& bug, const Jdk& jdk, const std::string& scratch,
                          int times, int jobs, const std::function<bool()>& stop) {
  if (bug.walk.empty()) return JudgeBug(bug, jdk.version, {});
  const auto symbols = std::make_unique<SymbolTable>();
  symbols->Init();
  WalkFile file;
  if (std::string error = ParseText(bug.walk_text, bug.walk, *symbols, file); !error.empty())
    return BadInput(std::move(error));
  const Build build{jdk, jdk.version, "", bug.flags};
  ReplayPlan plan{file.expect, times, jobs};
  plan.most_unable = kMostUnable;
  plan.stop = stop;
  return JudgeBug(bug, jdk.version,
                  ReplayTimes({bug.walk_text, bug.walk}, SetupOf(build, scratch), plan));
}

}  // namespace walkhammer
