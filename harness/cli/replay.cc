// SPDX-License-Identifier: Apache-2.0
// replay: walks recorded requests in fresh processes and says how many of n replays reproduce, by
// build.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/base/duration.h"
#include "harness/base/print.h"
#include "harness/base/text.h"
#include "harness/cli/options.h"
#include "harness/cli/print_json.h"
#include "harness/cli/provider.h"
#include "harness/cli/walk_file.h"
#include "harness/crash/target.h"
#include "harness/findings/crash_folder.h"
#include "harness/jvm/images/jdk_choice.h"
#include "harness/process/interrupt.h"
#include "harness/process/scratch.h"
#include "harness/supervise/builds/replay_tally.h"
#include "harness/supervise/stress_runs/profiles.h"

namespace walkhammer {
namespace {

using nlohmann::json;

struct ReplayOptions {
  std::vector<std::string> files, jdks, folders, profiles;
  std::string provider;
  uint64_t times = 1, jobs = 1;
  std::string hang_limit = "100ms";
  std::string uncontained;  // folder for what a JVM that dies leaves; empty: walks are contained
  bool json = false;
};

// The result of n replays of one file on one build.
struct ReplayRow {
  std::string file, expect;
  Build build;
  ReplayTally tally;
};

// What is replayed, and where.
struct ReplayWork {
  std::vector<ReplayInput> inputs;
  std::vector<Build> builds;
  std::string library;  // see ChildSetup::provider
  std::string cores;    // see ChildSetup::cores
};

// The builds of the architecture that the request is for; a failure if none fits.
Result<std::vector<Build>> BuildsFor(const ReplayInput& input, const WalkFile& file,
                                     const std::vector<Build>& builds) {
  std::vector<Build> fitting;
  for (const Build& build : builds)
    if (file.arch.empty() || file.arch == build.jdk.arch) fitting.push_back(build);
  if (!fitting.empty() || builds.empty()) return fitting;
  return RefusedArch(input, file, builds.front().jdk.platform);
}

// True if the JVM died of the crash that is expected: a walk that is not contained ends so.
bool DiedOf(const std::string& expect, const FindingRecord& finding) {
  return !expect.empty() &&
         Compare(TargetOfExpect(expect), finding.signature.expect, "") >= Closeness::kFunction;
}

// Warns that the request names code that this JVM lacks, as a snapshot of another program does.
void PrintStandIns(const ReplayRow& row) {
  if (row.tally.stand_ins == 0) return;
  Print(stderr,
        "walkhammer: {}: this JVM lacks {} of the names, so other code stands in for them; one "
        "is {}\n",
        row.file, row.tally.stand_ins, row.tally.stand_in);
}

// What was not walked may be anything but clean. A reason that the row before had is not repeated.
void PrintUnable(const ReplayRow& row, const std::vector<ReplayRow>& before) {
  if (row.tally.unable == 0) return;
  if (!before.empty() && before.back().file == row.file &&
      before.back().tally.unable_reason == row.tally.unable_reason)
    return;
  Print(stderr, "walkhammer: {}: {} of {} replays could not be walked: {}\n", row.file,
        row.tally.unable, row.tally.times, row.tally.unable_reason);
}

void PrintAlone(const ReplayRow& row) {
  const ReplayTally& tally = row.tally;
  Print(stdout, "{}\n  on {} ({})\n", row.file, row.build.jdk.home, row.build.jdk.version);
  if (!row.expect.empty()) Print(stdout, "  expects     {}\n", row.expect);
  Print(stdout, "  reproduced  {} of {}\n", tally.reproduced, tally.times);
  for (const auto& [what, count] : tally.outcomes)
    Print(stdout, "  {:>4} x      {}\n", count, what);
  if (tally.unable > 0)
    Print(stdout, "  {:>4} x      could not be walked: {}\n", tally.unable, tally.unable_reason);
  if (!tally.against.empty()) Print(stdout, "  differs     {}\n", tally.against);
  if (tally.times == 1 && !tally.frames.empty()) {
    Print(stdout, "  frames, newest first:\n");
    for (const std::string& frame : Split(Trim(tally.frames), '\n'))
      Print(stdout, "    {}\n", frame);
  }
}

// The table of a file: a head, then a row for each build as it is ready.
class ReplayTable {
 public:
  ReplayTable(const ReplayInput& input, const std::string& expect,
              const std::vector<Build>& builds) {
    for (const Build& build : builds) {
      label_ = std::max(label_, build.label.size());
      profile_ = std::max(profile_, build.profile.size());
    }
    Print(stdout, "{}\n", input.name);
    if (!expect.empty()) Print(stdout, "  expects {}\n", expect);
    Print(stdout, "  {:{}}  {:{}}  {:>10}  showed\n", "build", label_, "profile", profile_,
          "reproduced");
  }
  void Add(const ReplayRow& row) const {
    Print(stdout, "  {:{}}  {:{}}  {:>10}  {}\n", row.build.label, label_, row.build.profile,
          profile_, fmt::format("{} of {}", row.tally.reproduced, row.tally.times),
          row.tally.Words());
  }

