// SPDX-License-Identifier: Apache-2.0
// import --reproduce: from a crash report to a verdict on each JDK: replays of the candidates,
// guided fuzzing from them, stress.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/base/clock.h"
#include "harness/base/print.h"
#include "harness/base/text.h"
#include "harness/cli/crash_file.h"
#include "harness/cli/crash_text.h"
#include "harness/cli/identity.h"
#include "harness/cli/import.h"
#include "harness/cli/print_json.h"
#include "harness/findings/crash_folder.h"
#include "harness/jvm/images/jdk_choice.h"
#include "harness/process/interrupt.h"
#include "harness/process/scratch.h"
#include "harness/request/walker_table.h"
#include "harness/supervise/minimize_input.h"
#include "harness/supervise/reproduce/stages.h"

namespace walkhammer {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

enum class ReproductionVerdict { kReproduced, kSameClass, kOther, kNot };

constexpr const char* kVerdictWords[] = {"reproduced", "same-class", "other-signature",
                                         "not-reproduced"};

// What was tried on one JDK, and what came of it.
struct Reproduction {
  std::string jdk;  // path and version
  ReproductionVerdict verdict = ReproductionVerdict::kNot;
  Hit hit;  // the best
  Reliability reliability;
  std::string minimized;  // path of the minimised request; empty: none
  std::vector<StageOutcome> stages;
  double seconds = 0;
};

bool IsOver() { return Interrupted().load(); }

StageOutcome StageOf(const CandidateOutcome& walked, double seconds) {
  StageOutcome stage;
  stage.name = "candidates";
  stage.walks = static_cast<uint64_t>(walked.walked);
  stage.seconds = seconds;
  stage.best = walked.best;
  stage.others = walked.others;
  return stage;
}

// Takes the stage's best if it is closer, and measures how often it replays. True: the crash is
// reproduced.
bool TakeStage(StageOutcome stage, const StagePlan& plan, Reproduction& result) {
  const Hit best = stage.best;
  result.stages.push_back(std::move(stage));
  if (best.closeness > result.hit.closeness) result.hit = best;
  if (best.closeness < Closeness::kFunction || best.text.empty()) return false;
  const Reliability measured = MeasureReliability(best, plan.crash->target, plan.setup, IsOver);
  if (measured.shown == 0) return false;
  result.hit = best;
  result.reliability = measured;
  return true;
}

// Runs the stages until one reproduces the crash.
Result<bool> RunStages(const ImportOptions& options, StagePlan& plan, Reproduction& result) {
  const Clock::time_point began = Clock::now();
  auto walked = WalkCandidates(plan.crash->candidates, plan.crash->target, plan.setup, IsOver);
  if (!walked.ok()) return walked.failure();
  if (TakeStage(StageOf(walked.value(), InSeconds(Clock::now() - began)), plan, result))
    return true;
  // The guided engine goes deeper, the random one is faster: which one is better differs by crash.
  plan.time = options.time / 2;
  for (const char* engine : {"libfuzzer", "random"}) {
    if (IsOver()) return false;
    ASSIGN_OR_RETURN(auto stage, FuzzForCrash(plan, engine));
    if (TakeStage(std::move(stage), plan, result)) return true;
  }
  if (options.no_stress || IsOver()) return false;
  plan.time = options.stress_time.count() != 0 ? options.stress_time : options.time;
  ASSIGN_OR_RETURN(auto stage, StressForCrash(plan));
  return TakeStage(std::move(stage), plan, result);
}

ReproductionVerdict VerdictOf(bool reproduced, const Reproduction& result) {
  if (reproduced) return ReproductionVerdict::kReproduced;
  if (result.hit.closeness >= Closeness::kClass) return ReproductionVerdict::kSameClass;
  for (const StageOutcome& stage : result.stages)
    if (!stage.others.empty()) return ReproductionVerdict::kOther;
  return ReproductionVerdict::kNot;
}

// Writes the request that shows the crash, and a minimised one if it replays every time.
Status KeepRequest(const ImportOptions& options, const StagePlan& plan, Reproduction& result) {
  const std::string path = plan.folder + "/reproduced.walk";
  RETURN_IF_ERROR(WriteFileAtomically(path, result.hit.text));
  const bool always = result.reliability.shown == result.reliability.times;
  if (options.no_minimize || !always) return Ok();
  MinimizePlan minimize;
  minimize.expect = result.hit.expect;
  minimize.stop = IsOver;
  minimize.until = Clock::now() + std::chrono::seconds(30);
  auto small = MinimizeInput({result.hit.text, path}, plan.setup, minimize);
  if (!small.ok() || !small.value().proved) return Ok();  // what reproduces is as good as it is
  result.minimized = plan.folder + "/minimized.walk";
  return WriteFileAtomically(result.minimized, small.value().text);
}

// The walker of walkhammer that runs the same code as the guilty one.
int WalkerFor(const ImportedCrash& crash) {
  const WalkerPattern* pattern = crash.guilt.pattern;
  if (pattern != nullptr && pattern->walker[0] != 0)
    if (const auto walker = FindWalker(pattern->walker)) return *walker;
  return 0;
}

// Flags without which the JVM has no code that is about to be freed.
std::vector<std::string> FlagsFor(const ImportedCrash& crash, const Jdk& jdk) {
  constexpr int kLastWithSweeper = 19;
  for (const Resemblance& resemblance : crash.resemblances)
    if (resemblance.bug.bug_class == 1 && resemblance.by_check && jdk.feature <= kLastWithSweeper)
      return Words(resemblance.bug.flags);
  return {};
}

Result<Reproduction> ReproduceOn(const Jdk& jdk, const ImportedCrash& crash,
                                 const ImportOptions& options,
                                 const std::vector<std::string>& jvm_flags,
                                 const std::string& folder) {
  Reproduction result;
  result.jdk = jdk.home + " (" + jdk.version + ")";
  const Clock::time_point began = Clock::now();
  ScratchFolder scratch;
  RETURN_IF_ERROR(scratch.made());
  std::vector<std::string> flags = FlagsFor(crash, jdk);
  flags.insert(flags.end(), jvm_flags.begin(), jvm_flags.end());
  StagePlan plan;
  plan.crash = &crash;
  plan.jdk = &jdk;
  plan.setup = ChildSetup{jdk.libjvm, jdk.platform, flags, true, scratch.path()};
  plan.walker = WalkerFor(crash);
  plan.folder = folder;
  plan.candidates = folder + "/candidates";
  const WalkerInfo& walker = AllWalkers()[static_cast<size_t>(plan.walker)];
  plan.identity = OwnIdentity();
  plan.identity.jdk_path = jdk.home;
  plan.identity.libjvm_build_id = jdk.build_id;
  plan.identity.jvm_flags = Joined(flags);
  plan.identity.walker = walker.name;
  plan.identity.provider = walker.provider;
  plan.identity.seed = options.seed;
  std::error_code error;
  std::filesystem::create_directories(plan.candidates, error);
  if (error) return BadInput("cannot make " + plan.candidates + ": " + error.message());
  for (size_t i = 0; i < crash.candidates.size(); i++)
    RETURN_IF_ERROR(WriteFileAtomically(fmt::format("{}/{:03}.walk", plan.candidates, i + 1),
                                        crash.candidates[i].text));
  ASSIGN_OR_RETURN(const bool reproduced, RunStages(options, plan, result));
  result.verdict = VerdictOf(reproduced, result);
  if (reproduced) RETURN_IF_ERROR(KeepRequest(options, plan, result));
  result.seconds = InSeconds(Clock::now() - began);
  return result;
}

uint64_t WalksOf(const Reproduction& result) {
  uint64_t walks = 0;
  for (const StageOutcome& stage : result.stages) walks += stage.walks;
  return walks;
}

std::string VerdictText(const Reproduction& result) {
  const uint64_t walks = WalksOf(result);
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
          {"verdict", kVerdictWords[static_cast<int>(result.verdict)]},
          {"signature", result.hit.expect},
          {"by", result.hit.what},
          {"shown", result.reliability.shown},
          {"times", result.reliability.times},
          {"minimized", result.minimized},
          {"stages", stages},
          {"walks", WalksOf(result)},
          {"seconds", result.seconds}};
}

