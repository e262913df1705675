// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/reproduce/reproduction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

#include "harness/base/clock.h"
#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/crash/profiler_library.h"
#include "harness/crash/reported_agent.h"
#include "harness/crash/reported_flags.h"
#include "harness/findings/crash_folder.h"
#include "harness/process/interrupt.h"
#include "harness/process/scratch.h"
#include "harness/request/text_form.h"
#include "harness/request/walker_table.h"
#include "harness/supervise/campaign/fuzz_run.h"
#include "harness/supervise/minimize_input.h"
#include "harness/supervise/stress_runs/stress_plan.h"

namespace walkhammer {
namespace {

using Clock = std::chrono::steady_clock;

// What the stages beyond the candidates need. Each stops as soon as it has shown the crash.
struct StagePlan {
  const ImportedCrash* crash;
  const Jdk* jdk;
  ChildSetup setup;        // for replays on that JDK
  int walker = 0;          // index into AllWalkers()
  std::string folder;      // existing; each stage makes its own in it
  std::string candidates;  // folder with the candidates
  std::chrono::nanoseconds time{};
  RunIdentity identity;  // of the runs, with the seed; each stage adds its engine
  Profile profile;       // the flags of the JVM that crashed; none: not known
  ReproductionProgress progress;
};

constexpr char kFuzzed[] = "a request that fuzzing made";
constexpr char kSampled[] = "a sample of a program under stress";
constexpr auto kMostBooting = std::chrono::minutes(2);  // until the first walk

// Compares each new bucket of a run with the target, and asks the run to stop once it is shown.
class BucketWatch {
 public:
  // `source`: whose inputs the run makes, in words.
  BucketWatch(const StagePlan& plan, std::string run, const char* source, StageOutcome& outcome)
      : plan_(plan), run_(std::move(run)), source_(source), outcome_(outcome) {}

  void Take(const BucketRow& bucket) {
    const std::string& expect = bucket.signature.expect;
    const Closeness closeness = Compare(plan_.crash->target, expect, bucket.signature.title);
    if (closeness < Closeness::kFunction && bucket.grade == Grade::kForbidden)
      outcome_.others.push_back(expect);
    if (closeness > outcome_.best.closeness)
      outcome_.best = {closeness, expect, "", bucket.folder, source_};
    if (outcome_.best.closeness >= Closeness::kFunction) stop_.store(true);
  }
  // `walks`: so far. The time of the plan begins with the first walk: how long a JVM takes to start
  // says nothing about the search.
  void Poll(uint64_t walks) {
    if (walks > 0 && !walks_from_) walks_from_ = Clock::now();
    if (walks_from_ && Clock::now() - *walks_from_ >= plan_.time) stop_.store(true);
    if (Interrupted().load()) stop_.store(true);
  }
  const std::atomic<bool>& stop() const { return stop_; }

  // Once the run has ended: reads the request of the best bucket.
  void Finish(double seconds, uint64_t walks) {
    outcome_.seconds = seconds;
    outcome_.walks = walks;
    if (outcome_.best.closeness == Closeness::kNone) return;
    const std::string folder = run_ + "/" + outcome_.best.what;
    outcome_.best.text = ReadFile(folder + "/" + kInputName);
    outcome_.best.what = fmt::format("{}, {}", outcome_.name, folder);
  }

 private:
  const StagePlan& plan_;
  std::string run_;
  const char* source_;
  StageOutcome& outcome_;
  std::atomic<bool> stop_{false};
  std::optional<Clock::time_point> walks_from_;
};

RunIdentity IdentityOf(const StagePlan& plan, const std::string& engine) {
  RunIdentity identity = plan.identity;
  identity.engine = engine;
  return identity;
}

FuzzPlan FuzzPlanOf(const StagePlan& plan, int engine) {
  FuzzPlan fuzz;
  fuzz.walkers = {plan.walker};
  fuzz.engine = engine;
  fuzz.workers = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 64U));
  const bool has_corpus = !plan.crash->candidates.empty();
  if (has_corpus && AllEngines()[static_cast<size_t>(engine)].guided)
    fuzz.corpus = {plan.candidates};
  fuzz.merge = false;
  fuzz.confirm_times = 0;
  fuzz.minimize = false;
  fuzz.seed = plan.identity.seed;
  fuzz.time = plan.time + kMostBooting;
  fuzz.child = plan.setup;
  fuzz.child.aslr = !CanSwitchAslrOff();
  fuzz.words = WordsFor(*plan.jdk, plan.setup.jvm_flags, plan.setup.provider);
  return fuzz;
}

