// SPDX-License-Identifier: Apache-2.0
// minimize: the smallest request with the same signature, verified by replay.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/base/print.h"
#include "harness/cli/options.h"
#include "harness/cli/print_json.h"
#include "harness/cli/provider.h"
#include "harness/cli/walk_file.h"
#include "harness/findings/crash_folder.h"
#include "harness/jvm/images/jdk_choice.h"
#include "harness/process/interrupt.h"
#include "harness/process/scratch.h"
#include "harness/supervise/minimize_input.h"

namespace walkhammer {
namespace {

struct MinimizeOptions {
  std::string file, out, provider;
  std::vector<std::string> jdks;
  uint64_t times = 5, tries = 500;
  bool json = false;
};

Result<ExitCode> RunMinimize(const MinimizeOptions& options,
                             const std::vector<std::string>& jvm_flags) {
  ASSIGN_OR_RETURN(const Jdk jdk, OpenOneJdk(options.jdks, "minimize"));
  ASSIGN_OR_RETURN(const LoadedWalk walk, ReadWalkFile(options.file));
  ScratchFolder scratch;
  ChildSetup setup{jdk.libjvm, jdk.platform, jvm_flags, true, scratch.path()};
  ASSIGN_OR_RETURN(setup.provider, ProviderLibraryNamed(options.provider));
  RETURN_IF_ERROR(scratch.made());
  MinimizePlan plan;
  plan.times = static_cast<int>(options.times);
  plan.most_tries = static_cast<int>(options.tries);
  plan.stop = [] { return Interrupted().load(); };
  ASSIGN_OR_RETURN(const MinimizedInput result,
                   MinimizeInput({walk.text, options.file}, setup, plan));
  if (!options.out.empty()) RETURN_IF_ERROR(WriteFileAtomically(options.out, result.text));
  if (options.json) {
    PrintJson({{"schema", 1},
               {"signature", result.expect},
               {"edits_before", result.edits_before},
               {"edits", result.edits},
               {"tried", result.tried},
               {"proved", result.proved},
               {"text", result.text}});
  } else {
    Print(stdout, "{}", result.text);
    Print(stderr, "walkhammer: {} edits became {}, {} requests tried\n", result.edits_before,
          result.edits, result.tried);
  }
  if (!result.proved)
    return ToolFailed(fmt::format(
        "interrupted: nothing proves yet that the request above replays in {} fresh processes",
        options.times));
  return ExitCode::kFindings;
}

}  // namespace

void AddMinimize(CLI::App& app, Invocation& chosen) {
  Verb verb(app, "minimize", "Reduce a request as far as its signature stays the same");
  auto o = std::make_shared<MinimizeOptions>();
  verb.Argument("file", o->file, ".walk file");
  verb.OneJdk(o->jdks);
  verb.Provider(o->provider, true);
  verb.Text("--out", o->out, "File to which the request is also written", "FILE");
  verb.Count("--times", o->times, "Fresh processes in which the result must replay (default: 5)");
  verb.Count("--tries", o->tries, "Most requests to try (default: 500)");
  verb.Json(o->json);
  verb.Runs(chosen, o, RunMinimize);
}

}  // namespace walkhammer