int End(const ImportOptions& options, const ImportedCrash& crash, const json& all, ExitCode code) {
  if (options.json)
    PrintJson({{"schema", 1},
               {"file", crash.name},
               {"function", crash.target.function},
               {"check", crash.target.check},
               {"walker", GuiltWord(crash.guilt)},
               {"reproductions", all}});
  return static_cast<int>(code);
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

int RunReproduce(const ImportOptions& options, const std::vector<std::string>& jvm_flags) {
  if (const Status checked = CheckOut(options); !checked.ok())
    return PrintFailure(checked.failure());
  auto read = ReadCrashFile(options.files[0], options.modules, !options.no_known);
  if (!read.ok()) return PrintFailure(read.failure());
  const ImportedCrash& crash = read.value();
  auto jdks = OpenJdks(options.jdks);
  if (!jdks.ok()) return PrintFailure(jdks.failure());
  if (!options.json) Print(stdout, "{}", AnswerOf(crash));
  if (crash.guilt.guilt == Guilt::kNone || !crash.target.told()) {
    Print(stderr, "walkhammer: nothing to reproduce: {}\n",
          crash.guilt.guilt == Guilt::kNone ? "no stack walker is in the chain that crashed"
                                            : "the report names no function and no check");
    return End(options, crash, json::array(), ExitCode::kClean);
  }
  if (crash.guilt.pattern != nullptr && crash.guilt.pattern->walker[0] == 0)
    Print(stderr,
          "walkhammer: it cannot drive {}; AsyncGetCallTrace stands in, which runs the same frame "
          "code of libjvm\n",
          crash.guilt.pattern->whose);
  const std::string base = options.out.empty()
                               ? fmt::format("out/reproduce-{}-{}", Now("%Y%m%d-%H%M%S"), getpid())
                               : options.out;
  json all = json::array();
  ExitCode worst = ExitCode::kClean;  // on the JDKs that do not show the crash
  bool found = false;
  for (size_t i = 0; i < jdks.value().size() && !IsOver(); i++) {
    const std::string folder = jdks.value().size() == 1 ? base : fmt::format("{}/{}", base, i + 1);
    auto result = ReproduceOn(jdks.value()[i], crash, options, jvm_flags, folder);
    if (!result.ok()) {
      const Failure& failure = result.failure();
      worst = std::max(worst, failure.code);
      PrintFailure({failure.code, fmt::format("{}: {}", jdks.value()[i].home, failure.message)});
      all.push_back(
          {{"jdk", jdks.value()[i].home}, {"verdict", "failed"}, {"why", failure.message}});
      continue;
    }
    if (WalksOf(result.value()) == 0) worst = std::max(worst, ExitCode::kToolFailed);
    found |= result.value().verdict == ReproductionVerdict::kReproduced;
    if (!options.json) PrintReproduction(result.value());
    all.push_back(ReproductionJson(result.value()));
  }
  const int code = End(options, crash, all, found ? ExitCode::kFindings : worst);
  return IsOver() ? PrintFailure(ToolFailed("interrupted before the verdict")) : code;
}

}  // namespace walkhammer
