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
#include "harness/cli/crash_file.h"
#include "harness/cli/crash_text.h"
#include "harness/cli/identity.h"
#include "harness/cli/import.h"
#include "harness/cli/print_json.h"
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
          {"shown", result.reliability.shown},
          {"times", result.reliability.times},
          {"minimized", result.minimized},
          {"stages", stages},
          {"walks", result.walks()},
          {"seconds", result.seconds}};
}

void PrintEnd(const ImportOptions& options, const ImportedCrash& crash, const json& all) {
  if (options.json)
    PrintJson({{"schema", 1},
               {"file", crash.name},
               {"function", crash.target.function},
               {"check", crash.target.check},
               {"walker", GuiltWord(crash.guilt)},
               {"reproductions", all}});
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

}  // namespace

Result<ExitCode> RunReproduce(const ImportOptions& options,
                              const std::vector<std::string>& jvm_flags) {
  RETURN_IF_ERROR(CheckOut(options));
  ASSIGN_OR_RETURN(const ImportedCrash crash,
                   ReadCrashFile(options.files[0], options.modules, !options.no_known));
  ASSIGN_OR_RETURN(const auto jdks, OpenJdks(options.jdks));
  if (!options.json) Print(stdout, "{}", AnswerOf(crash));
  if (crash.guilt.guilt == Guilt::kNone || !crash.target.known()) {
    Print(stderr, "walkhammer: nothing to reproduce: {}\n",
          crash.guilt.guilt == Guilt::kNone ? "no stack walker is in the chain that crashed"
                                            : "the report names no function and no check");
    PrintEnd(options, crash, json::array());
    return ExitCode::kClean;
  }
  if (crash.guilt.pattern != nullptr && crash.guilt.pattern->walker[0] == 0)
    Print(stderr,
          "walkhammer: it cannot drive {}; AsyncGetCallTrace stands in, which runs the same frame "
          "code of libjvm\n",
          crash.guilt.pattern->whose);
  const std::string base = options.out.empty()
                               ? fmt::format("out/reproduce-{}-{}", Now("%Y%m%d-%H%M%S"), getpid())
                               : options.out;
  ReproductionSettings settings = SettingsOf(options, jvm_flags);
  json all = json::array();
  ExitCode worst = ExitCode::kClean;  // on the JDKs that do not show the crash
  bool found = false;
  for (size_t i = 0; i < jdks.size() && !IsOver(); i++) {
    settings.folder = jdks.size() == 1 ? base : fmt::format("{}/{}", base, i + 1);
    const auto result = Reproduce(crash, jdks[i], settings);
    if (!result.ok()) {
      const Failure& failure = result.failure();
      worst = std::max(worst, failure.code);
      PrintFailure({failure.code, fmt::format("{}: {}", jdks[i].home, failure.message)});
      all.push_back({{"jdk", jdks[i].home}, {"verdict", "failed"}, {"why", failure.message}});
      continue;
    }
    if (result.value().walks() == 0) worst = std::max(worst, ExitCode::kToolFailed);
    found |= result.value().verdict == ReproductionVerdict::kReproduced;
    if (!options.json) PrintReproduction(result.value());
    all.push_back(ReproductionJson(result.value()));
  }
  PrintEnd(options, crash, all);
  if (IsOver()) return ToolFailed("interrupted before the verdict");
  return found ? ExitCode::kFindings : worst;
}

}  // namespace walkhammer
