// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/campaign/engine.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "harness/base/clock.h"
#include "harness/base/files.h"
#include "harness/base/names.h"
#include "harness/base/shell.h"
#include "harness/request/binary_form.h"
#include "harness/request/scene_table.h"

namespace walkhammer {
namespace {

namespace fs = std::filesystem;

constexpr char kLibFuzzerName[] = "walk_fuzzer";
constexpr char kAflTargetName[] = "walk_afl";
constexpr char kAflMutatorName[] = "walkhammer_mutator.so";
constexpr char kAflName[] = "afl";        // in the run's folder
constexpr char kSeedsName[] = "seeds";    // beside the targets, and in the run's folder
constexpr char kCorpusName[] = "corpus";  // in the run's folder

std::string Absolute(const std::string& path) {
  return fs::absolute(path).lexically_normal().string();
}

Status MakeFolder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  return error ? BadInput("cannot make " + path.string() + ": " + error.message()) : Ok();
}

// Writes two seeds for each scene, unedited: one in state in_Java, one in in_native. Guidance
// starts from them.
Status WriteGenuineSeeds(const fs::path& folder) {
  auto symbols = NewSymbolTable();
  for (size_t i = 0; i < AllScenes().size(); i++) {
    WalkRequest request;
    request.scene = static_cast<uint8_t>(i);
    for (bool in_java : {true, false}) {
      request.state = in_java ? kStateInJava : kStateInNative;
      request.anchor = in_java ? AnchorMode::kCleared : AnchorMode::kTrue;
      const std::string name =
          fmt::format("genuine-{}-{}", AllScenes()[i].name, in_java ? "in-java" : "in-native");
      std::ofstream file(folder / name, std::ios::binary);
      file << EncodeBinary(request, *symbols);
      if (!file.flush()) return BadInput("cannot write " + (folder / name).string());
    }
  }
  return Ok();
}

// Copies the files below `from` to distinct names, since every crash folder holds an input.walk.
// Lists all files before it copies the first, since `to` may be inside `from`.
Status CopySeeds(const fs::path& from, const fs::path& to, const std::string& prefix) {
  std::error_code error;
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(from, error))
    if (entry.is_regular_file() && entry.path().extension() != ".md") files.push_back(entry.path());
  for (size_t i = 0; i < files.size() && !error; i++) {
    const std::string folder = files[i].parent_path() == from ? "" : fmt::format("{}+", i);
    fs::copy_file(files[i], to / (prefix + folder + files[i].filename().string()),
                  fs::copy_options::overwrite_existing, error);
  }
  return error ? BadInput("cannot read the corpus " + from.string() + ": " + error.message())
               : Ok();
}

Status PrepareNothing(const EnginePlan&) { return Ok(); }
void SetUpNothing(const EnginePlan&, int, ChildSetup&) {}

Status PrepareStepping(const EnginePlan& plan) {
  if (plan.platform.arch == "x86_64") return Ok();
  return Unable(
      fmt::format("the engine faults steps through walks by the trap flag of x86_64, and "
                  "this JDK is for {}: name another by --jdk",
                  plan.platform.arch));
}

Status PrepareSeeds(const EnginePlan& plan) {
  const fs::path seeds = fs::path(plan.run_dir) / kSeedsName;
  Status status = MakeFolder(seeds);
  if (status.ok()) status = WriteGenuineSeeds(seeds);
  const fs::path own = plan.platform.File(kSeedsName);
  if (status.ok() && fs::is_directory(own)) status = CopySeeds(own, seeds, "");
  for (size_t i = 0; i < plan.corpus.size() && status.ok(); i++) {
    status = MakeFolder(plan.corpus[i]);
    if (status.ok()) status = CopySeeds(plan.corpus[i], seeds, fmt::format("{}-", i));
  }
  return status;
}

