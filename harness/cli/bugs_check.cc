// SPDX-License-Identifier: Apache-2.0
// bugs check: which of the known issues that ship with the tool JDKs have; or, with --store, which
// open bugs of a team a new build closes.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/base/names.h"
#include "harness/base/numbers.h"
#include "harness/base/print.h"
#include "harness/bugs/bug_store.h"
#include "harness/cli/identity.h"
#include "harness/cli/options.h"
#include "harness/cli/print_json.h"
#include "harness/cli/provider.h"
#include "harness/jvm/images/jdk_choice.h"
#include "harness/process/interrupt.h"
#include "harness/process/scratch.h"
#include "harness/supervise/builds/bug_replay.h"

namespace walkhammer {
namespace {

using nlohmann::json;

constexpr int kIssueTimes = 3, kBugTimes = 10;  // replays without --times

struct BugsCheckOptions {
  std::vector<std::string> jdks, folders;
  std::string store, build, corpora, provider;
  uint64_t times = 0, most_times = 60, jobs = 2;
  bool json = false;
};

struct ReplayedBug {
  std::string id, title;
  BugReplay replay;
};

json RowJson(const ReplayedBug& bug, const char* verdict) {
  const ReplayTally& tally = bug.replay.tally;
  return {{"id", bug.id},
          {"title", bug.title},
          {"verdict", verdict},
          {"why", bug.replay.why},
          {"times", tally.times},
          {"walked", tally.walked()},
          {"reproduced", tally.reproduced},
          {"outcomes", tally.outcomes},
          {"unable_reason", tally.unable_reason}};
}

int64_t CountOf(const std::vector<ReplayedBug>& bugs, Affected verdict) {
  return std::count_if(bugs.begin(), bugs.end(),
                       [&](const ReplayedBug& bug) { return bug.replay.verdict == verdict; });
}

ExitCode ExitOf(const std::vector<ReplayedBug>& bugs) {
  if (CountOf(bugs, Affected::kYes) > 0) return ExitCode::kFindings;
  return CountOf(bugs, Affected::kUnknown) > 0 ? ExitCode::kUnable : ExitCode::kClean;
}

// --- the bugs of a store -------------------------------------------------------------------------

// Replays all open bugs; saves after each, for replays take long.
Result<std::vector<ReplayedBug>> ReplayStore(const BugsCheckOptions& options, const Jdk& jdk,
                                             const BugReplayPlan& plan) {
  ASSIGN_OR_RETURN(BugStore store, BugStore::Change(options.store));
  std::vector<std::string> open;
  for (const auto& [id, bug] : store.bugs())
    if (bug.state == BugState::kOpen || IsExpired(bug, Today())) open.push_back(id);
  std::vector<ReplayedBug> replayed;
  for (const std::string& id : open) {
    Bug& bug = *store.Find(id).value();
    BugReplayPlan own = plan;
    if (options.build.empty()) own.version = VersionIn(bug, jdk.build_id, plan.version);
    ASSIGN_OR_RETURN(ReplayTally tally, ReplayBug(bug, jdk, ReplaysToClose(bug, own), own));
    if (plan.stop()) return ToolFailed("interrupted before all open bugs were replayed");
    const BugReplay replay = JudgeReplays(bug, own, std::move(tally));
    const Seen here{own.version, jdk.build_id, kReplayed, Now("%Y-%m-%dT%H:%M:%SZ")};
    NoteReplay(replay, here, Today(), bug);
    RETURN_IF_ERROR(store.Save());
    replayed.push_back({id, bug.title, replay});
    if (!options.json)
      Print(stdout, "{:10}  {}\n            {}\n            {}\n", ClosedWord(replay.verdict), id,
            bug.title, replay.why);
  }
  return replayed;
}

Result<ExitCode> CheckStore(const BugsCheckOptions& options, BugReplayPlan& plan) {
  RETURN_IF_ERROR(CheckBuild(options.build));
  if (options.jdks.size() != 1)
    return BadInput("bugs check --store needs one build to replay on: --jdk DIR");
  ASSIGN_OR_RETURN(const Jdk jdk, OpenJdk(options.jdks.front()));
  plan.version = options.build.empty() ? jdk.version : options.build;
  ASSIGN_OR_RETURN(const auto bugs, ReplayStore(options, jdk, plan));
  if (options.json) {
    json rows = json::array();
    for (const ReplayedBug& bug : bugs)
      rows.push_back(RowJson(bug, ClosedWord(bug.replay.verdict)));
    PrintJson({{"schema", 1}, {"home", jdk.home}, {"version", plan.version}, {"bugs", rows}});
  } else {
    Print(stdout, "{} replayed on {}\n", Counted(bugs.size(), "open bug"), plan.version);
  }
  return ExitOf(bugs);
}

// --- the known issues ----------------------------------------------------------------------------

// In the order of Affected.
constexpr const char* kYesNo[] = {"no", "yes", "unknown"};
constexpr const char* kVerdicts[] = {"not affected", "AFFECTED", "unknown"};

std::string ReplayText(const ReplayTally& tally) {
  if (tally.times == 0) return "-";
  if (tally.walked() == 0) return "no walk";
  return fmt::format("{} of {}", tally.reproduced, tally.walked());
}

void PrintRow(const ReplayedBug& bug) {
  const ReplayTally& tally = bug.replay.tally;
  const Affected verdict = bug.replay.verdict;
  Print(stdout, "  {:12} {:13} {:11} {:8} {}\n", bug.id, kVerdicts[static_cast<int>(verdict)],
        kYesNo[static_cast<int>(bug.replay.by_version)], ReplayText(tally), bug.title);
  // Nothing to explain where version and replay say the same.
  if (tally.walked() == 0 || verdict != bug.replay.by_version || tally.found > tally.reproduced)
    Print(stdout, "  {:12} ({})\n", "", bug.replay.why);
}

// False for an issue of which neither versions nor a request that can be walked here are known, and
// for one that concerns no walker.
bool CanCheck(const Bug& bug, const Jdk& jdk, const BugReplayPlan& plan) {
  if (!bug.provider.empty() && plan.provider.empty()) return false;
  return (!bug.affected.empty() && !bug.crash.no_walker) || !RequestsFor(bug, jdk.feature).empty();
}

// Appends to `document` what the JDK has.
Result<ExitCode> CheckJdk(const BugStore& issues, const Jdk& jdk, const BugsCheckOptions& options,
                          BugReplayPlan& plan, json& document) {
  if (!options.json)
    Print(stdout, "{} ({}) in {}\n  {:12} {:13} {:11} {:8} {}\n", jdk.version, jdk.vendor, jdk.home,
          "issue", "verdict", "by version", "replays", "what");
  plan.version = jdk.version;
  std::vector<ReplayedBug> checked;
  json rows = json::array();
  for (const auto& [id, bug] : issues.bugs()) {
    if (!CanCheck(bug, jdk, plan)) continue;
    ASSIGN_OR_RETURN(ReplayTally tally, ReplayBug(bug, jdk, plan.times, plan));
    if (plan.stop()) return ToolFailed("interrupted before all issues were checked");
    const ReplayedBug& one = checked.emplace_back(
        ReplayedBug{id, bug.title, JudgeIssue(bug, jdk.version, std::move(tally))});
    if (!options.json) PrintRow(one);
    rows.push_back(RowJson(one, kYesNo[static_cast<int>(one.replay.verdict)]));
    rows.back()["by_version"] = kYesNo[static_cast<int>(one.replay.by_version)];
  }
  const auto affected = CountOf(checked, Affected::kYes);
  const auto unknown = CountOf(checked, Affected::kUnknown);
  const size_t others = issues.bugs().size() - checked.size();
  if (!options.json)
    Print(stdout,
          "  affected by {} of {} known issues; unknown of {}; {} others cannot be checked "
          "here\n",
          affected, checked.size(), unknown, others);
  document.push_back({{"home", jdk.home},
                      {"version", jdk.version},
                      {"vendor", jdk.vendor},
                      {"affected", affected},
                      {"unknown", unknown},
                      {"not_checked", others},
                      {"bugs", std::move(rows)}});
  return ExitOf(checked);
}

Result<BugStore> ReadIssues(const std::string& corpora) {
  const std::string dir =
      corpora.empty() ? BesideExecutable(kKnownIssuesName) : corpora + "/" + kKnownIssuesName;
  std::error_code error;
  if (std::filesystem::is_directory(dir, error)) {
    auto issues = BugStore::Read(dir);
    if (!issues.ok() || !issues.value().bugs().empty()) return issues;
  }
  return BadInput(dir + " has no known issues: name the folder corpora by --corpora");
}

Result<ExitCode> CheckIssues(const BugsCheckOptions& options, BugReplayPlan& plan) {
  ASSIGN_OR_RETURN(const BugStore issues, ReadIssues(options.corpora));
  ASSIGN_OR_RETURN(const auto jdks, OpenJdks(options.jdks, options.folders));
  ExitCode code = ExitCode::kClean;
  json document = json::array();
  for (const Jdk& jdk : jdks) {
    ASSIGN_OR_RETURN(const ExitCode one, CheckJdk(issues, jdk, options, plan, document));
    if (code != ExitCode::kFindings && one != ExitCode::kClean) code = one;
  }
  if (options.json) PrintJson({{"schema", 1}, {"jdks", std::move(document)}});
  return code;
}

Result<ExitCode> Check(const BugsCheckOptions& options, const std::vector<std::string>& jvm_flags) {
  ScratchFolder scratch;
  RETURN_IF_ERROR(scratch.made());
  BugReplayPlan plan;
  const int otherwise = options.store.empty() ? kIssueTimes : kBugTimes;
  plan.times = options.times > 0 ? static_cast<int>(options.times) : otherwise;
  plan.most_times = static_cast<int>(options.most_times);
  plan.jobs = static_cast<int>(options.jobs);
  plan.flags = jvm_flags;
  plan.scratch = scratch.path();
  plan.stop = [] { return Interrupted().load(); };
  ASSIGN_OR_RETURN(plan.provider, ProviderLibraryNamed(options.provider));
  return options.store.empty() ? CheckIssues(options, plan) : CheckStore(options, plan);
}

}  // namespace

void AddBugsCheck(const Verb& bugs, Invocation& chosen) {
  Verb verb(bugs, "check",
            "Say which known issues JDKs have; with --store, which open bugs a new build closes");
  auto o = std::make_shared<BugsCheckOptions>();
  verb.Jdks(o->jdks);
  verb.JdkFolders(o->folders);
  verb.Text("--corpora", o->corpora,
            "The folder corpora, with the known issues (default: those beside this command)",
            "DIR");
  verb.Parsed(
      "--store",
      [o](const std::string& dir) {
        o->store = dir;
        return dir.empty() ? Status(BadInput("--store needs a folder")) : Ok();
      },
      "Folder of a team's bugs", "DIR");
  verb.Text("--build", o->build, "Version of the build, where all builds report the same one",
            "VERSION");
  verb.Provider(o->provider, true);
  verb.Count("--times", o->times,
             "Least number of replays of each bug (default: 3; with --store: 10)", 1, 100000);
  verb.Count("--most-times", o->most_times,
             "Most replays to close a bug that rarely shows (default: 60)", 1, 100000);
  verb.Jobs(o->jobs, "2");
  verb.Json(o->json);
  for (const char* option : {"--build", "--most-times"}) verb.Needs(option, "--store");
  for (const char* option : {"--jdk-dir", "--corpora"}) verb.Excludes("--store", option);
  verb.Runs(chosen, o, Check);
}

}  // namespace walkhammer
