// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/reproduce/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

#include "harness/base/clock.h"
#include "harness/base/files.h"
#include "harness/findings/crash_folder.h"
#include "harness/process/interrupt.h"
#include "harness/process/scratch.h"
#include "harness/request/walker_table.h"
#include "harness/supervise/campaign/fuzz_run.h"
#include "harness/supervise/stress_runs/stress_plan.h"

namespace walkhammer {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kMostBooting = std::chrono::minutes(2);  // until the first walk

// Compares each new bucket of a run with the target, and asks the run to stop once it is shown.
class BucketWatch {
 public:
  BucketWatch(const StagePlan& plan, std::string run, StageOutcome& outcome)
      : plan_(plan), run_(std::move(run)), outcome_(outcome) {}

  void Take(const BucketRow& bucket) {
    const std::string& expect = bucket.signature.expect;
    const Closeness closeness = Compare(plan_.crash->target, expect, bucket.signature.title);
    if (closeness < Closeness::kFunction && bucket.grade == Grade::kForbidden)
      outcome_.others.push_back(expect);
    if (closeness > outcome_.best.closeness) outcome_.best = {closeness, expect, "", bucket.folder};
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
  if (AllEngines()[static_cast<size_t>(engine)].guided) fuzz.corpus = {plan.candidates};
  fuzz.merge = false;
  fuzz.confirm_times = 0;
  fuzz.minimize = false;
  fuzz.seed = plan.identity.seed;
  fuzz.time = plan.time + kMostBooting;
  fuzz.child = plan.setup;
  fuzz.child.aslr = !CanSwitchAslrOff();
  fuzz.words = WordsFor(*plan.jdk, plan.setup.jvm_flags, "");
  return fuzz;
}

}  // namespace

Result<StageOutcome> FuzzForCrash(const StagePlan& plan, const std::string& engine) {
  StageOutcome outcome;
  outcome.name = "fuzzing by " + engine;
  ASSIGN_OR_RETURN(const int index, EngineNamed(engine));
  const std::string dir = plan.folder + "/" + engine;
  ASSIGN_OR_RETURN(auto db, RunWriter::Create(dir, IdentityOf(plan, engine)));
  const Clock::time_point began = Clock::now();
  BucketWatch watch(plan, dir, outcome);
  uint64_t walks = 0;
  FuzzRun run(FuzzPlanOf(plan, index), db);
  run.sink().on_bucket = [&](const BucketRow& bucket) { watch.Take(bucket); };
  run.on_progress = [&](const FuzzProgress& progress) {
    walks = progress.shared->walks.load();
    watch.Poll(walks);
  };
  RETURN_IF_ERROR(run.Run(watch.stop()));
  watch.Finish(InSeconds(Clock::now() - began), walks);
  return outcome;
}

Result<StageOutcome> StressForCrash(const StagePlan& plan) {
  static constexpr const char* kPrograms[] = {"torture:deopt", "torture:exceptions",
                                              "torture:recursion", "torture:classes"};
  StageOutcome outcome;
  outcome.name = "stress";
  ScratchFolder scratch;
  RETURN_IF_ERROR(scratch.made());
  StressSettings settings;
  settings.loads.workloads = {std::begin(kPrograms), std::end(kPrograms)};
  settings.job.walkers[0] = static_cast<uint8_t>(plan.walker);
  settings.walker = AllWalkers()[static_cast<size_t>(plan.walker)].name;
  settings.jdks = {plan.jdk->home};
  settings.jvm_flags = plan.setup.jvm_flags;
  settings.job.interval_min_ns = 10'000;
  settings.job.interval_max_ns = 100'000;
  settings.time = std::max<std::chrono::nanoseconds>(
      std::chrono::seconds(1), plan.time / static_cast<int64_t>(std::size(kPrograms)));
  settings.jobs = 1;
  settings.confirm_times = 0;
  ASSIGN_OR_RETURN(auto stress, MakeStressPlan(std::move(settings), scratch.path()));
  const std::string dir = plan.folder + "/stress";
  ASSIGN_OR_RETURN(auto db, RunWriter::Create(dir, IdentityOf(plan, "stress")));
  const Clock::time_point began = Clock::now();
  BucketWatch watch(plan, dir, outcome);
  uint64_t walks = 0;
  StressRun run(std::move(stress), db);
  run.on_bucket = [&](const BucketRow& bucket) { watch.Take(bucket); };
  run.on_progress = [&](const StressProgress& progress) {
    walks = progress.walks;
    watch.Poll(walks);
  };
  RETURN_IF_ERROR(run.Run(watch.stop()));
  watch.Finish(InSeconds(Clock::now() - began), walks);
  return outcome;
}

}  // namespace walkhammer
