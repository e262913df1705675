// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/reproduce/reproduction.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "harness/base/clock.h"
#include "harness/base/text.h"
#include "harness/findings/crash_folder.h"
#include "harness/process/scratch.h"
#include "harness/request/walker_table.h"
#include "harness/supervise/minimize_input.h"

namespace walkhammer {
namespace {

using Clock = std::chrono::steady_clock;

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
bool TakeStage(StageOutcome stage, const StagePlan& plan, const ReproductionSettings& settings,
               Reproduction& result) {
  const Hit best = stage.best;
  result.stages.push_back(std::move(stage));
  if (best.closeness > result.hit.closeness) result.hit = best;
  if (best.closeness < Closeness::kFunction || best.text.empty()) return false;
  const Reliability measured =
      MeasureReliability(best, plan.crash->target, plan.setup, settings.stop);
  if (measured.shown == 0) return false;
  result.hit = best;
  result.reliability = measured;
  return true;
}

// Runs the stages until one reproduces the crash.
Result<bool> RunStages(const ReproductionSettings& settings, StagePlan& plan,
                       Reproduction& result) {
  const Clock::time_point began = Clock::now();
  auto walked =
      WalkCandidates(plan.crash->candidates, plan.crash->target, plan.setup, settings.stop);
  if (!walked.ok()) return walked.failure();
  if (TakeStage(StageOf(walked.value(), InSeconds(Clock::now() - began)), plan, settings, result))
    return true;
  // The guided engine goes deeper, the random one is faster: which one is better differs by crash.
  plan.time = settings.time / 2;
  for (const char* engine : {"libfuzzer", "random"}) {
    if (settings.stop()) return false;
    ASSIGN_OR_RETURN(auto stage, FuzzForCrash(plan, engine));
    if (TakeStage(std::move(stage), plan, settings, result)) return true;
  }
  if (settings.stress_time.count() == 0 || settings.stop()) return false;
  plan.time = settings.stress_time;
  ASSIGN_OR_RETURN(auto stage, StressForCrash(plan));
  return TakeStage(std::move(stage), plan, settings, result);
}

ReproductionVerdict VerdictOf(bool reproduced, const Reproduction& result) {
  if (reproduced) return ReproductionVerdict::kReproduced;
  if (result.hit.closeness >= Closeness::kClass) return ReproductionVerdict::kSameClass;
  for (const StageOutcome& stage : result.stages)
    if (!stage.others.empty()) return ReproductionVerdict::kOther;
  return ReproductionVerdict::kNot;
}

// Writes the request that shows the crash, and a minimised one if it replays every time.
Status KeepRequest(const ReproductionSettings& settings, const StagePlan& plan,
                   Reproduction& result) {
  const std::string path = plan.folder + "/reproduced.walk";
  RETURN_IF_ERROR(WriteFileAtomically(path, result.hit.text));
  const bool always = result.reliability.shown == result.reliability.times;
  if (!settings.minimize || !always) return Ok();
  MinimizePlan minimize;
  minimize.expect = result.hit.expect;
  minimize.stop = settings.stop;
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

}  // namespace

const char* ReproductionWord(ReproductionVerdict verdict) {
  static constexpr const char* kWords[] = {"reproduced", "same-class", "other-signature",
                                           "not-reproduced"};
  return kWords[static_cast<int>(verdict)];
}

uint64_t Reproduction::walks() const {
  uint64_t walks = 0;
  for (const StageOutcome& stage : stages) walks += stage.walks;
  return walks;
}

Result<Reproduction> Reproduce(const ImportedCrash& crash, const Jdk& jdk,
                               const ReproductionSettings& settings) {
  Reproduction result;
  result.jdk = jdk.home + " (" + jdk.version + ")";
  const Clock::time_point began = Clock::now();
  ScratchFolder scratch;
  RETURN_IF_ERROR(scratch.made());
  std::vector<std::string> flags = FlagsFor(crash, jdk);
  flags.insert(flags.end(), settings.jvm_flags.begin(), settings.jvm_flags.end());
  StagePlan plan;
  plan.crash = &crash;
  plan.jdk = &jdk;
  plan.setup = ChildSetup{jdk.libjvm, jdk.platform, flags, true, scratch.path()};
  plan.walker = WalkerFor(crash);
  plan.folder = settings.folder;
  plan.candidates = settings.folder + "/candidates";
  const WalkerInfo& walker = AllWalkers()[static_cast<size_t>(plan.walker)];
  plan.identity = settings.identity;
  plan.identity.jdk_path = jdk.home;
  plan.identity.libjvm_build_id = jdk.build_id;
  plan.identity.jvm_flags = fmt::format("{}", fmt::join(flags, " "));
  plan.identity.walker = walker.name;
  plan.identity.provider = walker.provider;
  std::error_code error;
  std::filesystem::create_directories(plan.candidates, error);
  if (error) return BadInput("cannot make " + plan.candidates + ": " + error.message());
  for (size_t i = 0; i < crash.candidates.size(); i++)
    RETURN_IF_ERROR(WriteFileAtomically(fmt::format("{}/{:03}.walk", plan.candidates, i + 1),
                                        crash.candidates[i].text));
  ASSIGN_OR_RETURN(const bool reproduced, RunStages(settings, plan, result));
  result.verdict = VerdictOf(reproduced, result);
  if (reproduced) RETURN_IF_ERROR(KeepRequest(settings, plan, result));
  result.seconds = InSeconds(Clock::now() - began);
  return result;
}

}  // namespace walkhammer
