// SPDX-License-Identifier: Apache-2.0
// replay: walks recorded requests in fresh processes and says how many of n replays reproduce, by
// JDK.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/base/duration.h"
#include "harness/base/print.h"
#include "harness/cli/options.h"
#include "harness/cli/print_json.h"
#include "harness/cli/provider.h"
#include "harness/cli/walk_file.h"
#include "harness/jvm/images/jdk_choice.h"
#include "harness/process/interrupt.h"
#include "harness/process/scratch.h"
#include "harness/supervise/replay_run.h"

namespace walkhammer {
namespace {

using nlohmann::json;

struct Options {
  std::vector<std::string> files, jdks;
  std::string provider;
  uint64_t times = 1;
  std::string hang_limit = "100ms";
  bool json = false;
};

// The result of n replays of one file on one JDK.
struct Row {
  std::string file, jdk, expect;
  int times = 0, reproduced = 0, found = 0, unable = 0;
  std::map<std::string, int> outcomes;  // count by signature, "33 frames" or "code -5"
  std::string unable_reason;
  ExitCode unable_code = ExitCode::kUnable;  // kToolFailed once a replay failed for that
  std::string frames;                        // of the last walk that returned
  std::string against;  // how the answers of the file's two walkers differed, in the last walk
  uint32_t stand_ins = 0;
  std::string stand_in;
};

// Parses the text of an input, which ReadWalkText has checked already.
WalkFile FileOf(const ReplayInput& input) {
  auto symbols = std::make_unique<SymbolTable>();
  symbols->Init();
  WalkFile file;
  (void)ParseText(input.text, input.name, *symbols, file);
  return file;
}

// The JDKs of the architecture that the request is for; a failure if none fits.
Result<std::vector<Jdk>> JdksFor(const ReplayInput& input, const WalkFile& file,
                                 const std::vector<Jdk>& jdks) {
  std::vector<Jdk> fitting;
  for (const Jdk& jdk : jdks)
    if (file.arch.empty() || file.arch == jdk.arch) fitting.push_back(jdk);
  if (!fitting.empty() || jdks.empty()) return fitting;
  return RefusedArch(input, file, jdks.front().platform);
}

void Tally(const Result<ReplayOutcome>& outcome, Row& row) {
  row.times++;
  if (!outcome.ok()) {
    row.unable++;
    row.unable_reason = outcome.failure().message;
    if (outcome.failure().code != ExitCode::kUnable) row.unable_code = ExitCode::kToolFailed;
    return;
  }
  const ReplayOutcome& seen = outcome.value();
  row.stand_ins = seen.stand_ins;
  row.stand_in = seen.stand_in;
  bool forbidden = false, reproduced = false;
  for (const FindingRecord& finding : seen.findings) {
    row.outcomes[finding.signature.expect]++;
    forbidden |= finding.grade == Grade::kForbidden;
    if (finding.oracle == "agreement") row.against = finding.detail;
    reproduced |= !row.expect.empty() && MatchesExpect(row.expect, finding.signature) != Match::kNo;
  }
  if (seen.returned) {
    row.frames = seen.frames;
    row.outcomes[seen.num_frames > 0 ? fmt::format("{} frames", seen.num_frames)
                                     : fmt::format("code {}", seen.num_frames)]++;
  }
  if (forbidden) row.found++;
  if (row.expect.empty() ? forbidden : reproduced) row.reproduced++;
}

// Warns that the request names code that this JVM lacks, as a snapshot of another program does.
void PrintStandIns(const Row& row) {
  if (row.stand_ins == 0) return;
  Print(stderr,
        "walkhammer: {}: this JVM lacks {} of the names, so other code stands in for them; one "
        "is {}\n",
        row.file, row.stand_ins, row.stand_in);
}

// What was not walked may be anything but clean.
void PrintUnable(const Row& row) {
  if (row.unable == 0) return;
  Print(stderr, "walkhammer: {}: {} of {} replays could not be walked: {}\n", row.file, row.unable,
        row.times, row.unable_reason);
}

void PrintRow(const Row& row) {
  Print(stdout, "{}\n  on {}\n", row.file, row.jdk);
  if (!row.expect.empty()) Print(stdout, "  expects     {}\n", row.expect);
  Print(stdout, "  reproduced  {} of {}\n", row.reproduced, row.times);
  for (const auto& [what, count] : row.outcomes) Print(stdout, "  {:>4} x      {}\n", count, what);
  if (row.unable > 0)
    Print(stdout, "  {:>4} x      could not be walked: {}\n", row.unable, row.unable_reason);
  if (!row.against.empty()) Print(stdout, "  differs     {}\n", row.against);
  if (row.times == 1 && !row.frames.empty()) {
    Print(stdout, "  frames, newest first:\n");
    size_t at = 0;
    while (at < row.frames.size()) {
      const size_t end = std::min(row.frames.find('\n', at), row.frames.size());
      Print(stdout, "    {}\n", row.frames.substr(at, end - at));
      at = end + 1;
    }
  }
}

json RowJson(const Row& row) {
  return {{"file", row.file},
          {"jdk", row.jdk},
          {"expect", row.expect},
          {"times", row.times},
          {"reproduced", row.reproduced},
          {"with_findings", row.found},
          {"stand_ins", row.stand_ins},
          {"unable", row.unable},
          {"unable_reason", row.unable_reason},
          {"differs", row.against},
          {"outcomes", row.outcomes}};
}

ExitCode CodeOf(const std::vector<Row>& rows) {
  ExitCode code = ExitCode::kClean;
  for (const Row& row : rows) {
    if (row.found > 0 || row.reproduced > 0) return ExitCode::kFindings;
    if (row.unable > 0) code = std::max(code, row.unable_code);
  }
  return code;
}

int RunReplay(const Options& options, const std::vector<std::string>& jvm_flags) {
  auto jdks = OpenJdks(options.jdks);
  if (!jdks.ok()) return PrintFailure(jdks.failure());
  auto hang = ParseDuration(options.hang_limit, "--hang-limit");
  if (!hang.ok()) return PrintFailure(hang.failure());
  auto library = ProviderLibraryNamed(options.provider);
  if (!library.ok()) return PrintFailure(library.failure());
  std::vector<ReplayInput> inputs;
  for (const std::string& path : options.files) {
    auto text = ReadWalkText(path);
    if (!text.ok()) return PrintFailure(text.failure());
    inputs.push_back({text.value(), path,
                      static_cast<uint32_t>(std::max<int64_t>(1, hang.value().count() / 1000000))});
  }
  ScratchFolder scratch;
  if (!scratch.made().ok()) return PrintFailure(scratch.made().failure());
  std::vector<Row> rows;
  for (const ReplayInput& input : inputs) {
    const WalkFile file = FileOf(input);
    auto fitting = JdksFor(input, file, jdks.value());
    if (!fitting.ok()) return PrintFailure(fitting.failure());
    for (const Jdk& jdk : fitting.value()) {
      ChildSetup setup{jdk.libjvm, jdk.platform, jvm_flags, true, scratch.path()};
      setup.provider = library.value();
      Row row;
      row.file = input.name;
      row.jdk = jdk.home + " (" + jdk.version + ")";
      row.expect = file.expect;
      for (uint64_t i = 0; i < options.times && !Interrupted().load(); i++)
        Tally(Replay(input, setup), row);
      PrintStandIns(row);
      PrintUnable(row);
      if (!options.json) PrintRow(row);
      rows.push_back(std::move(row));
    }
  }
  if (options.json) {
    json all = json::array();
    for (const Row& row : rows) all.push_back(RowJson(row));
    PrintJson({{"schema", 1}, {"replays", all}});
  }
  if (Interrupted().load()) return PrintFailure(ToolFailed("interrupted before all replays ran"));
  return static_cast<int>(CodeOf(rows));
}

}  // namespace

void AddReplay(CLI::App& app, Invocation& chosen) {
  Verb verb(app, "replay", "Walk recorded requests again, on any JDKs");
  auto o = std::make_shared<Options>();
  verb.Argument("files", o->files, ".walk files");
  verb.Jdks(o->jdks);
  verb.Provider(o->provider, true);
  verb.Count("--times", o->times, "Fresh processes for each file and JDK (default 1)", 1, 100000);
  verb.Text("--hang-limit", o->hang_limit, "CPU time that the walk may take (default 100ms)");
  verb.Json(o->json);
  verb.Runs(chosen,
            [o](const std::vector<std::string>& jvm_flags) { return RunReplay(*o, jvm_flags); });
}

}  // namespace walkhammer
