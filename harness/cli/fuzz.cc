// SPDX-License-Identifier: Apache-2.0
// fuzz: synthetic walks. Runs a campaign into a run folder and reports it.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "harness/base/duration.h"
#include "harness/base/numbers.h"
#include "harness/base/print.h"
#include "harness/cli/identity.h"
#include "harness/cli/options.h"
#include "harness/cli/progress_line.h"
#include "harness/cli/provider.h"
#include "harness/cli/run_end.h"
#include "harness/cli/shard.h"
#include "harness/ipc/launch.h"
#include "harness/jvm/images/jdk_choice.h"
#include "harness/process/interrupt.h"
#include "harness/process/scratch.h"
#include "harness/process/spawn.h"
#include "harness/request/lookup.h"
#include "harness/request/walker_table.h"
#include "harness/supervise/campaign/fuzz_run.h"

namespace walkhammer {
namespace {

struct FuzzOptions {
  std::string engine = "random", provider;
  std::vector<std::string> walkers, jdks;
  std::chrono::nanoseconds time{};  // 0: not given
  std::optional<std::string> confirm_time, minimize_time;
  std::string hang_limit = "100ms", out, shard;
  std::vector<std::string> scenes, corpus, without;
  uint64_t walks = 0, seed = 1, workers = 0;
  RunEndOptions end;
  bool answers = false;
  bool churn = false, no_confirm = false, keep_aslr = false, no_coverage = false,
       no_minimize = false;
};

constexpr uint64_t kMostWorkers = 64;
constexpr uint64_t kWindowsPerWorker = 8;  // in that time a worker sets up its scenes
constexpr std::chrono::nanoseconds kDefaultTime = std::chrono::seconds(60);
constexpr std::chrono::nanoseconds kMostSettling = std::chrono::minutes(3);

// The engine of loads that fail: ends once each has failed.
bool FailsLoads(const Engine& engine) { return engine.mode == ChildMode::kFaults; }

std::chrono::nanoseconds TimeOf(const FuzzOptions& options, const Engine& engine) {
  if (FailsLoads(engine)) return options.time;
  return options.time.count() != 0 || options.walks != 0 ? options.time : kDefaultTime;
}

// Sets how long to confirm and minimise after the walks: by default as long as the walks, so that a
// short run ends soon.
Status SetSettleTimes(const FuzzOptions& options, FuzzPlan& plan) {
  plan.settle_time = plan.time.count() == 0 ? kMostSettling : std::min(plan.time, kMostSettling);
  if (options.confirm_time) {
    ASSIGN_OR_RETURN(plan.settle_time, ParseDuration(*options.confirm_time, "--confirm-time"));
  }
  plan.minimize = !options.no_minimize;
  plan.minimize_time = plan.settle_time;
  if (options.minimize_time) {
    ASSIGN_OR_RETURN(plan.minimize_time, ParseDuration(*options.minimize_time, "--minimize-time"));
  }
  return Ok();
}

// How many windows --walks fills; the last one may be cut.
uint64_t WindowsOf(const FuzzOptions& options) {
  return options.walks / kWalksPerWindow + (options.walks % kWalksPerWindow != 0 ? 1 : 0);
}

// A random engine's windows are dealt to the shards in turn. A guided engine follows what it finds,
// so that its shards are as many campaigns, of different seeds.
Status SetShard(const FuzzOptions& options, const Shard& shard, FuzzPlan& plan) {
  const bool guided = AllEngines()[static_cast<size_t>(plan.engine)].guided;
  if (guided) {
    plan.seed += shard.index * kMostWorkers;  // each worker has a seed of its own, too
    return Ok();
  }
  plan.shard = static_cast<uint32_t>(shard.index);
  plan.shards = static_cast<uint32_t>(shard.count);
  const uint64_t windows = WindowsOf(options);
  if (options.walks != 0 && windows <= shard.index)
    return BadInput(
        fmt::format("--shard {} of --walks {} has nothing to walk, as shards take {} walks at a "
                    "time; give more "
                    "walks, or split them into {}",
                    shard.Text(), options.walks, kWalksPerWindow, Counted(windows, "shard")));
  return Ok();
}

// Number of workers: by default one for each core that this process may use. Each sets up a JVM and
// its scenes, so it must have kWindowsPerWorker windows to walk.
uint64_t WorkersOf(const FuzzOptions& options, const Shard& shard) {
  if (options.workers != 0) return options.workers;
  const uint64_t cores = std::clamp<uint64_t>(std::thread::hardware_concurrency(), 1, kMostWorkers);
  if (options.walks == 0) return cores;
  return std::clamp<uint64_t>(shard.SizeOf(WindowsOf(options)) / kWindowsPerWorker, 1, cores);
}

// Refuses options that only guided engines, or only the random engine, support.
Status CheckGuidance(const FuzzOptions& options, const Engine& engine) {
  if (!engine.guided && !options.corpus.empty())
    return BadInput("--corpus goes with a guided engine: --engine libfuzzer or afl");
  if (engine.guided && options.walks != 0)
    return BadInput("--walks goes with --engine random; a guided engine takes --time");
  if (engine.guided && options.answers)
    return BadInput("--answers goes with --engine random, whose requests repeat");
  if (engine.guided && options.no_coverage)
    return BadInput("--no-coverage goes with --engine random: coverage is what guides the others");
  if (!FailsLoads(engine)) return Ok();
  if (options.walks != 0)
    return BadInput("--walks goes with --engine random; faults ends once each load has failed");
  if (options.answers)
    return BadInput("--answers goes with --engine random, whose requests repeat");
  return Ok();
}

Result<FuzzPlan> MakePlan(const FuzzOptions& options, const std::vector<std::string>& walkers,
                          const ProviderChoice& provider, const Jdk& jdk,
                          const std::vector<std::string>& jvm_flags) {
  FuzzPlan plan;
  ASSIGN_OR_RETURN(plan.walkers, WalkersNamed(walkers, provider));
  RETURN_IF_ERROR(CheckMode(plan.walkers, kSynthetic, provider));
  ASSIGN_OR_RETURN(plan.engine, EngineNamed(options.engine));
  const Engine& engine = AllEngines()[static_cast<size_t>(plan.engine)];
  RETURN_IF_ERROR(CheckGuidance(options, engine));
  if (FailsLoads(engine) && plan.walkers.size() > 1)
    return BadInput("--engine faults walks with one --walker: run it once for each");
  ASSIGN_OR_RETURN(const Shard shard, ParseShard(options.shard));
  plan.seed = options.seed;
  RETURN_IF_ERROR(SetShard(options, shard, plan));
  plan.workers = static_cast<int>(WorkersOf(options, shard));
  plan.corpus = options.corpus;
  plan.coverage = !options.no_coverage && !FailsLoads(engine);
  plan.churn = options.churn;
  plan.answers = options.answers;
  plan.time = TimeOf(options, engine);
  ASSIGN_OR_RETURN(auto hang, ParseDuration(options.hang_limit, "--hang-limit"));
  plan.hang_limit_ms =
      static_cast<uint32_t>(std::chrono::duration_cast<std::chrono::milliseconds>(hang).count());
  if (plan.hang_limit_ms < 10 || plan.hang_limit_ms > 600000)
    return BadInput("--hang-limit must be from 10ms to 10m, not \"" + options.hang_limit + "\"");
  if (!options.scenes.empty()) {
    plan.scene_mask = 0;
    for (const std::string& name : options.scenes) {
      ASSIGN_OR_RETURN(auto scene, SceneNamed(name));
      plan.scene_mask |= 1U << scene;
    }
  }
  ASSIGN_OR_RETURN(plan.without, OracleSet(options.without));
  plan.max_walks = options.walks;
  plan.confirm_times = options.no_confirm ? 0 : 5;
  RETURN_IF_ERROR(SetSettleTimes(options, plan));
  plan.child.libjvm = jdk.libjvm;
  plan.child.platform = jdk.platform;
  plan.child.jvm_flags = jvm_flags;
  plan.child.provider = provider.library;
  plan.keeps_aslr = options.keep_aslr;
  plan.child.aslr = options.keep_aslr || !CanSwitchAslrOff();
  plan.words = WordsFor(jdk, jvm_flags, provider.library);
  return plan;
}

RunIdentity IdentityOf(const FuzzOptions& options, const ProviderChoice& provider,
                       const FuzzPlan& plan, const Jdk& jdk) {
  RunIdentity identity = OwnIdentity();
  identity.jdk_path = jdk.home;
  identity.libjvm_build_id = jdk.build_id;
  identity.jvm_flags = Joined(plan.child.jvm_flags);
  identity.walker = WalkerNames(plan.walkers, ",");
  identity.provider =
      provider.library.empty() ? ProviderOf(plan.walkers.front(), provider) : provider.library;
  identity.engine = options.engine;
  identity.seed = options.seed;
  identity.workers = plan.workers;
  if (const auto shard = ParseShard(options.shard); shard.ok())
    identity.shard = shard.value().Text();
  identity.aslr = plan.child.aslr;
  return identity;
}

// Runs the campaign into its run folder, prints the first screen and returns the verdict's exit
// code. `jvm_flags`: further flags of the JVM.
Result<ExitCode> RunFuzz(const FuzzOptions& options, const std::vector<std::string>& jvm_flags) {
  ASSIGN_OR_RETURN(const Jdk jdk, OpenOneJdk(options.jdks, "fuzz"));
  std::vector<std::string> walkers = options.walkers;
  ASSIGN_OR_RETURN(const std::string library, TakePlugin(walkers, options.provider));
  ASSIGN_OR_RETURN(const ProviderChoice provider, ProviderNamed(library));
  ASSIGN_OR_RETURN(FuzzPlan plan, MakePlan(options, walkers, provider, jdk, jvm_flags));
  RETURN_IF_ERROR(BaseFlags(jdk.feature));
  ASSIGN_OR_RETURN(const Judging judging, ReadJudging(options.end.judging));
  const std::string walker = WalkerNames(plan.walkers, "+");
  const std::string dir = options.out.empty()
                              ? "out/" + Now("%Y%m%d-%H%M%S") + "-" + walker + "-jdk" +
                                    std::to_string(jdk.feature) + "-" + std::to_string(getpid())
                              : options.out;

  Status status = Ok();
  {
    ScratchFolder scratch;
    RETURN_IF_ERROR(scratch.made());
    ASSIGN_OR_RETURN(RunWriter db,
                     RunWriter::Create(dir, IdentityOf(options, provider, plan, jdk)));
    plan.child.scratch = scratch.path();
    if (options.jdks.empty() && std::getenv("WALKHAMMER_JDK") == nullptr)
      Print(stderr,
            "walkhammer: no --jdk was given, so this is the newest known JDK: see show jdks\n");
    Print(stderr, "walkhammer: {} on {} into {}/ (seed {})\n", walker, plan.words.jdk, dir,
          options.seed);
    ProgressLine line;
    FuzzRun run(plan, db);
    run.sink().on_bucket = [&](const BucketRow& bucket) { line.Announce(bucket); };
    run.on_progress = [&](const FuzzProgress& progress) { line.Show(progress); };
    status = run.Run(Interrupted());
    line.Clear();
  }
  RunEndOptions end = options.end;
  end.replay_options = plan.words.options;
  return ReportRun(dir, status, judging, end);
}

}  // namespace

void AddFuzz(CLI::App& app, Invocation& chosen) {
  Verb verb(app, "fuzz", "Walk parked Java threads with edited registers, anchors and stacks");
  auto o = std::make_shared<FuzzOptions>();
  verb.Walkers(o->walkers);
  verb.Provider(o->provider);
  verb.Text("--engine", o->engine,
            "What makes the requests (walkhammer show engines) (default: random)", "NAME");
  verb.Count(
      "--workers", o->workers,
      "Processes that share the walks (default: one for each core, fewer below 65,536 walks each)",
      1, kMostWorkers);
  verb.List("--corpus", o->corpus,
            "Folder of inputs to start from; the first gets what this run adds; repeatable", "DIR");
  verb.OneJdk(o->jdks);
  verb.RunTime(o->time, "60s");
  verb.Count("--walks", o->walks, "Stop after this many walks of each walker, over all shards");
  verb.Seed(o->seed);
  verb.Text("--shard", o->shard, kShardHelp, "I/N");
  verb.OutFolder(o->out, "out/TIME-PID");
  verb.Scenes(o->scenes, "all");
  verb.WithoutOracles(o->without);
  verb.Text("--hang-limit", o->hang_limit, "CPU time that a walk may take (default: 100ms)",
            "TIME");
  verb.Flag("--no-confirm", o->no_confirm, "Do not replay what is found");
  verb.Flag("--no-minimize", o->no_minimize, "Do not minimise requests");
  verb.Text("--confirm-time", o->confirm_time,
            "How long to confirm and minimise, at most, after the walks (default: as long as the "
            "walks, at most 3m). Findings not replayed by then say so",
            "TIME");
  verb.Text("--minimize-time", o->minimize_time,
            "Most of --confirm-time that minimising may take (default: what is left)", "TIME");
  verb.Flag("--churn", o->churn,
            "During walks, Java threads allocate, and load, compile and unload classes");
  verb.Flag("--answers", o->answers,
            "Keep a digest of each answer, so that gate can compare request by request");
  verb.Flag("--no-coverage", o->no_coverage, "Do not measure the coverage of the walker's code");
  verb.CoverageGoal(o->end.coverage_goal);
  verb.Flag("--keep-aslr", o->keep_aslr,
            "Leave address randomisation on while fuzzing (replays always do)");
  AddJudging(verb, o->end.judging);
  verb.Json(o->end.json);
  verb.Runs(chosen, o, RunFuzz);
}

}  // namespace walkhammer
