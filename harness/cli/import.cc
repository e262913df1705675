// SPDX-License-Identifier: Apache-2.0
// import: what a crash report says: whether a stack walker is to blame, which known bug the crash
// resembles, and requests that may show it again.
#include "harness/cli/import.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/base/numbers.h"
#include "harness/base/print.h"
#include "harness/cli/crash_file.h"
#include "harness/cli/crash_text.h"
#include "harness/cli/identity.h"
#include "harness/cli/options.h"
#include "harness/cli/print_json.h"
#include "harness/findings/crash_folder.h"
#include "harness/hs_err/redact.h"

namespace walkhammer {
namespace {

using nlohmann::json;

json CandidatesJson(const ImportedCrash& crash, const std::vector<std::string>& paths) {
  json all = json::array();
  for (size_t i = 0; i < paths.size(); i++) {
    const CrashCandidate& candidate = crash.candidates[i];
    json fields = json::array();
    for (const FieldNote& note : candidate.fields)
      fields.push_back({{"field", note.field},
                        {"confidence", ConfidenceWord(note.confidence)},
                        {"why", note.why}});
    all.push_back({{"file", paths[i]},
                   {"what", candidate.what},
                   {"rank", candidate.rank},
                   {"source", CandidateSourceText(candidate.source)},
                   {"fields", fields}});
  }
  return all;
}

json CrashJson(const ImportedCrash& crash, const std::vector<std::string>& paths) {
  json bugs = json::array();
  for (const Resemblance& resemblance : crash.resemblances) {
    constexpr const char* kAffected[] = {"fixed", "affected", "not-known"};
    bugs.push_back({{"id", resemblance.bug.id},
                    {"title", resemblance.bug.title},
                    {"by", resemblance.by_check ? "check" : "function"},
                    {"version", kAffected[static_cast<int>(resemblance.affected)]},
                    {"versions", resemblance.versions}});
  }
  constexpr const char* kGuilts[] = {"no", "yes", "unknown"};
  const GuiltVerdict& guilt = crash.guilt;
  return {{"file", crash.name},
          {"which", crash.which},
          {"jdk", crash.report.version.jdk.value},
          {"signal", crash.report.signal.name.value},
          {"function", crash.target.function},
          {"check", crash.target.check},
          {"expect", crash.target.expect},
          {"walker", kGuilts[static_cast<int>(guilt.guilt)]},
          {"whose", guilt.pattern != nullptr ? guilt.pattern->whose : ""},
          {"protection", guilt.protection},
          {"unprotected", guilt.unprotected},
          {"innocent", guilt.innocent},
          {"why", guilt.why},
          {"help", guilt.help},
          {"next", NextCommand(crash)},
          {"known_bugs", bugs},
          {"candidates", CandidatesJson(crash, paths)}};
}

// Writes the candidates as 01.walk, 02.walk, .. and returns their paths.
Result<std::vector<std::string>> WriteCandidates(const ImportedCrash& crash,
                                                 const std::string& folder) {
  std::vector<std::string> paths;
  if (crash.candidates.empty()) return paths;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return BadInput("cannot make " + folder + ": " + error.message());
  const size_t count = std::min(crash.candidates.size(), kMostOffered);
  for (size_t i = 0; i < count; i++) {
    paths.push_back(fmt::format("{}/{:02}.walk", folder, i + 1));
    RETURN_IF_ERROR(WriteFileAtomically(paths.back(), crash.candidates[i].text));
  }
  return paths;
}

std::string FolderFor(const ImportOptions& options, size_t index, size_t count) {
  const std::string base = options.out.empty()
                               ? fmt::format("out/import-{}-{}", Now("%Y%m%d-%H%M%S"), getpid())
                               : options.out;
  return count == 1 ? base : fmt::format("{}/{}", base, index + 1);
}

void PrintCandidates(const ImportedCrash& crash, const std::vector<std::string>& paths) {
  for (size_t i = 0; i < paths.size(); i++)
    Print(stdout, "    {}  {}\n", paths[i], crash.candidates[i].what);
}

Result<ExitCode> RunJudge(const ImportOptions& options) {
  std::vector<ImportedCrash> crashes;
  for (const std::string& file : options.files) {
    ASSIGN_OR_RETURN(auto found, ReadCrashFiles(file, options.modules));
    std::move(found.begin(), found.end(), std::back_inserter(crashes));
  }
  json all = json::array();
  for (size_t i = 0; i < crashes.size(); i++) {
    const ImportedCrash& crash = crashes[i];
    ASSIGN_OR_RETURN(const auto paths,
                     WriteCandidates(crash, FolderFor(options, i, crashes.size())));
    if (options.json) {
      all.push_back(CrashJson(crash, paths));
    } else {
      Print(stdout, "{}", AnswerOf(crash));
      PrintCandidates(crash, paths);
      Print(stdout, "  next         {}\n", NextCommand(crash));
    }
  }
  if (options.json) PrintJson({{"schema", 1}, {"crashes", all}});
  return ExitCode::kClean;
}

// import --redact: prints the log without personal data on stdout, and on stderr what was removed.
// A text in which nothing is known may hold secrets in forms that are unknown, too.
Result<ExitCode> RunRedact(const std::string& path, bool force) {
  ASSIGN_OR_RETURN(const auto text, ReadCrashText(path));
  if (!force && ParseCrashReport(text).text_kind == CrashText::kNone)
    return ToolFailed(path +
                      " holds no known crash report, so it is not printed: secrets may remain; "
                      "--force prints it redacted");
  std::vector<Redaction> done;
  const std::string redacted = Redact(text, &done);
  // A file gets the log's own bytes; a terminal none that it may obey.
  PrintText(stdout, isatty(STDOUT_FILENO) == 1 ? Printable(redacted) : redacted);
  for (const Redaction& redaction : done)
    Print(stderr, "redacted: {}, {} (first in line {})\n", redaction.what,
          Counted(static_cast<uint64_t>(redaction.count), "time"), redaction.first_line);
  if (done.empty())
    Print(stderr, "redacted: nothing; {} has nothing that is known to be personal\n", path);
  return ExitCode::kClean;
}

Result<ExitCode> RunImport(const ImportOptions& options,
                           const std::vector<std::string>& jvm_flags) {
  if (!options.jdks.empty() && !options.reproduce && !options.walk)
    return BadInput("--jdk requires --reproduce or --walk");
  const char* mode = options.redact      ? "--redact"
                     : options.reproduce ? "--reproduce"
                     : options.walk      ? "--walk"
                                         : nullptr;
  if (mode != nullptr && options.files.size() > 1)
    return BadInput(
        fmt::format("{} takes one {} at a time", mode, options.walk ? "core" : "crash report"));
  if (options.reproduce) return RunReproduce(options, jvm_flags);
  if (!jvm_flags.empty()) return BadInput("JVM flags after -- go with --reproduce");
  if (options.walk) return RunImportWalk(options);
  return options.redact ? RunRedact(options.files[0], options.force) : RunJudge(options);
}

Status ReadThread(const std::string& text, int32_t& tid) {
  tid = 0;
  if (text == "all") return Ok();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), tid);
  if (error != std::errc() || end != text.data() + text.size() || tid <= 0)
    return BadInput("--tid takes the id of a thread, such as 4711, or all");
  return Ok();
}

