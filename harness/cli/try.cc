// SPDX-License-Identifier: Apache-2.0
// try: half a minute of fuzzing on a JDK, and what to do with the result.
#include <fmt/format.h>

#include <memory>

#include "harness/base/names.h"
#include "harness/base/print.h"
#include "harness/base/shell.h"
#include "harness/cli/fuzz.h"
#include "harness/cli/identity.h"
#include "harness/cli/options.h"
#include "reports/run_summary.h"

namespace walkhammer {
namespace {

constexpr std::chrono::seconds kTryTime{30};
constexpr char kSettleTime[] = "20s";

// Prints commands, to be pasted, for the first finding that has a request; none if there is none.
Status PrintNext(const std::string& dir) {
  ASSIGN_OR_RETURN(const RunReader db, RunReader::Open(dir));
  ASSIGN_OR_RETURN(const RunSummary summary, ReadRun(db));
  for (const BucketFiles& files : summary.files) {
    const std::string& input = files.minimized.empty() ? files.input : files.minimized;
    if (input.empty()) continue;
    const std::string command = OwnCommand();
    const std::string path = ShellWord(dir + "/" + input);
    Print(stdout, "Next  {} show {}\n", command, path);
    Print(stdout, "      {} replay {} --jdk {} --times 5\n", command, path,
          ShellWord(summary.run.identity.jdk_path));
    break;
  }
  return Ok();
}

Result<ExitCode> RunTry(const FuzzOptions& given, const std::vector<std::string>& jvm_flags) {
  FuzzOptions options = given;
  if (options.time.count() == 0) options.time = kTryTime;
  options.confirm_time = kSettleTime;
  if (options.out.empty()) options.out = "out/try-" + Now("%Y%m%d-%H%M%S");
  ASSIGN_OR_RETURN(const ExitCode code, RunFuzz(options, jvm_flags));
  if (!options.end.json) RETURN_IF_ERROR(PrintNext(options.out));
  return code;
}

}  // namespace

void AddTry(CLI::App& app, Invocation& chosen) {
  Verb verb(app, "try",
            "Fuzz the newest JDK for half a minute, and say what to do with the result");
  auto o = std::make_shared<FuzzOptions>();
  verb.Jdks(o->jdks);
  verb.RunTime(o->time, "30s");
  verb.OutFolder(o->out, "out/try-TIME");
  verb.Json(o->end.json);
  verb.Runs(chosen, o, RunTry);
}

}  // namespace walkhammer