Status PrepareLibFuzzer(const EnginePlan& plan) {
  if (!fs::exists(plan.platform.File(kLibFuzzerName)))
    return Unable(std::string(kLibFuzzerName) +
                  " is missing beside the walkhammer command: build it with libclang-rt-14-dev "
                  "installed");
  RETURN_IF_ERROR(PrepareSeeds(plan));
  return MakeFolder(fs::path(plan.run_dir) / kCorpusName);
}

// The command of libFuzzer, without its handlers for SIGABRT, SIGINT and SIGTERM: the journal and
// the wait status describe deaths, and the parent ends the process. Artifacts go to the scratch
// folder, since the run records all that they say.
std::vector<std::string> LibFuzzer(const ChildSetup& setup) {
  return setup.platform.Command({setup.platform.File(kLibFuzzerName), "-verbosity=0",
                                 "-handle_abrt=0", "-handle_int=0", "-handle_term=0",
                                 "-artifact_prefix=" + setup.scratch + "/"});
}

void SetUpLibFuzzer(const EnginePlan& plan, int index, ChildSetup& setup) {
  const std::string run = Absolute(plan.run_dir);
  setup.command = LibFuzzer(setup);
  setup.command.insert(setup.command.end(),
                       {fmt::format("-seed={}", plan.seed + static_cast<uint64_t>(index)),
                        run + "/" + kCorpusName, run + "/" + kSeedsName});
}

Status PrepareAfl(const EnginePlan& plan) {
  if (FindProgram("afl-fuzz").empty())
    return Unable("afl-fuzz is not in PATH: install AFL++ (Debian: apt install afl++)");
  for (const std::string& file :
       {plan.platform.File(kAflTargetName), BesideExecutable(kAflMutatorName)})
    if (!fs::exists(file)) return ToolFailed(file + " is missing: build it");
  RETURN_IF_ERROR(PrepareSeeds(plan));
  return MakeFolder(fs::path(plan.run_dir) / kAflName);
}

std::string AflWorker(int index) { return fmt::format("w{}", index); }

void SetUpAfl(const EnginePlan& plan, int index, ChildSetup& setup) {
  const std::string run = Absolute(plan.run_dir);
  setup.command = {"afl-fuzz", "-i", run + "/" + kSeedsName, "-o", run + "/" + kAflName,
                   index == 0 ? "-M" : "-S", AflWorker(index), "-s",
                   fmt::format("{}", plan.seed + static_cast<uint64_t>(index)),
                   // Timeout of an input in ms, booting excluded. The guard ends walks long before.
                   "-t", "10000", "-m", "none",
                   // Each block is reported once, for the first input that reaches it, so schedules
                   // that count how often a path was taken have no data.
                   "-p", "explore", "--"};
  const std::vector<std::string> target =
      plan.platform.Command({plan.platform.File(kAflTargetName)});
  setup.command.insert(setup.command.end(), target.begin(), target.end());
  // afl-fuzz would look for its instrumentation in the emulator.
  if (!plan.platform.is_own()) setup.environment.push_back("AFL_SKIP_BIN_CHECK=1");
  setup.environment.insert(
      setup.environment.end(),
      {"AFL_CUSTOM_MUTATOR_LIBRARY=" + BesideExecutable(kAflMutatorName),
       // Bytes flipped at random seldom give another request.
       "AFL_CUSTOM_MUTATOR_ONLY=1", "AFL_DISABLE_TRIM=1",
       // Some machines have fewer CPUs than workers, or have bound all of them already.
       "AFL_TRY_AFFINITY=1",
       // The output goes to a file. So does the target's: it may say why a JVM does not start.
       "AFL_NO_UI=1", "AFL_NO_COLOR=1", "AFL_DEBUG_CHILD=1",
       // The parent records deaths, so this machine may send cores anywhere.
       "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1", "AFL_SKIP_CPUFREQ=1",
       // A seed that crashes is a finding, not a reason to end.
       "AFL_SKIP_CRASHES=1",
       // A worker that had to be killed resumes where it was.
       "AFL_AUTORESUME=1"});
  setup.ask_to_stop = SIGINT;
  setup.keeps_children = true;
}