// Fuzzes with `engine` ("libfuzzer", "random"), which starts from the candidates.
Result<StageOutcome> FuzzForCrash(const StagePlan& plan, const std::string& engine) {
  StageOutcome outcome;
  outcome.name = "fuzzing by " + engine;
  plan.progress.on_stage(outcome.name);
  ASSIGN_OR_RETURN(const int index, EngineNamed(engine));
  const std::string dir = plan.folder + "/" + engine;
  ASSIGN_OR_RETURN(auto db, RunWriter::Create(dir, IdentityOf(plan, engine)));
  const Clock::time_point began = Clock::now();
  BucketWatch watch(plan, dir, kFuzzed, outcome);
  uint64_t walks = 0;
  FuzzRun run(FuzzPlanOf(plan, index), db);
  run.sink().on_bucket = [&](const BucketRow& bucket) { watch.Take(bucket); };
  run.on_progress = [&](const FuzzProgress& progress) {
    walks = progress.shared->walks.load();
    watch.Poll(walks);
    plan.progress.on_fuzz(progress);
  };
  RETURN_IF_ERROR(run.Run(watch.stop()));
  watch.Finish(InSeconds(Clock::now() - began), walks);
  return outcome;
}

// Torture programs, whose threads get in each other's way, on the plan's JDK for the plan's time.
StressSettings LoadsOf(const StagePlan& plan) {
  StressSettings settings;
  settings.loads.workloads = {"torture:deopt", "torture:exceptions", "torture:recursion",
                              "torture:classes"};
  settings.jdks = {plan.jdk->home};
  settings.jvm_flags = plan.setup.jvm_flags;
  // A JDK may not start with these flags; the default profile is walked all the same.
  if (!plan.profile.flags.empty())
    settings.profiles.insert(settings.profiles.begin(), &plan.profile);
  const size_t cells = settings.loads.workloads.size() * settings.profiles.size();
  settings.time = std::max<std::chrono::nanoseconds>(std::chrono::seconds(1),
                                                     plan.time / static_cast<int64_t>(cells));
  settings.jobs = 1;
  settings.confirm_times = 0;
  return settings;
}

Result<StageOutcome> RunLoads(const StagePlan& plan, StressSettings settings, const char* folder,
                              std::string name) {
  StageOutcome outcome;
  outcome.name = std::move(name);
  if (!plan.profile.flags.empty())
    outcome.name += fmt::format(" with {}, and without", fmt::join(plan.profile.flags, " "));
  plan.progress.on_stage(outcome.name);
  ScratchFolder scratch;
  RETURN_IF_ERROR(scratch.made());
  ASSIGN_OR_RETURN(auto stress, MakeStressPlan(std::move(settings), scratch.path()));
  const std::string dir = outcome.folder = plan.folder + "/" + folder;
  ASSIGN_OR_RETURN(auto db, RunWriter::Create(dir, IdentityOf(plan, "stress")));
  const Clock::time_point began = Clock::now();
  BucketWatch watch(plan, dir, kSampled, outcome);
  uint64_t walks = 0;
  StressRun run(std::move(stress), db);
  run.on_bucket = [&](const BucketRow& bucket) { watch.Take(bucket); };
  run.on_progress = [&](const StressProgress& progress) {
    walks = progress.walks;
    watch.Poll(walks);
    plan.progress.on_stress(progress);
  };
  RETURN_IF_ERROR(run.Run(watch.stop()));
  watch.Finish(InSeconds(Clock::now() - began), walks);
  return outcome;
}

// The walker walks samples of programs.
Result<StageOutcome> StressForCrash(const StagePlan& plan) {
  StressSettings settings = LoadsOf(plan);
  settings.job.walkers[0] = static_cast<uint8_t>(plan.walker);
  settings.walker = AllWalkers()[static_cast<size_t>(plan.walker)].name;
  settings.job.interval_min_ns = 10'000;
  settings.job.interval_max_ns = 100'000;
  plan.setup.provider.copy(settings.job.provider, sizeof settings.job.provider - 1);
  return RunLoads(plan, std::move(settings), "stress", "stress");
}

// The profiler itself profiles the programs, with the options of the report.
Result<StageOutcome> ProfileForCrash(const StagePlan& plan) {
  const std::string options = ReportedAgentOptions(plan.crash->report);
  StressSettings settings = LoadsOf(plan);
  settings.backend_argument =
      fmt::format("{}={},collapsed,file={{out}}", plan.setup.provider, options);
  settings.walker = "agent:" + settings.backend_argument;
  settings.backend = BackendOf(settings.walker);
  return RunLoads(plan, std::move(settings), "profiler",
                  fmt::format("the profiler itself ({})", options));
}

StageOutcome StageOf(const CandidateOutcome& walked, double seconds) {
  StageOutcome stage;
  stage.name = "candidates";
  stage.walks = static_cast<uint64_t>(walked.walked);
  stage.seconds = seconds;
  stage.best = walked.best;
  stage.others = walked.others;
  return stage;
}

