// SPDX-License-Identifier: Apache-2.0
// merge: joins run folders into one.
#include "harness/store/merge.h"

#include <memory>
#include <nlohmann/json.hpp>

#include "harness/base/numbers.h"
#include "harness/base/print.h"
#include "harness/cli/options.h"
#include "harness/cli/print_json.h"

namespace walkhammer {
namespace {

struct MergeOptions {
  std::vector<std::string> runs;
  std::string out;
  bool json = false;
};

Result<ExitCode> RunMerge(const MergeOptions& options) {
  if (options.out.empty()) return BadInput("merge needs --out DIR, a new folder");
  ASSIGN_OR_RETURN(const MergeOutcome outcome, MergeRuns(options.runs, options.out));
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
  Verb verb(app, "merge", "Joins run folders into one, and counts no run twice");
  auto o = std::make_shared<MergeOptions>();
  verb.Argument("RUN", o->runs,
                "Run folders of one build, kind, walker and choice of JVM flags; merged ones, too");
  verb.Text("--out", o->out, "The merged folder; must not exist or be empty", "DIR");
  verb.Json(o->json);
  verb.Runs(chosen, o, RunMerge);
}

}  // namespace walkhammer
