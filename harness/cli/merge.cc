// SPDX-License-Identifier: Apache-2.0
// merge: joins run folders into one.
#include "harness/store/merge.h"

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/base/numbers.h"
#include "harness/base/print.h"
#include "harness/cli/options.h"
#include "harness/cli/print_json.h"
#include "harness/store/run_folders.h"

namespace walkhammer {
namespace {

struct MergeOptions {
  std::vector<std::string> runs;
  std::string out;
  bool json = false;
};

// The runs of each group by itself, so that the new folder is a night's, too. Groups that were
// merged before one that fails stay.
Result<MergeOutcome> MergeNights(const std::vector<std::string>& nights, const std::string& out) {
  std::map<std::string, std::vector<std::string>> groups;
  for (const std::string& night : nights)
    for (const std::string& group : GroupsOfNight(night))
      groups[group].push_back(GroupFolder(night, group));
  MergeOutcome all;
  for (const auto& [group, dirs] : groups) {
    ASSIGN_OR_RETURN(const MergeOutcome one, MergeRuns(dirs, GroupFolder(out, group)));
    all.runs += one.runs;
    all.left_out.insert(all.left_out.end(), one.left_out.begin(), one.left_out.end());
  }
  return all;
}

Result<MergeOutcome> Merge(const MergeOptions& options) {
  const auto is_night = [](const std::string& dir) { return !GroupsOfNight(dir).empty(); };
  const auto nights = std::count_if(options.runs.begin(), options.runs.end(), is_night);
  if (nights == 0) return MergeRuns(options.runs, options.out);
  if (nights == static_cast<long>(options.runs.size()))
    return MergeNights(options.runs, options.out);
  return BadInput("merge takes runs or nights, not both");
}

Result<ExitCode> RunMerge(const MergeOptions& options) {
  if (options.out.empty()) return BadInput("merge needs --out DIR, a new folder");
  ASSIGN_OR_RETURN(const MergeOutcome outcome, Merge(options));
  if (options.json) {
    PrintJson({{"out", options.out}, {"runs", outcome.runs}, {"left_out", outcome.left_out}});
  } else {
    for (const std::string& sentence : outcome.left_out) Print(stdout, "{}\n", sentence);
    Print(stdout, "{} in {}\n", Counted(outcome.runs, "run"), options.out);
  }
  return ExitCode::kClean;
}

}  // namespace

void AddMerge(CLI::App& app, Invocation& chosen) {
  Verb verb(app, "merge", "Join run folders into one, and count no run twice");
  auto o = std::make_shared<MergeOptions>();
  verb.Argument("RUN", o->runs,
                "Runs of one build, kind, walker and choice of JVM flags, also merged ones; or "
                "nights, whose groups are merged",
                "DIR");
  verb.Text("--out", o->out, "The merged folder; must not exist or be empty", "DIR");
  verb.Json(o->json);
  verb.Runs(chosen, o, RunMerge);
}

}  // namespace walkhammer
