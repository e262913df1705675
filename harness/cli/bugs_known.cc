// SPDX-License-Identifier: Apache-2.0
// bugs known: which known bugs of stack walkers a JDK has, by its version and by replays.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/base/names.h"
#include "harness/base/print.h"
#include "harness/cli/options.h"
#include "harness/cli/print_json.h"
#include "harness/findings/known_bugs.h"
#include "harness/jvm/images/jdk_choice.h"
#include "harness/process/interrupt.h"
#include "harness/process/scratch.h"
#include "harness/supervise/builds/bug_check.h"

namespace walkhammer {
namespace {

using nlohmann::json;

struct KnownBugsOptions {
  std::vector<std::string> jdks, folders;
  std::string corpora;
  uint64_t times = 3, jobs = 2;
  bool json = false;
};

// The checks of one JDK, in the order of the bugs.
struct JdkCheck {
  Jdk jdk;
  std::vector<BugCheck> checks;
};

const char* YesNo(Affected affected) {
  switch (affected) {
    case Affected::kYes:
      return "yes";
    case Affected::kNo:
      return "no";
    case Affected::kUnknown:
      break;
  }
  return "unknown";
}

const char* VerdictText(Affected verdict) {
  switch (verdict) {
    case Affected::kYes:
      return "AFFECTED";
    case Affected::kNo:
      return "not affected";
    case Affected::kUnknown:
      break;
  }
  return "unknown";
}

std::string ReplayText(const ReplayTally& tally) {
  if (tally.times == 0) return "-";
  if (tally.walked() == 0) return "no walk";
  return fmt::format("{} of {}", tally.reproduced, tally.walked());
}

int64_t Count(const JdkCheck& one, Affected verdict) {
  return std::count_if(one.checks.begin(), one.checks.end(),
                       [&](const BugCheck& check) { return check.verdict == verdict; });
}

void PrintRow(const KnownBug& bug, const BugCheck& check) {
  Print(stdout, "  {:12} {:13} {:11} {:8} {}\n", bug.id, VerdictText(check.verdict),
        YesNo(check.by_version), ReplayText(check.tally), bug.title);
  // Nothing to explain where version and replay say the same.
  if (check.tally.walked() == 0 || check.verdict != check.by_version ||
      check.tally.found > check.tally.reproduced)
    Print(stdout, "  {:12} ({})\n", "", check.why);
}

json RowJson(const KnownBug& bug, const BugCheck& check) {
  return {{"id", bug.id},
          {"title", bug.title},
          {"verdict", YesNo(check.verdict)},
          {"by_version", YesNo(check.by_version)},
          {"why", check.why},
          {"times", check.tally.times},
          {"walked", check.tally.walked()},
          {"reproduced", check.tally.reproduced},
          {"outcomes", check.tally.outcomes},
          {"unable_reason", check.tally.unable_reason}};
}

json ToJson(const std::vector<KnownBug>& bugs, const std::vector<JdkCheck>& all) {
  json jdks = json::array();
  for (const JdkCheck& one : all) {
    json rows = json::array();
    for (size_t i = 0; i < one.checks.size(); i++) rows.push_back(RowJson(bugs[i], one.checks[i]));
    jdks.push_back({{"home", one.jdk.home},
                    {"version", one.jdk.version},
                    {"vendor", one.jdk.vendor},
                    {"affected", Count(one, Affected::kYes)},
                    {"unknown", Count(one, Affected::kUnknown)},
                    {"bugs", std::move(rows)}});
  }
  return {{"schema", 1}, {"jdks", std::move(jdks)}};
}

ExitCode CodeOf(const std::vector<JdkCheck>& all) {
  ExitCode code = ExitCode::kClean;
  for (const JdkCheck& one : all) {
    if (Count(one, Affected::kYes) > 0) return ExitCode::kFindings;
    if (Count(one, Affected::kUnknown) > 0) code = ExitCode::kUnable;
  }
  return code;
}

Result<JdkCheck> CheckJdk(const Jdk& jdk, const std::vector<KnownBug>& bugs,
                          const KnownBugsOptions& options, const std::string& scratch) {
  JdkCheck one{jdk, {}};
  const auto stop = [] { return Interrupted().load(); };
  if (!options.json) {
    Print(stdout, "{} ({}) in {}\n", jdk.version, jdk.vendor, jdk.home);
    Print(stdout, "  {:12} {:13} {:11} {:8} {}\n", "bug", "verdict", "by version", "replays",
          "what");
  }
  for (const KnownBug& bug : bugs) {
    ASSIGN_OR_RETURN(const auto check, CheckBug(bug, jdk, scratch, static_cast<int>(options.times),
                                                static_cast<int>(options.jobs), stop));
    if (stop()) return ToolFailed("interrupted before all bugs were checked");
    if (!options.json) PrintRow(bug, check);
    one.checks.push_back(check);
  }
  if (!options.json)
    Print(stdout, "  affected by {} of {} known bugs; not known of {}\n",
          Count(one, Affected::kYes), bugs.size(), Count(one, Affected::kUnknown));
  return one;
}

int RunKnownBugs(const KnownBugsOptions& options) {
  auto bugs = ReadKnownBugs(options.corpora.empty() ? BesideExecutable("known-bugs")
                                                    : options.corpora + "/known-bugs");
  if (!bugs.ok()) return PrintFailure(bugs.failure());
  auto jdks = OpenJdks(options.jdks, options.folders);
  if (!jdks.ok()) return PrintFailure(jdks.failure());
  ScratchFolder scratch;
  if (!scratch.made().ok()) return PrintFailure(scratch.made().failure());
  std::vector<JdkCheck> all;
  for (const Jdk& jdk : jdks.value()) {
    auto one = CheckJdk(jdk, bugs.value(), options, scratch.path());
    if (!one.ok()) return PrintFailure(one.failure());
    all.push_back(std::move(one.value()));
  }
  if (options.json) PrintJson(ToJson(bugs.value(), all));
  return static_cast<int>(CodeOf(all));
}

}  // namespace

void AddKnownBugs(const Verb& bugs, Invocation& chosen) {
  Verb verb(bugs, "known", "Which known bugs of stack walkers a JDK has");
  auto o = std::make_shared<KnownBugsOptions>();
  verb.Jdks(o->jdks);
  verb.JdkFolders(o->folders);
  verb.Text("--corpora", o->corpora,
            "The folder corpora, with the known bugs (default: those beside this command)", "DIR");
  verb.Count("--times", o->times, "Replays of each bug (default 3)", 1, 100000);
  verb.Jobs(o->jobs, "2");
  verb.Json(o->json);
  verb.Runs(chosen, [o] { return RunKnownBugs(*o); });
}

}  // namespace walkhammer