void AddWalkOptions(Verb& verb, const std::shared_ptr<ImportOptions>& o) {
  verb.Flag("--walk", o->walk, "Walk the Java stacks of a core, and print or compare them");
  verb.Parsed(
      "--tid", [o](const std::string& text) { return ReadThread(text, o->tid); },
      "Walk only the thread with this id (default: all)", "TID|all");
  verb.Flag("--native", o->native, "Also show frames of stubs, C and C++");
  verb.Text("--expect", o->expect, "Compare with the stacks in this file", "FILE");
  verb.Text("--write", o->write, "Write the stacks to this file, for --expect; -: to stdout",
            "FILE");
  for (const char* option : {"--tid", "--native", "--expect", "--write"})
    verb.Needs(option, "--walk");
  for (const char* option : {"--reproduce", "--redact", "--out"}) verb.Excludes("--walk", option);
}

}  // namespace

void AddImport(CLI::App& app, Invocation& chosen) {
  Verb verb(app, "import",
            "Judge crash reports, make requests that may show the crash again, walk cores");
  auto o = std::make_shared<ImportOptions>();
  verb.Argument("files", o->files, "hs_err logs, other texts with a stack, or core files");
  verb.OutFolder(o->out, "out/import-TIME-PID");
  verb.Text("--modules", o->modules,
            "Folder with the libraries of a core's program, if they have moved", "DIR");
  verb.Json(o->json);
  verb.Flag("--redact", o->redact, "Print only the log, without personal data");
  verb.Flag("--force", o->force, "Redact a text even if no crash report is recognised in it");
  verb.Flag("--reproduce", o->reproduce,
            "Try to show the crash on JDKs: replay the requests, fuzz from them, stress");
  verb.Jdks(o->jdks);
  verb.Provider(o->library, true);
  verb.RunTime(o->time, "30s of fuzzing on each JDK");
  verb.Time("--stress-time", o->stress_time,
            "How long to stress after fuzzing (default: as --time)");
  verb.Flag("--no-stress", o->no_stress, "Do not stress");
  verb.Flag("--no-minimize", o->no_minimize, "Do not minimise requests");
  verb.Flag("--no-known-inputs", o->no_known,
            "Do not replay walkhammer's own inputs that crash in the same function");
  verb.Seed(o->seed);
  for (const char* option : {"--library", "--time", "--stress-time", "--no-stress", "--no-minimize",
                             "--no-known-inputs", "--seed"})
    verb.Needs(option, "--reproduce");
  verb.Needs("--force", "--redact");
  for (const char* option : {"--reproduce", "--out", "--modules", "--json"})
    verb.Excludes("--redact", option);
  AddWalkOptions(verb, o);
  verb.Runs(chosen, o, RunImport);
}

}  // namespace walkhammer