constexpr Engine kEngines[] = {
    {"random", "a seeded stream of edits, without guidance", ChildMode::kFuzz, false,
     PrepareNothing, SetUpNothing, nullptr},
    {"faults", "each load of each undisturbed walk fails once, as if its page were gone (x86_64)",
     ChildMode::kFaults, false, PrepareStepping, SetUpNothing, nullptr},
    {"libfuzzer", "LLVM's libFuzzer, guided by the walker's blocks", ChildMode::kEngine, true,
     PrepareLibFuzzer, SetUpLibFuzzer, [](int) { return std::string(kCorpusName); }},
    {"afl", "AFL++, guided by the walker's blocks", ChildMode::kEngine, true, PrepareAfl, SetUpAfl,
     [](int index) { return std::string(kAflName) + "/" + AflWorker(index) + "/queue"; }},
};

// Replaces folders whose names a shell would split by links in `scratch`: see PlainPath.
Status GiveShellNames(const std::string& scratch, std::vector<std::string>& folders) {
  for (size_t i = 0; i < folders.size(); i++) {
    ASSIGN_OR_RETURN(folders[i], PlainPath(folders[i], fmt::format("{}/corpus-{}", scratch, i)));
  }
  return Ok();
}

Status AwaitMerge(ChildProcess& child, SharedState& state, const std::function<bool()>& stop,
                  std::chrono::milliseconds most) {
  const auto until = std::chrono::steady_clock::now() + most;
  while (!child.HasEnded()) {
    if (stop()) return Ok();  // ~ChildProcess kills the child
    if (std::chrono::steady_clock::now() >= until)
      return Unable(fmt::format("it was given up after {} s", InSeconds(most)));
    // Drops the findings: all of them are known, and a full ring would make the walks wait.
    state.ring.tail.store(state.ring.head.load());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (child.ExitedCleanly()) return Ok();
  const int status = child.wait_status();
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL
             ? Unable("SIGKILL from outside ended it: was the memory full?")
             : ToolFailed("merging the corpus failed; it printed: " + child.Output(600));
}

}  // namespace

std::span<const Engine> AllEngines() { return kEngines; }

Result<int> EngineNamed(const std::string& name) {
  std::vector<std::string_view> names;
  for (const Engine& engine : kEngines) {
    if (name == engine.name) return static_cast<int>(names.size());
    names.emplace_back(engine.name);
  }
  return UnknownName("engine", name, names);
}

Status MergeCorpus(const Engine& engine, const EnginePlan& plan, const ChildSetup& setup,
                   const Job& job, const std::function<bool()>& stop,
                   std::chrono::milliseconds most) {
  if (!engine.guided || plan.corpus.empty()) return Ok();
  ASSIGN_OR_RETURN(auto shared, SharedMapping::Create());
  SharedState& state = shared->state();
  state.job = job;
  state.job.merging = 1;
  ChildSetup merge = setup;
  merge.environment.push_back("TMPDIR=" + setup.scratch);  // for its control file
  // libFuzzer restarts itself through a shell and quotes nothing.
  merge.environment.push_back(
      std::string(kCommandVariable) + "=" +
      ShellCommand(setup.platform.Command({setup.platform.File(kLibFuzzerName)})));
  std::vector<std::string> folders = {Absolute(plan.corpus.front())};
  for (int i = 0; i < plan.workers; i++) {
    const std::string folder = Absolute(plan.run_dir + "/" + engine.corpus_of(i));
    if (folders.back() != folder) folders.push_back(folder);
  }
  RETURN_IF_ERROR(GiveShellNames(setup.scratch, folders));
  merge.command = LibFuzzer(setup);
  merge.command.emplace_back("-merge=1");
  merge.command.insert(merge.command.end(), folders.begin(), folders.end());
  ASSIGN_OR_RETURN(auto child, ChildProcess::Start(*shared, merge));
  return AwaitMerge(*child, state, stop, most);
}

}  // namespace walkhammer