 private:
  size_t label_ = sizeof "build" - 1, profile_ = sizeof "profile" - 1;
};

json RowJson(const ReplayRow& row) {
  const ReplayTally& tally = row.tally;
  return {{"file", row.file},
          {"jdk", row.build.jdk.home + " (" + row.build.jdk.version + ")"},
          {"home", row.build.jdk.home},
          {"version", row.build.jdk.version},
          {"vendor", row.build.jdk.vendor},
          {"profile", row.build.profile},
          {"flags", row.build.flags},
          {"expect", row.expect},
          {"times", tally.times},
          {"reproduced", tally.reproduced},
          {"with_findings", tally.found},
          {"stand_ins", tally.stand_ins},
          {"unable", tally.unable},
          {"unable_reason", tally.unable_reason},
          {"differs", tally.against},
          {"outcomes", tally.outcomes},
          {"each", tally.each}};
}

ExitCode CodeOf(const std::vector<ReplayRow>& rows) {
  ExitCode code = ExitCode::kClean;
  for (const ReplayRow& row : rows) {
    if (row.tally.found > 0 || row.tally.reproduced > 0) return ExitCode::kFindings;
    if (row.tally.unable > 0) code = std::max(code, row.tally.unable_code);
  }
  return code;
}

// Keeps the log of a JVM that died in the n-th replay as DIR/FILE-n.hs_err.log; the kernel writes
// the core there.
Status KeepLog(const std::string& folder, const std::string& file, int n, const std::string& log) {
  if (folder.empty() || log.empty()) return Ok();
  const std::string stem = std::filesystem::path(file).stem().string();
  return WriteFileAtomically(fmt::format("{}/{}-{}.hs_err.log", folder, stem, n), log);
}

// Makes the folder, and returns its absolute path; "" if none is wanted.
Result<std::string> FolderForCores(const std::string& folder) {
  if (folder.empty()) return std::string();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return BadInput("cannot make " + folder + ": " + error.message());
  return std::filesystem::absolute(folder).string();
}

Result<ReplayWork> WorkOf(const ReplayOptions& options, const std::vector<std::string>& jvm_flags) {
  ReplayWork work;
  ASSIGN_OR_RETURN(const auto jdks, OpenJdks(options.jdks, options.folders));
  ASSIGN_OR_RETURN(const auto profiles, SelectProfiles(options.profiles));
  ASSIGN_OR_RETURN(work.builds, BuildsOf(jdks, profiles, jvm_flags));
  ASSIGN_OR_RETURN(const auto hang, ParseDuration(options.hang_limit, "--hang-limit"));
  ASSIGN_OR_RETURN(work.library, ProviderLibraryNamed(options.provider));
  ASSIGN_OR_RETURN(work.cores, FolderForCores(options.uncontained));
  const auto hang_limit_ms = static_cast<uint32_t>(std::max<int64_t>(1, hang.count() / 1000000));
  for (const std::string& path : options.files) {
    ASSIGN_OR_RETURN(const std::string file, WalkPathOf(path));
    ASSIGN_OR_RETURN(const LoadedWalk walk, ReadWalkFile(file));
    work.inputs.push_back({walk.text, file, hang_limit_ms, !options.uncontained.empty()});
  }
  return work;
}

Result<ExitCode> RunReplay(const ReplayOptions& options,
                           const std::vector<std::string>& jvm_flags) {
  ASSIGN_OR_RETURN(const ReplayWork work, WorkOf(options, jvm_flags));
  ScratchFolder scratch;
  RETURN_IF_ERROR(scratch.made());
  std::vector<ReplayRow> rows;
  int n = 0;  // replays of all inputs and builds: inputs of several folders have one name
  for (const ReplayInput& input : work.inputs) {
    const WalkFile file = ParseWalk(input.text, input.name).value().file;
    ASSIGN_OR_RETURN(const auto builds, BuildsFor(input, file, work.builds));
    std::optional<ReplayTable> table;
    if (!options.json && builds.size() > 1) table.emplace(input, file.expect, builds);
    ReplayPlan plan{file.expect, static_cast<int>(options.times), static_cast<int>(options.jobs)};
    Status kept = Ok();
    plan.on_outcome = [&](const ReplayOutcome& outcome) {
      const Status log = KeepLog(options.uncontained, input.name, ++n, outcome.hs_err);
      if (!log.ok()) kept = log;
    };
    if (input.uncontained)
      plan.also_counts = [&](const FindingRecord& finding) { return DiedOf(file.expect, finding); };
    plan.stop = [&kept] { return Interrupted().load() || !kept.ok(); };
    for (const Build& build : builds) {
      ChildSetup setup = SetupOf(build, scratch.path(), work.library);
      setup.cores = work.cores;
      ReplayRow row{input.name, file.expect, build, ReplayTimes(input, setup, plan)};
      RETURN_IF_ERROR(kept);
      PrintStandIns(row);
      PrintUnable(row, rows);
      if (table) table->Add(row);
      if (!options.json && !table) PrintAlone(row);
      rows.push_back(std::move(row));
    }
  }
  if (options.json) {
    json all = json::array();
    for (const ReplayRow& row : rows) all.push_back(RowJson(row));
    PrintJson({{"schema", 1}, {"replays", all}});
  }
  const ExitCode code = CodeOf(rows);
  if (!Interrupted().load()) return code;
  const Failure interrupted = ToolFailed("interrupted before all replays ran");
  if (code != ExitCode::kFindings) return interrupted;
  PrintFailure(interrupted);
  return code;
}

}  // namespace

void AddReplay(CLI::App& app, Invocation& chosen) {
  Verb verb(app, "replay", "Walk recorded requests again, on any JDKs");
  auto o = std::make_shared<ReplayOptions>();
  verb.Argument("files", o->files, ".walk files, or crash folders of a run");
  verb.Jdks(o->jdks);
  verb.JdkFolders(o->folders);
  verb.Profiles(o->profiles);
  verb.Provider(o->provider, true);
  verb.Count("--times", o->times,
             "Fresh processes in which to replay a request on each build (default: 1)", 1, 100000);
  verb.Jobs(o->jobs, "1");
  verb.Text("--hang-limit", o->hang_limit, "CPU time that a walk may take (default: 100ms)",
            "TIME");
  verb.Text("--keep-crash", o->uncontained,
            "Walk as a profiler does, in a signal handler and without the guard. DIR gets the "
            "hs_err log of a JVM that dies, and its core if this machine writes cores there",
            "DIR");
  verb.Json(o->json);
  verb.Runs(chosen, o, RunReplay);
}

}  // namespace walkhammer
