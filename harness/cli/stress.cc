// SPDX-License-Identifier: Apache-2.0
// stress and step: walks of real programs, by samples or at every instruction.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "harness/base/numbers.h"
#include "harness/base/print.h"
#include "harness/cli/identity.h"
#include "harness/cli/options.h"
#include "harness/cli/run_end.h"
#include "harness/cli/shard.h"
#include "harness/cli/stress_options.h"
#include "harness/cli/stress_progress.h"
#include "harness/jvm/images/jdk.h"
#include "harness/process/interrupt.h"
#include "harness/process/scratch.h"
#include "harness/request/walker_table.h"

namespace walkhammer {
namespace {

// The build ids of these JDKs, in the same order; "none" for a build without an id.
std::vector<std::string> BuildIds(const std::vector<std::string>& homes) {
  std::vector<std::string> ids;
  for (const std::string& home : homes) {
    auto jdk = OpenAnyJvm(home);
    ids.push_back(jdk.ok() && !jdk.value().build_id.empty() ? jdk.value().build_id : "none");
  }
  return ids;
}

RunIdentity IdentityOf(const StressOptions& options, const StressPlan& plan,
                       const std::vector<std::string>& jvm_flags) {
  RunIdentity identity = OwnIdentity();
  std::vector<std::string> homes;
  for (const CellPlan& cell : plan.cells)
    if (std::find(homes.begin(), homes.end(), cell.row.jdk_path) == homes.end())
      homes.push_back(cell.row.jdk_path);
  identity.jdk_path = Joined(homes);
  identity.libjvm_build_id = Joined(BuildIds(homes));
  identity.jvm_flags = Joined(jvm_flags);
  identity.walker = plan.cells.front().row.walker;
  const StressJob& job = plan.cells.front().job;
  const WalkerInfo& first = AllWalkers()[job.walkers[0]];
  identity.provider = job.provider[0] != 0 ? FieldText(job.provider) : first.provider;
  identity.engine = options.step ? "step" : "stress";
  identity.seed = options.seed;
  identity.workers = plan.jobs;
  return identity;
}

// Leaves the plan only the cells of one shard, which keep their positions.
Status TakeShard(const Shard& shard, StressPlan& plan) {
  const size_t cells = plan.cells.size();
  if (shard.SizeOf(cells) == 0)
    return BadInput(
        fmt::format("--shard {} has no cell, as there are {} in all; make at most {} of it",
                    shard.Text(), cells, Counted(cells, "shard")));
  std::erase_if(plan.cells, [&](const CellPlan& cell) {
    return static_cast<uint64_t>(cell.row.position) % shard.count != shard.index;
  });
  return Ok();
}

int RunStress(const StressOptions& options, const std::vector<std::string>& jvm_flags) {
  ScratchFolder scratch;
  if (!scratch.made().ok()) return PrintFailure(scratch.made().failure());
  auto plan = MakeStressPlan(options, jvm_flags, scratch.path());
  if (!plan.ok()) return PrintFailure(plan.failure());
  const auto shard = ParseShard(options.shard);
  if (!shard.ok()) return PrintFailure(shard.failure());
  // The identity is that of the whole matrix, so that shards can be merged.
  RunIdentity identity = IdentityOf(options, plan.value(), jvm_flags);
  identity.shard = shard.value().Text();
  if (const Status taken = TakeShard(shard.value(), plan.value()); !taken.ok())
    return PrintFailure(taken.failure());
  const std::string dir = options.out.empty()
                              ? fmt::format("out/{}-{}-{}", Now("%Y%m%d-%H%M%S"),
                                            options.step ? "step" : "stress", getpid())
                              : options.out;
  Status status = Ok();
  {
    auto db = RunDb::Create(dir, identity);
    if (!db.ok()) return PrintFailure(db.failure());
    Print(stderr, "walkhammer: {} cells, {} at a time, into {}/ (seed {})\n",
          plan.value().cells.size(), plan.value().jobs, dir, options.seed);
    StressProgressLine line;
    StressRun run(std::move(plan.value()), db.value());
    run.on_bucket = [&](const BucketRow& bucket) { line.Announce(bucket); };
    run.on_cell = [&](const CellRow& cell) { line.CellEnded(cell); };
    run.on_progress = [&](const StressProgress& progress) { line.Show(progress); };
    status = run.Run(Interrupted());
    line.Clear();
  }
  return ReportRun(dir, status, options.json);
}

void Add(Verb& verb, Invocation& chosen, const std::shared_ptr<StressOptions>& o) {
  AddStressOptions(verb, *o);
  verb.Runs(chosen,
            [o](const std::vector<std::string>& jvm_flags) { return RunStress(*o, jvm_flags); });
}

}  // namespace

void AddStress(CLI::App& app, Invocation& chosen) {
  Verb verb(app, "stress", "Sampled walks of real programs");
  auto o = std::make_shared<StressOptions>();
  verb.List("--walker", o->walkers,
            "What to test: agct, or several for the same sample (agct,agct); jfr; "
            "agent:PATH=OPTIONS for another profiler");
  verb.Text("--interval", o->interval,
            "Between samples: 100us (default), 10us..100us at random, back-to-back");
  verb.Text("--sampler", o->sampler, "auto (default), perf, timer or thread");
  verb.Text("--clock", o->clock, "cpu (default) or wall");
  verb.Text("--mode", o->mode,
            "Where a sample is walked: handler (default); parked: by another thread while "
            "this one waits; running: while it goes on; nested: twice, one inside the other");
  verb.Text("--park-limit", o->park_limit,
            "How long a parked thread waits at most (default 100ms)");
  verb.Flag("--native", o->native, "Sample also threads that run no Java");
  verb.Flag("--no-truth", o->no_truth, "Do not ask JVMTI about parked threads");
  verb.Flag("--uncontained", o->uncontained,
            "A crash ends the program, as under a profiler, and leaves its hs_err log");
  Add(verb, chosen, o);
}

void AddStep(CLI::App& app, Invocation& chosen) {
  Verb verb(app, "step", "Walks at every instruction that a Java thread executes");
  auto o = std::make_shared<StressOptions>();
  o->step = true;
  o->time = "20s";
  verb.List("--walker", o->walkers, "What to test (walkhammer list walkers)");
  verb.Text("--thread", o->thread, "Part of the thread's name (default: the busiest)");
  verb.List("--scene", o->scenes,
            "Instead of a program: this scene, played again and again; repeatable");
  verb.Text("--method", o->method, "Only while this is on the stack: pkg.Class.method");
  verb.Count("--steps", o->steps, "Instructions in all (default: no limit)");
  verb.Count("--window", o->window, "Instructions in a row (default 20000)");
  verb.Text("--by", o->by, "trap-flag (default) or ptrace");
  Add(verb, chosen, o);
}

}  // namespace walkhammer