// Takes the stage's best if it is closer, and measures how often it replays; what stress has met,
// also with the flags of the JVM that crashed, which stay if it needs them. True: the crash is
// reproduced.
bool TakeStage(StageOutcome stage, StagePlan& plan, const ReproductionSettings& settings,
               Reproduction& result) {
  const Hit best = stage.best;
  result.stages.push_back(std::move(stage));
  if (best.closeness > result.hit.closeness) result.hit = best;
  if (best.closeness < Closeness::kFunction) return false;
  if (best.text.empty()) return true;  // a program died of it, and no request tells how
  Reliability measured = MeasureReliability(best, plan.crash->target, plan.setup, settings.stop);
  if (measured.shown == 0 && best.source == kSampled && !plan.profile.flags.empty()) {
    ChildSetup flagged = plan.setup;
    flagged.jvm_flags.insert(flagged.jvm_flags.end(), plan.profile.flags.begin(),
                             plan.profile.flags.end());
    measured = MeasureReliability(best, plan.crash->target, flagged, settings.stop);
    plan.setup = flagged;
  }
  if (measured.shown == 0) return false;
  result.flags = plan.setup.jvm_flags;
  result.hit = best;
  result.reliability = measured;
  return true;
}

// Runs the stages until one reproduces the crash.
Result<bool> RunStages(const ReproductionSettings& settings, StagePlan& plan,
                       Reproduction& result) {
  const Clock::time_point began = Clock::now();
  plan.progress.on_stage(fmt::format("candidates ({})", plan.crash->candidates.size()));
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
  if (TakeStage(std::move(stage), plan, settings, result)) return true;
  const char* profiler = ProfilerByContents(settings.library);
  const bool is_agent = profiler != nullptr && std::string_view(profiler) == kAsyncProfilerName;
  if (!is_agent || settings.stop()) return false;
  ASSIGN_OR_RETURN(auto profiled, ProfileForCrash(plan));
  return TakeStage(std::move(profiled), plan, settings, result);
}

std::string RealismOfHit(const Hit& hit) {
  const auto walk = ParseWalk(hit.text, "hit");
  return walk.ok() ? std::string(RealismWord(RealismOf(walk.value().file.request))) : "";
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
  if (result.hit.text.empty()) return Ok();
  const std::string path = plan.folder + "/reproduced.walk";
  RETURN_IF_ERROR(WriteFileAtomically(path, result.hit.text));
  const bool always = result.reliability.shown == result.reliability.times;
  if (!settings.minimize || !always) return Ok();
  plan.progress.on_stage("minimising");
  MinimizePlan minimize;
  minimize.expect = result.hit.expect;
  minimize.stop = settings.stop;
  minimize.until = Clock::now() + std::chrono::seconds(30);
  auto small = MinimizeInput({result.hit.text, path}, plan.setup, minimize);
  if (!small.ok() || !small.value().proved) return Ok();  // what reproduces is as good as it is
  result.minimized = plan.folder + "/minimized.walk";
  return WriteFileAtomically(result.minimized, small.value().text);
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
  result.flags = flags;
  StagePlan plan;
  plan.crash = &crash;
  plan.profile = {"report", "the flags of the JVM that crashed", ReportedFlags(crash.report)};
  plan.jdk = &jdk;
  plan.setup = ChildSetup{jdk.libjvm, jdk.platform, flags, true, scratch.path()};
  plan.setup.provider = settings.library;
  plan.walker = crash.walker;
  plan.folder = settings.folder;
  plan.candidates = settings.folder + "/candidates";
  const WalkerInfo& walker = AllWalkers()[static_cast<size_t>(plan.walker)];
  plan.progress = settings.progress;
  plan.identity = settings.identity;
  plan.identity.jdk_path = jdk.home;
  plan.identity.libjvm_build_id = jdk.build_id;
  plan.identity.jvm_flags = fmt::format("{}", fmt::join(flags, " "));
  plan.identity.walker = walker.name;
  plan.identity.provider = settings.library.empty() ? walker.provider : settings.library;
  std::error_code error;
  std::filesystem::create_directories(plan.candidates, error);
  if (error) return BadInput("cannot make " + plan.candidates + ": " + error.message());
  for (size_t i = 0; i < crash.candidates.size(); i++)
    RETURN_IF_ERROR(WriteFileAtomically(fmt::format("{}/{:03}.walk", plan.candidates, i + 1),
                                        crash.candidates[i].text));
  ASSIGN_OR_RETURN(const bool reproduced, RunStages(settings, plan, result));
  result.verdict = VerdictOf(reproduced, result);
  if (!result.hit.text.empty()) result.realism = RealismOfHit(result.hit);
  if (reproduced) RETURN_IF_ERROR(KeepRequest(settings, plan, result));
  result.seconds = InSeconds(Clock::now() - began);
  return result;
}

}  // namespace walkhammer
