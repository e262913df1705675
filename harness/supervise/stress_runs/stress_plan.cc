// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/stress_runs/stress_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/result.h"
#include "harness/jvm/images/platform.h"
#include "harness/process/program.h"
#include "harness/request/walker_table.h"
#include "harness/supervise/stress_runs/cell_results.h"

namespace walkhammer {
namespace {

constexpr int kFirstWithCache = 24;
constexpr auto kWithin = std::chrono::seconds(60);

Status RunJava(const std::string& java, const Platform& platform, std::vector<std::string> flags,
               const std::string& folder) {
  flags.insert(flags.begin(), java);
  flags.emplace_back("-version");
  ProgramSetup setup;
  setup.directory = folder;
  setup.arguments = platform.Command(flags, setup.environment);
  ASSIGN_OR_RETURN(auto program, Program::Start(setup));
  if (!program->EndsWithin(kWithin)) return Unable("this JVM made no AOT cache within 60 s");
  if (program->wait_status() == 0) return Ok();
  return Unable("this JVM made no AOT cache (" + program->EndText() + "): " + program->output());
}

// Makes the ahead-of-time cache of JEP 483, for the profile "aot-cache": trains on `java -version`,
// which takes a few seconds, writes the cache into `folder` and returns the JVM flags by which a
// program uses the cache. With them, a JVM that cannot use the cache does not start. `flags`: those
// of the JVM that will use the cache. kUnable, with the JVM's own words, if it makes no cache.
Result<std::vector<std::string>> MakeAotCache(const std::string& java, const Platform& platform,
                                              const std::vector<std::string>& flags,
                                              const std::string& folder) {
  if (platform.feature != 0 && platform.feature < kFirstWithCache)
    return Unable("JDK " + std::to_string(platform.feature) +
                  " has no AOT cache: JDK 24 and later have it");
  const std::string training = "-XX:AOTConfiguration=" + folder + "/aot.conf";
  const std::string cache = "-XX:AOTCache=" + folder + "/aot.cache";
  for (const auto& mode : {std::vector<std::string>{"-XX:AOTMode=record", training},
                           std::vector<std::string>{"-XX:AOTMode=create", training, cache}}) {
    std::vector<std::string> all = flags;
    all.insert(all.end(), mode.begin(), mode.end());
    RETURN_IF_ERROR(RunJava(java, platform, all, folder));
  }
  return std::vector<std::string>{"-XX:AOTMode=on", cache};
}

// A JDK of the matrix. A named JDK that cannot be used gives its cells a status and does not end
// the run.
struct JdkChoice {
  Jdk jdk;
  CellStatus status = CellStatus::kRunning;
  std::string reason;
};

// Settings that a walker whose stacks are read back after the program's end does not permit.
Status CheckSettings(const StressSettings& settings) {
  const StressJob& job = settings.job;
  const std::string& walker = settings.walker;
  const bool own = settings.backend->own_agent;
  if (own && settings.backend != &kRequestBackend) return Ok();
  if (job.walker_count > 1) return BadInput(walker + " walks alone: give no other --walker");
  if (job.step != 0 || settings.loads.pid != 0)
    return BadInput(walker + " is for stress with --workload or --java alone");
  if (job.no_walk) return BadInput(walker + " walks in its own way: do not give --no-walk");
  if (own) return Ok();
  if (job.mode != WalkMode::kHandler || job.uncontained)
    return BadInput(walker + " walks in its own way: give neither --mode nor --no-guard");
  return settings.backend->check == nullptr ? Ok()
                                            : settings.backend->check(settings.backend_argument);
}

// Any jcmd attaches to a JVM of any version: that of the JDK, or, since JREs have none, another.
std::string JcmdFor(const Jdk& jdk) {
  std::string own = jdk.home + "/bin/jcmd";
  if (jdk.platform.is_own() && IsProgram(own)) return own;
  std::string other = FindProgram("jcmd");
  if (const auto newest = DefaultJdk(); other.empty() && newest.ok())
    other = newest.value().home + "/bin/jcmd";
  return IsProgram(other) ? other : own;
}

Result<std::vector<JdkChoice>> ChooseJdks(const StressSettings& settings) {
  std::vector<std::string> paths = settings.jdks;
  // The libjvm.so of a running JVM is not found if the JVM runs in another container.
  if (paths.empty() && settings.loads.pid != 0)
    for (const Mapping& mapping : ReadMappings(std::to_string(settings.loads.pid)))
      if (paths.empty() && IsLibjvm(mapping) && OpenJdk(mapping.path).ok())
        paths.push_back(mapping.path);
  const auto open = settings.backend->own_agent ? OpenJdk : OpenAnyJvm;  // others call no walker
  if (paths.empty()) {
    ASSIGN_OR_RETURN(const auto jdk, DefaultJdk(open));
    paths.push_back(jdk.home);
  }
  std::vector<JdkChoice> choices;
  for (const std::string& path : paths) {
    auto jdk = open(path);
    JdkChoice choice;
    if (jdk.ok()) {
      choice.jdk = jdk.value();
    } else if (jdk.failure().code == ExitCode::kUnable) {
      choice.jdk.home = path;
      choice.status = CellStatus::kNotHotspot;
      choice.reason = jdk.failure().message;
    } else {
      return jdk.failure();
    }
    if (settings.job.step != 0 && choice.jdk.platform.is_emulated)
      return Unable(choice.jdk.home +
                    " runs through an emulator, whose instructions are not the JVM's: step it on a "
                    "machine of its architecture");
    choices.push_back(choice);
  }
  return choices;
}

// A short label that no other cell has: a second JDK of the same feature gets a number.
std::string LabelOf(const std::vector<CellPlan>& cells, const CellRow& row, int feature) {
  const std::string stem = fmt::format("{} jdk{} {}", row.workload, feature, row.profile);
  std::string label = stem;
  auto taken = [&] {
    return std::any_of(cells.begin(), cells.end(),
                       [&](const CellPlan& cell) { return cell.row.label == label; });
  };
  for (int number = 2; taken(); number++) label = fmt::format("{} #{}", stem, number);
  return label;
}

// Makes `cell.prepare` build the AOT cache, too.
void AddAotCache(CellPlan& cell) {
  cell.prepare = [prepare = cell.prepare, java = cell.java, platform = cell.platform,
                  flags = cell.jvm_flags](const std::string& folder) -> Result<LoadCommand> {
    auto load = prepare(folder);
    if (!load.ok()) return load;
    auto& all = load.value().jvm_flags;
    std::vector<std::string> same = all;  // the cache of a heap of another size does not fit
    same.insert(same.end(), flags.begin(), flags.end());
    ASSIGN_OR_RETURN(auto cached, MakeAotCache(java, platform, same, folder));
    all.insert(all.end(), cached.begin(), cached.end());
    return load;
  };
}

// What all cells share.
CellPlan CommonCell(const StressSettings& settings) {
  CellPlan cell;
  cell.job = settings.job;
  cell.backend = settings.backend;
  cell.backend_argument = settings.backend_argument;
  cell.attach_pid = static_cast<int>(settings.loads.pid);
  cell.output_limit = settings.output_limit_mib << 20;
  cell.time = settings.time;
  cell.hung_after = settings.hung_after;
  cell.row.walker = settings.walker;
  if (cell.backend->own_agent) {
    cell.row.mode = cell.job.no_walk     ? kNoWalkMode
                    : cell.job.step != 0 ? "step"
                                         : ModeName(cell.job.mode);
    cell.row.clock = cell.job.clock == SampleClock::kWall ? "wall" : "cpu";
  }
  if (cell.job.step == 0) {
    cell.row.interval_min_ns = cell.job.interval_min_ns;
    cell.row.interval_max_ns = cell.job.interval_max_ns;
  }
  return cell;
}

// 1 + index of the walker that the cell's answers are compared with; 0: none. By default that is
// the reference in the torture programs, whose whole purpose is to judge walkers, and for the
// reference's own walkers AsyncGetCallTrace. Where threads run on, two walkers are not shown the
// same.
uint8_t WitnessFor(const StressSettings& settings, const std::string& load) {
  const StressJob& job = settings.job;
  if (settings.backend != &kOwnBackend || job.step != 0 || job.no_walk ||
      job.mode == WalkMode::kRunning)
    return 0;
  if (settings.witness) return static_cast<uint8_t>(*settings.witness + 1);
  if (!load.starts_with("torture:")) return 0;
  const auto is_reference = [](uint8_t walker) {
    return std::string_view(AllWalkers()[walker].provider) == "ref";
  };
  const bool own = std::all_of(job.walkers, job.walkers + job.walker_count, is_reference);
  return static_cast<uint8_t>(1 + FindWalker(own ? "agct" : "asgst").value());
}

// Makes the cell that `cell` has in common with all others one of this load, JDK and profile.
void SetCell(const Load& load, const JdkChoice& choice, const Profile& profile, CellPlan& cell) {
  CellRow& row = cell.row;
  row.workload = load.name;
  row.jdk_path = choice.jdk.home;
  row.profile = profile.name;
  row.status = choice.status;
  row.reason = choice.reason;
  cell.java = choice.jdk.home + "/bin/java";
  if (cell.attach_pid != 0) cell.jcmd = JcmdFor(choice.jdk);
  cell.platform = choice.jdk.platform;
  cell.jvm_flags.insert(cell.jvm_flags.begin(), profile.flags.begin(), profile.flags.end());
  cell.words = WordsFor(choice.jdk, cell.jvm_flags, FieldText(cell.job.provider));
  cell.for_jdk = load.is_for == nullptr || load.is_for(choice.jdk);
  cell.prepare = [prepare = load.prepare, jdk = choice.jdk](const std::string& folder) {
    return prepare(jdk, folder);
  };
  if (profile.has_aot_cache) AddAotCache(cell);
}

}  // namespace

StressSettings::StressSettings() {
  job.walker_count = 1;
  job.truth = true;
  job.depth = 512;
  job.hang_limit_ms = 1000;
  job.park_limit_ms = 100;
  job.seed = 1;
  job.interval_min_ns = job.interval_max_ns = 100'000;
  job.step_window = 20'000;
}

Result<StressPlan> MakeStressPlan(StressSettings settings, const std::string& scratch) {
  StressJob& job = settings.job;
  if (settings.backend->own_agent && AllWalkers()[job.walkers[0]].answers_later)
    settings.backend = &kRequestBackend;
  RETURN_IF_ERROR(CheckSettings(settings));
  job.rehearsal = settings.loads.scenes.empty() ? 0 : 1;
  if (job.rehearsal != 0 && job.step_thread[0] == 0) std::strcpy(job.step_thread, "scene-");
  ASSIGN_OR_RETURN(auto jdks, ChooseJdks(settings));
  ASSIGN_OR_RETURN(auto loads, ChooseLoads(settings.loads, job.seed, job.step != 0));
  StressPlan plan;
  plan.confirm_times = settings.confirm_times;
  plan.scratch = scratch;
  plan.jobs = settings.jobs;
  if (plan.jobs == 0)
    plan.jobs = std::max(1, static_cast<int>(std::thread::hardware_concurrency()) /
                                std::max(1, settings.loads.threads));
  CellPlan common = CommonCell(settings);
  common.jvm_flags = std::move(settings.jvm_flags);
  for (const Load& load : loads)
    for (const JdkChoice& choice : jdks)
      for (const Profile* profile : settings.profiles) {
        CellPlan cell = common;
        SetCell(load, choice, *profile, cell);
        cell.job.witness = WitnessFor(settings, load.name);
        cell.row.label = LabelOf(plan.cells, cell.row, choice.jdk.feature);
        cell.row.position = static_cast<int64_t>(plan.cells.size());
        cell.scratch = fmt::format("{}/cell-{}", scratch, cell.row.position);
        plan.cells.push_back(std::move(cell));
      }
  return plan;
}

}  // namespace walkhammer
