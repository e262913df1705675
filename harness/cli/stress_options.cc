// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/stress_options.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <thread>

#include "harness/base/duration.h"
#include "harness/base/files.h"
#include "harness/base/mappings.h"
#include "harness/base/names.h"
#include "harness/base/shell.h"
#include "harness/base/text.h"
#include "harness/cli/identity.h"
#include "harness/cli/provider.h"
#include "harness/cli/run_end.h"
#include "harness/cli/shard.h"
#include "harness/request/lookup.h"
#include "harness/request/walker_table.h"
#include "harness/shared/launch.h"
#include "harness/supervise/matrix/aot_cache.h"
#include "harness/supervise/matrix/cell_harvest.h"
#include "harness/supervise/matrix/profiles.h"
#include "workloads/catalogue.h"

namespace walkhammer {
namespace {

template <typename T>
struct Choice {
  const char* word;
  T value;
};

template <typename T, size_t kSize>
Result<T> Choose(const Choice<T> (&choices)[kSize], const std::string& word, const char* option) {
  std::string all;
  for (const Choice<T>& choice : choices) {
    if (word == choice.word) return choice.value;
    all += std::string(all.empty() ? "" : ", ") + choice.word;
  }
  return BadInput(std::string(option) + " wants one of " + all + ", not \"" + word + "\"");
}

constexpr Choice<SamplerKind> kSamplers[] = {{"auto", SamplerKind::kAuto},
                                             {"perf", SamplerKind::kPerf},
                                             {"timer", SamplerKind::kTimer},
                                             {"thread", SamplerKind::kThread}};
constexpr Choice<SampleClock> kClocks[] = {{"cpu", SampleClock::kCpu},
                                           {"wall", SampleClock::kWall}};
constexpr Choice<WalkMode> kModes[] = {{"handler", WalkMode::kHandler},
                                       {"parked", WalkMode::kParked},
                                       {"running", WalkMode::kRunning},
                                       {"nested", WalkMode::kNested}};
constexpr Choice<uint8_t> kSteppers[] = {{"trap-flag", 1}, {"ptrace", 2}};

Result<uint32_t> Milliseconds(const std::string& text, const char* option) {
  ASSIGN_OR_RETURN(auto time, ParseDuration(text, option));
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  if (ms < 1 || ms > 600000)
    return BadInput(std::string(option) + " wants 1ms to 10m, not \"" + text + "\"");
  return static_cast<uint32_t>(ms);
}

// The text after "agent:" in a walker's name, else empty.
std::string LaneArgument(const std::string& walker) {
  return walker.starts_with("agent:") ? walker.substr(6) : "";
}

// What holds for each walker whose stacks are read back once the program has ended.
Status CheckAlone(const std::string& walker, size_t walkers, const StressOptions& options) {
  if (walkers > 1) return BadInput(walker + " walks alone: give no other --walker");
  if (options.step || options.pid != 0)
    return BadInput(walker + " is for stress with --workload or --java alone");
  if (options.no_walk) return BadInput(walker + " walks in its own way: do not give --no-walk");
  return Ok();
}

Status CheckLane(const StressOptions& options, const Lane& lane) {
  const std::string& walker = options.walkers[0];
  RETURN_IF_ERROR(CheckAlone(walker, options.walkers.size(), options));
  if (options.mode != "handler" || options.uncontained)
    return BadInput(walker + " walks in its own way: give neither --mode nor --uncontained");
  if (!options.provider.empty())
    return BadInput(walker + " is its own provider: give no --provider");
  return lane.check == nullptr ? Ok() : lane.check(LaneArgument(walker));
}

Status SetWalkers(const StressOptions& options, const Lane& lane, StressJob& job) {
  if (!lane.own_agent) return CheckLane(options, lane);
  ASSIGN_OR_RETURN(auto provider, ProviderNamed(options.provider));
  const std::string& library = provider.library;
  if (library.size() >= sizeof job.provider)
    return BadInput("the path of the provider is too long for walkhammer");
  std::memcpy(job.provider, library.data(), library.size());
  ASSIGN_OR_RETURN(auto walkers, WalkersNamed(options.walkers, provider));
  RETURN_IF_ERROR(CheckMode(walkers, ModeName(job.mode)));
  for (const int walker : walkers) {
    const WalkerInfo& info = AllWalkers()[static_cast<size_t>(walker)];
    if (info.answers_later) RETURN_IF_ERROR(CheckAlone(info.name, walkers.size(), options));
    job.walkers[job.walker_count++] = static_cast<uint8_t>(walker);
  }
  return Ok();
}

Result<StressJob> MakeJob(const StressOptions& options, const Lane& lane) {
  StressJob job{};
  ASSIGN_OR_RETURN(auto sampler, Choose(kSamplers, options.sampler, "--sampler"));
  ASSIGN_OR_RETURN(auto clock, Choose(kClocks, options.clock, "--clock"));
  ASSIGN_OR_RETURN(auto mode, Choose(kModes, options.mode, "--mode"));
  ASSIGN_OR_RETURN(auto stepper, Choose(kSteppers, options.by, "--by"));
  ASSIGN_OR_RETURN(auto hang, Milliseconds(options.hang_limit, "--hang-limit"));
  ASSIGN_OR_RETURN(auto park, Milliseconds(options.park_limit, "--park-limit"));
  RETURN_IF_ERROR(ParseInterval(options.interval, job.interval_min_ns, job.interval_max_ns));
  if (options.depth < 1 || options.depth > 16384)
    return BadInput("--depth wants 1 to 16384 frames");
  if (options.window < 1) return BadInput("--window wants at least one instruction");
  if (options.thread.size() >= sizeof job.step_thread)
    return BadInput("--thread wants at most 63 bytes of a thread's name");
  if (options.method.size() >= sizeof job.step_method)
    return BadInput("--method wants at most 159 bytes");
  job.sampler = sampler;
  job.clock = clock;
  job.mode = mode;
  job.hang_limit_ms = hang;
  job.park_limit_ms = park;
  job.native_threads = options.native ? 1 : 0;
  job.no_walk = options.no_walk ? 1 : 0;
  job.uncontained = options.uncontained ? 1 : 0;
  job.rehearsal = options.scenes.empty() ? 0 : 1;
  job.step = options.step ? stepper : 0;
  job.truth = options.no_truth ? 0 : 1;
  job.depth = static_cast<uint16_t>(options.depth);
  job.seed = options.seed;
  job.step_limit = options.steps;
  job.step_window = options.window;
  const std::string thread =
      options.thread.empty() && !options.scenes.empty() ? "scene-" : options.thread;
  std::memcpy(job.step_thread, thread.data(), thread.size());
  std::memcpy(job.step_method, options.method.data(), options.method.size());
  RETURN_IF_ERROR(SetWalkers(options, lane, job));
  return job;
}

// A JDK of the matrix. A named JDK that cannot be used gives its cells a status and does not end
// the run.
struct JdkChoice {
  Jdk jdk;
  CellStatus status = CellStatus::kRunning;
  std::string reason;
};

bool IsLibjvm(const Mapping& mapping) {  // perhaps followed by " (deleted)"
  return mapping.path.find("/libjvm.so") != std::string::npos;
}

// The libjvm.so of a running JVM, as --jdk would name it; empty if none can be opened here, as of a
// JVM in another container.
std::vector<std::string> LibjvmOf(uint64_t pid) {
  for (const Mapping& mapping : ReadMappings(std::to_string(pid)))
    if (IsLibjvm(mapping) && OpenJdk(mapping.path).ok()) return {mapping.path};
  return {};
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

Result<std::vector<JdkChoice>> ChooseJdks(const StressOptions& options, const Lane& lane) {
  std::vector<JdkChoice> choices;
  std::vector<std::string> paths = options.jdks;
  if (paths.empty() && options.pid != 0) paths = LibjvmOf(options.pid);
  const auto open = lane.own_agent ? OpenJdk : OpenAnyJvm;  // other lanes call no walker
  if (paths.empty()) {
    ASSIGN_OR_RETURN(auto jdk, DefaultJdk(open));
    return std::vector<JdkChoice>{{jdk, CellStatus::kRunning, ""}};
  }
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
    choices.push_back(choice);
  }
  return choices;
}

// What a cell runs.
struct Load {
  std::string name;
  // Prepares the program for a JDK. `folder`: empty, for this cell alone.
  std::function<Result<LoadCommand>(const Jdk& jdk, const std::string& folder)> prepare;
};

Result<std::vector<Load>> WorkloadLoads(const StressOptions& options) {
  WorkloadContext context;
  context.home = std::filesystem::path(BesideExecutable("workloads")).parent_path();
  context.seed = options.seed;
  context.seconds = 0;
  context.threads = static_cast<int>(options.threads);
  context.scale = static_cast<int>(options.scale);
  context.cache = options.cache;
  ASSIGN_OR_RETURN(context.archives, FindArchives(options.archives));
  ASSIGN_OR_RETURN(auto all, LoadCatalogues(BesideExecutable("workloads")));
  std::vector<std::string> patterns = options.workloads;
  if (patterns.empty())
    for (const auto& [suite, jar] : context.archives) patterns.push_back(suite + ":*");
  ASSIGN_OR_RETURN(auto selected, SelectWorkloads(all, patterns));
  for (const auto& [suite, jar] : context.archives)
    if (std::none_of(selected.begin(), selected.end(),
                     [&suite = suite](const Workload* each) { return each->suite == suite; }))
      return BadInput(
          fmt::format("--{} is for workloads such as \"{}:*\", and none is chosen", suite, suite));
  const auto lists = std::make_shared<ArchiveLists>(context.archives);
  std::vector<Load> loads;
  for (const Workload* workload : selected)
    loads.push_back({workload->FullName(),
                     [workload = *workload, context, lists](
                         const Jdk& jdk, const std::string& folder) -> Result<LoadCommand> {
                       RETURN_IF_ERROR(lists->Check(workload, jdk));
                       WorkloadContext here = context;
                       here.scratch = folder + "/work";
                       std::error_code error;
                       std::filesystem::create_directories(here.scratch, error);
                       ASSIGN_OR_RETURN(auto command, PrepareWorkload(workload, jdk.feature, here));
                       WorkloadCommand& c = command;
                       return LoadCommand{c.jvm_flags, c.arguments, c.directory, c.repeat};
                     }});
  return loads;
}

Load JavaLoad(const std::vector<std::string>& words) {
  return {"java:" + words.back(), [words](const Jdk&, const std::string&) -> Result<LoadCommand> {
            return LoadCommand{{}, words, std::filesystem::current_path(), true};
          }};
}

Result<std::vector<Load>> SceneLoads(const std::vector<std::string>& names) {
  std::vector<Load> loads;
  for (const std::string& name : names) {
    RETURN_IF_ERROR(SceneNamed(name));
    loads.push_back(
        {"scene:" + name, [name](const Jdk& jdk, const std::string&) -> Result<LoadCommand> {
           ASSIGN_OR_RETURN(auto flags, BaseFlags(jdk.feature));
           // After some time C2 would compile the code that C1 has compiled.
           if (name == "c1") flags.push_back("-XX:TieredStopAtLevel=3");
           return LoadCommand{flags,
                              {"-cp", BesideExecutable(kScenesJarName), "wh.Rehearsal", name},
                              std::filesystem::current_path(),
                              true};
         }});
  }
  return loads;
}

Result<std::vector<Load>> ChooseLoads(const StressOptions& options) {
  const bool archive = std::any_of(options.archives.begin(), options.archives.end(),
                                   [](const auto& given) { return !given.second.empty(); });
  const bool workloads = !options.workloads.empty() || archive;
  const int ways = static_cast<int>(workloads) + static_cast<int>(!options.program.empty()) +
                   static_cast<int>(!options.scenes.empty()) + static_cast<int>(options.pid != 0);
  if (ways != 1)
    return BadInput(std::string("say what to run, in one way: --workload NAME (walkhammer list "
                                "workloads), --java \"ARGUMENTS\"") +
                    (options.step ? ", --scene NAME" : "") + " or --pid PID");
  if (workloads) return WorkloadLoads(options);
  if (!options.scenes.empty()) return SceneLoads(options.scenes);
  if (!options.program.empty()) {
    ASSIGN_OR_RETURN(const auto words, QuotedWords(options.program));
    if (words.empty()) return BadInput("--java wants the arguments of a program");
    return std::vector<Load>{JavaLoad(words)};
  }
  if (kill(static_cast<pid_t>(options.pid), 0) != 0) {
    if (errno == EPERM)
      return Unable(
          fmt::format("process {} is another user's: run this as that user", options.pid));
    return BadInput(fmt::format("there is no process {} that --pid could attach to", options.pid));
  }
  if (const auto mappings = ReadMappings(std::to_string(options.pid));
      !mappings.empty() && std::none_of(mappings.begin(), mappings.end(), IsLibjvm))
    return BadInput(
        fmt::format("process {} runs no JVM, so --pid cannot attach to it", options.pid));
  return std::vector<Load>{
      {fmt::format("pid:{}", options.pid),
       [](const Jdk&, const std::string&) -> Result<LoadCommand> { return LoadCommand{}; }}};
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

// The cell of one program, JDK and profile, to follow the cells of `before`.
CellPlan CellOf(const std::vector<CellPlan>& before, const CellPlan& common, const Load& load,
                const JdkChoice& choice, const Profile& profile,
                const std::vector<std::string>& jvm_flags, const std::string& scratch) {
  CellPlan cell = common;
  CellRow& row = cell.row;
  row.position = static_cast<int64_t>(before.size());
  row.workload = load.name;
  row.jdk_path = choice.jdk.home;
  row.profile = profile.name;
  row.status = choice.status;
  row.reason = choice.reason;
  row.label = LabelOf(before, row, choice.jdk.feature);
  cell.java = choice.jdk.home + "/bin/java";
  if (cell.attach_pid != 0) cell.jcmd = JcmdFor(choice.jdk);
  cell.platform = choice.jdk.platform;
  cell.jvm_flags = profile.flags;
  cell.jvm_flags.insert(cell.jvm_flags.end(), jvm_flags.begin(), jvm_flags.end());
  cell.words = WordsFor(choice.jdk, cell.jvm_flags, FieldText(cell.job.provider));
  cell.scratch = fmt::format("{}/cell-{}", scratch, row.position);
  cell.prepare = [prepare = load.prepare, jdk = choice.jdk](const std::string& folder) {
    return prepare(jdk, folder);
  };
  if (profile.has_aot_cache) AddAotCache(cell);
  return cell;
}

}  // namespace

Status ParseInterval(const std::string& text, uint64_t& least, uint64_t& most) {
  least = most = 0;
  if (text == "back-to-back") return Ok();
  const size_t dots = text.find("..");
  ASSIGN_OR_RETURN(auto from, ParseDuration(text.substr(0, dots), "--interval"));
  ASSIGN_OR_RETURN(auto to, dots == std::string::npos
                                ? from
                                : ParseDuration(text.substr(dots + 2), "--interval"));
  least = static_cast<uint64_t>(from.count());
  most = static_cast<uint64_t>(to.count());
  if (least > most) return BadInput("--interval wants the shorter end first, not \"" + text + "\"");
  if (most > 10000000000) return BadInput("--interval wants at most 10s, not \"" + text + "\"");
  return Ok();
}

Result<StressPlan> MakeStressPlan(const StressOptions& options,
                                  const std::vector<std::string>& jvm_flags,
                                  const std::string& scratch) {
  const std::string first = options.walkers.empty() ? "agct" : options.walkers[0];
  CellPlan common;  // what all cells share
  common.lane = LaneOf(first);
  common.lane_argument = LaneArgument(first);
  common.attach_pid = static_cast<int>(options.pid);
  common.output_limit = options.output_limit_mib << 20;
  ASSIGN_OR_RETURN(common.job, MakeJob(options, *common.lane));
  if (common.lane->own_agent && AllWalkers()[common.job.walkers[0]].answers_later)
    common.lane = &kRequestLane;
  ASSIGN_OR_RETURN(common.time, ParseDuration(options.time, "--time"));
  ASSIGN_OR_RETURN(common.hung_after, ParseDuration(options.hung_after, "--hung-after"));
  ASSIGN_OR_RETURN(auto profiles, SelectProfiles(options.profiles));
  ASSIGN_OR_RETURN(auto jdks, ChooseJdks(options, *common.lane));
  for (const JdkChoice& choice : jdks)
    if (options.step && choice.jdk.platform.is_emulated)
      return Unable(choice.jdk.home +
                    " runs through an emulator, whose instructions are not the JVM's: step it on a "
                    "machine of its architecture");
  ASSIGN_OR_RETURN(auto loads, ChooseLoads(options));
  const auto* walkers = std::begin(common.job.walkers);
  common.row.walker =
      common.lane->own_agent
          ? WalkerNames(std::vector<int>(walkers, walkers + common.job.walker_count), ",")
          : options.walkers[0];
  if (common.lane->own_agent) {
    common.row.mode = options.no_walk ? kNoWalkMode
                      : options.step  ? "step"
                                      : ModeName(common.job.mode);
    common.row.clock = options.clock;
  }
  if (!options.step) {
    common.row.interval_min_ns = common.job.interval_min_ns;
    common.row.interval_max_ns = common.job.interval_max_ns;
  }

  StressPlan plan;
  plan.confirm_times = options.no_confirm ? 0 : 5;
  plan.scratch = scratch;
  plan.jobs = static_cast<int>(
      options.jobs != 0
          ? options.jobs
          : std::max(1U, std::thread::hardware_concurrency() /
                             static_cast<unsigned>(std::max<uint64_t>(1, options.threads))));
  for (const Load& load : loads)
    for (const JdkChoice& choice : jdks)
      for (const Profile* profile : profiles)
        plan.cells.push_back(
            CellOf(plan.cells, common, load, choice, *profile, jvm_flags, scratch));
  return plan;
}

void AddStressOptions(Verb& verb, StressOptions& o) {
  verb.List("--workload", o.workloads,
            "What to run (walkhammer list workloads), patterns too: 'torture:*'; repeatable");
  verb.Text(
      "--java", o.program,
      "Instead: arguments of a java command of your own, e.g. '-jar app.jar'; words with blanks "
      "in double quotes");
  verb.Count("--pid", o.pid, "Instead: attach to this running JVM");
  verb.Jdks(o.jdks);
  verb.Provider(o.provider);
  verb.List("--profile", o.profiles,
            "Sets of JVM flags, e.g. xint,c1,zgc (walkhammer list profiles); repeatable");
  verb.Text("--time", o.time, "How long each cell is sampled (default 60s)");
  verb.Count("--jobs", o.jobs, "Cells at the same time (default: as cores permit)");
  verb.Count("--threads", o.threads, "Busy threads of a workload (default 2)");
  verb.Count("--scale", o.scale, "Size of a workload's input (default 1)");
  verb.Count("--seed", o.seed, "Of intervals and of the workloads' input (default 1)");
  verb.Count("--depth", o.depth, "Most frames to ask for (default 512)");
  verb.Text("--hang-limit", o.hang_limit, "CPU time that a walk may take (default 1s)");
  verb.Text("--hung-after", o.hung_after,
            "A program that uses no CPU time for so long is hung (default 30s)");
  verb.Count("--output-limit", o.output_limit_mib, "MiB that a program may print (default 256)");
  verb.Text("--cache", o.cache, "Folder of downloaded suites");
  AddArchiveOptions(verb, o.archives);
  verb.Text("--shard", o.shard, kShardHelp, "I/N");
  verb.Text("--out", o.out, "Run folder; must not exist or be empty");
  verb.Flag("--no-confirm", o.no_confirm, "Do not replay what is found");
  verb.Flag("--no-walk", o.no_walk, "Only count signals: what they cost without a walker");
  verb.Json(o.json);
}

}  // namespace walkhammer
