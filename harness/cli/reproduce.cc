// SPDX-License-Identifier: Apache-2.0
// import --reproduce: from a crash report to a verdict on each JDK: replays of the candidates,
// guided fuzzing from them, stress.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/base/print.h"
#include "harness/base/shell.h"
#include "harness/cli/crash_file.h"
#include "harness/cli/crash_text.h"
#include "harness/cli/identity.h"
#include "harness/cli/import.h"
#include "harness/cli/print_json.h"
#include "harness/cli/progress_line.h"
#include "harness/cli/provider.h"
#include "harness/ipc/stress_state.h"
#include "harness/jvm/images/jdk_choice.h"
#include "harness/process/interrupt.h"
#include "harness/supervise/reproduce/reproduction.h"

namespace walkhammer {
namespace {

using nlohmann::json;

bool IsOver() { return Interrupted().load(); }

std::string VerdictText(const Reproduction& result) {
  const uint64_t walks = result.walks();
  if (walks == 0) return "none: nothing could be walked on this JDK";
  switch (result.verdict) {
    case ReproductionVerdict::kReproduced:
      if (result.hit.text.empty())
        return "reproduced under load, without a request that replays: " + result.hit.expect;
      return fmt::format("reproduced, {} of {} replays: {}", result.reliability.shown,
                         result.reliability.times, result.hit.expect);
    case ReproductionVerdict::kSameClass:
      return "not reproduced, but the same class of failure: " + result.hit.expect;
    case ReproductionVerdict::kOther:
      return fmt::format(
          "not reproduced: 0 of {} walks, at most {:.1e} a walk (95 %); other "
          "signatures were seen",
          walks, 3.0 / static_cast<double>(walks));
    default:
      return fmt::format("not reproduced: 0 of {} walks, at most {:.1e} a walk (95 %)", walks,
                         3.0 / static_cast<double>(walks));
  }
}

void PrintReproduction(const Reproduction& result) {
  std::set<std::string> others;
  Print(stdout, "on {}\n  verdict      {}\n", result.jdk, VerdictText(result));
  if (result.verdict == ReproductionVerdict::kReproduced) {
    Print(stdout, "  by           {}\n", result.hit.what);
    if (!result.hit.text.empty())
      Print(stdout, "  input        {}; realism: {}\n", result.hit.source, result.realism);
    if (!result.minimized.empty()) Print(stdout, "  minimised    {}\n", result.minimized);
  }
  for (const StageOutcome& stage : result.stages) {
    Print(stdout, "  tried        {}: {} walks in {:.1f} s\n", stage.name, stage.walks,
          stage.seconds);
    others.insert(stage.others.begin(), stage.others.end());
  }
  if (result.verdict != ReproductionVerdict::kReproduced)
    for (const std::string& other : others) Print(stdout, "  other        {}\n", other);
  Print(stdout, "  took         {:.1f} s\n", result.seconds);
}

json ReproductionJson(const Reproduction& result) {
  json stages = json::array();
  for (const StageOutcome& stage : result.stages)
    stages.push_back({{"name", stage.name},
                      {"walks", stage.walks},
                      {"seconds", stage.seconds},
                      {"others", stage.others}});
  return {{"jdk", result.jdk},
          {"verdict", ReproductionWord(result.verdict)},
          {"signature", result.hit.expect},
          {"by", result.hit.what},
          {"source", result.hit.source},
          {"realism", result.realism},
          {"shown", result.reliability.shown},
          {"times", result.reliability.times},
          {"minimized", result.minimized},
          {"stages", stages},
          {"walks", result.walks()},
          {"seconds", result.seconds}};
}

void PrintEnd(const ImportOptions& options, const ImportedCrash& crash, const std::string& next,
              const json& all) {
  if (!options.json) {
    Print(stdout, "next           {}\n", next);
  } else {
    PrintJson({{"schema", 1},
               {"next", next},
               {"file", crash.name},
               {"function", crash.target.function},
               {"check", crash.target.check},
               {"walker", GuiltWord(crash.guilt)},
               {"reproductions", all}});
  }
}

ReproductionSettings SettingsOf(const ImportOptions& options,
                                const std::vector<std::string>& jvm_flags) {
  ReproductionSettings settings;
  settings.time = options.time;
  if (!options.no_stress)
    settings.stress_time = options.stress_time.count() != 0 ? options.stress_time : options.time;
  settings.minimize = !options.no_minimize;
  settings.jvm_flags = jvm_flags;
  settings.identity = OwnIdentity();
  settings.identity.seed = options.seed;
  settings.stop = IsOver;
  return settings;
}

Status CheckOut(const ImportOptions& options) {
  std::error_code error;
  if (!options.out.empty() && std::filesystem::exists(options.out, error) &&
      !std::filesystem::is_empty(options.out, error))
    return BadInput(fmt::format(
        "--out {}: exists and is not empty; choose another folder or remove it", options.out));
  return Ok();
}

// Why nothing can be tried; empty: something can.
std::string NothingToTry(const ImportedCrash& crash) {
  if (crash.guilt.guilt == Guilt::kNone)
    return "nothing to reproduce: no stack walker is in the chain that crashed";
  if (crash.report.vm == CrashVm::kOpenJ9)
    return "cannot reproduce it: OpenJ9 crashed, and requests are for HotSpot";
  if (crash.target.known() || !crash.candidates.empty()) return "";
  return "cannot try to reproduce it: the report names no function and no check, and no request "
         "follows from it";
}

// `command` with JVM flags, as it is typed.
std::string WithFlags(std::vector<std::string> command, const std::vector<std::string>& flags) {
  if (!flags.empty()) command.emplace_back("--");
  command.insert(command.end(), flags.begin(), flags.end());
  return ShellCommand(command);
}

// What to type once the JDKs were tried and none showed the crash: to search for longer, or to
// learn more of what crashed.
std::string NextAfterNothing(const ImportOptions& options, const ImportedCrash& crash,
                             const std::vector<std::string>& jvm_flags) {
  if (crash.guilt.guilt == Guilt::kPossible && !crash.guilt.command.empty())
    return crash.guilt.command;
  std::vector<std::string> command = {"walkhammer", "import", "--reproduce", crash.name};
  for (const std::string& jdk : options.jdks) command.insert(command.end(), {"--jdk", jdk});
  if (!options.library.empty()) command.insert(command.end(), {"--library", options.library});
  command.insert(command.end(), {"--time", "10m"});
  return WithFlags(command, jvm_flags);
}

// What came of all JDKs.
struct Tried {
  json all = json::array();
  ExitCode worst = ExitCode::kClean;  // on the JDKs that do not show the crash
  std::string next;                   // of the first JDK that shows it; empty: none does
};

// Bundles what shows the crash, or shows it again.
std::string NextAfterShown(const Reproduction& shown, const Jdk& jdk,
                           const ReproductionSettings& settings) {
  const std::string& folder = settings.folder;
  const std::string walk = shown.minimized.empty() ? folder + "/reproduced.walk" : shown.minimized;
  if (shown.hit.text.empty())
    return WithFlags({"walkhammer", "report", shown.stages.back().folder}, {});
  if (!settings.library.empty())
    return WithFlags(
        {"walkhammer", "replay", walk, "--library", settings.library, "--jdk", jdk.home},
        shown.flags);
  return WithFlags({"walkhammer", "bundle", walk, "--jdk", jdk.home, "--out", folder + "/bundle"},
                   shown.flags);
}

// The progress of a stage.
struct StageLines {
  ProgressLine fuzz;
  StressProgressLine stress;
};

// `lines` must outlive what is returned.
ReproductionProgress ShownBy(StageLines& lines) {
  return {[&lines](const std::string& stage) {
            lines.fuzz.Say("walkhammer: stage: " + stage);
            lines = {};
          },
          [&lines](const FuzzProgress& progress) { lines.fuzz.Show(progress); },
          [&lines](const StressProgress& progress) { lines.stress.Show(progress); }};
}

void TryJdk(const ImportOptions& options, const ImportedCrash& crash, const Jdk& jdk,
            ReproductionSettings settings, Tried& tried) {
  StageLines lines;
  settings.progress = ShownBy(lines);
  const auto result = Reproduce(crash, jdk, settings);
  lines.fuzz.Clear();
  if (!result.ok()) {
    const Failure& failure = result.failure();
    tried.worst = std::max(tried.worst, failure.code);
    PrintFailure({failure.code, fmt::format("{}: {}", jdk.home, failure.message)});
    tried.all.push_back({{"jdk", jdk.home}, {"verdict", "failed"}, {"why", failure.message}});
    return;
  }
  const Reproduction& shown = result.value();
  if (shown.walks() == 0) tried.worst = std::max(tried.worst, ExitCode::kToolFailed);
  if (shown.verdict == ReproductionVerdict::kReproduced && tried.next.empty())
    tried.next = NextAfterShown(shown, jdk, settings);
  if (!options.json) PrintReproduction(shown);
  tried.all.push_back(ReproductionJson(shown));
}

// Says with what the search begins, where that is less than a walker that is to blame.
void PrintStandIns(const GuiltVerdict& guilt, const std::string& library) {
  if (guilt.guilt == Guilt::kPossible)
    Print(stderr,
          "walkhammer: it is unknown whether a walker crashed; replays follow what the report "
          "says\n");
  if (guilt.pattern == nullptr || !library.empty()) return;
  constexpr char kStandsIn[] =
      "AsyncGetCallTrace stands in, which runs the same frame code of libjvm";
  if (IsOfLibrary(guilt))
    Print(stderr, "walkhammer: {}; with --library FILE.so, {} itself is driven\n", kStandsIn,
          guilt.pattern->whose);
  else if (guilt.pattern->walker[0] == 0)
    Print(stderr, "walkhammer: it cannot drive {}; {}\n", guilt.pattern->whose, kStandsIn);
}

// The library of --library, out of which the walker that crashed must come.
Result<std::string> LibraryOf(const ImportOptions& options) {
  ASSIGN_OR_RETURN(auto library, ProviderLibraryNamed(options.library));
  if (library.size() >= sizeof(StressJob::provider))
    return BadInput("the path of the library is too long for walkhammer");
  return library;
}

Status CheckLibrary(const ImportedCrash& crash, const std::string& library) {
  const WalkerInfo& walker = AllWalkers()[static_cast<size_t>(crash.walker)];
  if (library.empty() || !walker.local_functions.empty()) return Ok();
  return BadInput(fmt::format("--library {}: {} did not crash in a walker of this library", library,
                              crash.name));
}

// The JDKs to try: those that the user names, else one of the report's line.
Result<std::vector<Jdk>> JdksToTry(const ImportOptions& options, const ImportedCrash& crash) {
  const int feature = crash.report.version.feature.value;
  if (!options.jdks.empty() || feature == 0) return OpenJdks(options.jdks);
  ASSIGN_OR_RETURN(Jdk jdk, DefaultJdkOfLine(feature));
  Print(stderr, "walkhammer: {} {}: trying {} ({}); --jdk names others\n",
        jdk.feature == feature ? "the report is of JDK"
                               : "no JDK of the report's version is here, JDK",
        feature, jdk.home, jdk.version);
  return std::vector<Jdk>{std::move(jdk)};
}

}  // namespace

Result<ExitCode> RunReproduce(const ImportOptions& options,
                              const std::vector<std::string>& jvm_flags) {
  RETURN_IF_ERROR(CheckOut(options));
  ASSIGN_OR_RETURN(const std::string library, LibraryOf(options));
  ASSIGN_OR_RETURN(const ImportedCrash crash,
                   ReadCrashFile(options.files[0], options.modules, !options.no_known, library));
  ASSIGN_OR_RETURN(const auto jdks, JdksToTry(options, crash));
  if (!options.json) Print(stdout, "{}", AnswerOf(crash));
  if (const std::string why = NothingToTry(crash); !why.empty()) {
    Print(stderr, "walkhammer: {}\n", why);
    PrintEnd(options, crash, NextCommand(crash), json::array());
    return crash.guilt.guilt == Guilt::kNone ? ExitCode::kClean : ExitCode::kUnable;
  }
  RETURN_IF_ERROR(CheckLibrary(crash, library));
  PrintStandIns(crash.guilt, library);
  const std::string base = options.out.empty()
                               ? fmt::format("out/reproduce-{}-{}", Now("%Y%m%d-%H%M%S"), getpid())
                               : options.out;
  ReproductionSettings settings = SettingsOf(options, jvm_flags);
  settings.library = library;
  Tried tried;
  for (size_t i = 0; i < jdks.size() && !IsOver(); i++) {
    settings.folder = jdks.size() == 1 ? base : fmt::format("{}/{}", base, i + 1);
    TryJdk(options, crash, jdks[i], settings, tried);
  }
  const bool found = !tried.next.empty();
  PrintEnd(options, crash, found ? tried.next : NextAfterNothing(options, crash, jvm_flags),
           tried.all);
  if (IsOver()) return ToolFailed("interrupted before the verdict");
  if (found) return ExitCode::kFindings;
  // That no JDK shows it answers nothing where nobody knows what crashed.
  const bool unknown = crash.guilt.guilt == Guilt::kPossible;
  return unknown ? std::max(tried.worst, ExitCode::kUnable) : tried.worst;
}

}  // namespace walkhammer
