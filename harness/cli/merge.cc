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

int RunMerge(const MergeOptions& options) {
  if (options.out.empty()) return PrintFailure(BadInput("merge needs --out DIR, a new folder"));
  const Result<MergeOutcome> merged = MergeRuns(options.runs, options.out);
  if (!merged.ok()) return PrintFailure(merged.failure());
  const MergeOutcome& outcome = merged.value();
  if (options.json) {
    PrintJson({{"out", options.out}, {"runs", outcome.runs}, {"left_out", outcome.left_out}});
  } else {
    for (const std::string& sentence : outcome.left_out) Print(stdout, "{}\n", sentence);
    Print(stdout, "{} in {}\n", Counted(outcome.runs, "run"), options.out);
  }
  return static_cast<int>(ExitCode::kClean);
}

}  // namespace

void AddMerge(CLI::App& app, Invocation& chosen) {
  Verb verb(app, "merge", "Joins run folders into one, and counts no run twice");
  auto o = std::make_shared<MergeOptions>();
  verb.Argument("RUN", o->runs,
                "Run folders of one build, kind, walker and choice of JVM flags; merged ones, too");
  verb.Text("--out", o->out, "The merged folder; must not exist or be empty", "DIR");
  verb.Json(o->json);
  verb.Runs(chosen, [o] { return RunMerge(*o); });
}

}  // namespace walkhammer
