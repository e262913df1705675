// SPDX-License-Identifier: Apache-2.0
// stress and step: walks of real programs, by samples or at every instruction.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "harness/base/duration.h"
#include "harness/base/numbers.h"
#include "harness/base/print.h"
#include "harness/cli/identity.h"
#include "harness/cli/options.h"
#include "harness/cli/progress_line.h"
#include "harness/cli/run_end.h"
#include "harness/cli/shard.h"
#include "harness/cli/stress_options.h"
#include "harness/jvm/images/jdk.h"
#include "harness/process/interrupt.h"
#include "harness/process/scratch.h"
#include "harness/request/walker_table.h"
#include "harness/supervise/stress_runs/stress_run.h"

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

RunIdentity IdentityOf(const StressPlan& plan, const std::vector<std::string>& jvm_flags) {
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
  identity.engine = job.step != 0 ? "step" : "stress";
  identity.seed = job.seed;
  identity.workers = plan.jobs;
  return identity;
}

// Leaves the plan only the cells of one shard, which keep their positions.
Status TakeShard(const Shard& shard, StressPlan& plan) {
  const size_t cells = plan.cells.size();
  if (shard.SizeOf(cells) == 0)
    return BadInput(
        fmt::format("--shard {} has no cell, as there are {} in all; split them into at most {}",
                    shard.Text(), cells, Counted(cells, "shard")));
  std::erase_if(plan.cells, [&](const CellPlan& cell) {
    return static_cast<uint64_t>(cell.row.position) % shard.count != shard.index;
  });
  return Ok();
}

Result<ExitCode> RunStress(const StressOptions& options,
                           const std::vector<std::string>& jvm_flags) {
  ScratchFolder scratch;
  RETURN_IF_ERROR(scratch.made());
  ASSIGN_OR_RETURN(StressSettings settings, SettingsOf(options, jvm_flags));
  ASSIGN_OR_RETURN(StressPlan plan, MakeStressPlan(std::move(settings), scratch.path()));
  ASSIGN_OR_RETURN(const Shard shard, ParseShard(options.shard));
  ASSIGN_OR_RETURN(const Judging judging, ReadJudging(options.end.judging));
  // The identity is that of the whole matrix, so that shards can be merged.
  RunIdentity identity = IdentityOf(plan, jvm_flags);
  identity.shard = shard.Text();
  RETURN_IF_ERROR(TakeShard(shard, plan));
  const std::string dir = options.out.empty() ? fmt::format("out/{}-{}-{}", Now("%Y%m%d-%H%M%S"),
                                                            identity.engine, getpid())
                                              : options.out;
  Status status = Ok();
  {
    ASSIGN_OR_RETURN(RunWriter db, RunWriter::Create(dir, identity));
    Print(stderr, "walkhammer: {} cells, {} at a time, into {}/ (seed {})\n", plan.cells.size(),
          plan.jobs, dir, identity.seed);
    StressProgressLine line;
    StressRun run(std::move(plan), db);
    run.on_bucket = [&](const BucketRow& bucket) { line.Announce(bucket); };
    run.on_cell = [&](const CellRow& cell) { line.CellEnded(cell); };
    run.on_progress = [&](const StressProgress& progress) { line.Show(progress); };
    status = run.Run(Interrupted());
    line.Clear();
  }
  return ReportRun(dir, status, judging, options.end);
}

}  // namespace

void AddStress(CLI::App& app, Invocation& chosen) {
  Verb verb(app, "stress", "Sample real programs, and judge each walk");
  auto options = std::make_shared<StressOptions>();
  AddSamplingOptions(verb, *options);
  verb.Runs(chosen, options, RunStress);
}

void AddStep(CLI::App& app, Invocation& chosen) {
  Verb verb(app, "step", "Walk at every instruction that a Java thread executes");
  auto options = std::make_shared<StressOptions>();
  AddSteppingOptions(verb, *options);
  verb.Runs(chosen, options, RunStress);
}

}  // namespace walkhammer
