// SPDX-License-Identifier: Apache-2.0
#include "harness/child/scenes_bench.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "harness/base/mappings.h"
#include "harness/guard/arch.h"
#include "harness/ipc/launch.h"
#include "harness/request/scene_table.h"

namespace walkhammer {
namespace {

// Starts this process anew, with `words`, if the JDK at `path` has a C library of its own.
Result<Jdk> OpenBenchJdk(const std::string& path, std::vector<std::string> words) {
  constexpr char kOnce[] = "WALKHAMMER_STARTED_ANEW";
  ASSIGN_OR_RETURN(auto jdk, path.empty() ? DefaultJdk() : OpenJdk(path));
  if (jdk.platform.is_own() || getenv(kOnce) != nullptr) return jdk;
  setenv(kOnce, "1", 1);
  words[0] = OwnProgram();
  words = jdk.platform.Command(words);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  return ToolFailed("cannot start anew by " + words[0]);
}

// Google Benchmark 1.8 has renamed the member that says so.
template <class Run>
bool HasFailed(const Run& run) {
  if constexpr (requires { run.error_occurred; })
    return run.error_occurred;
  else
    return run.skipped != decltype(run.skipped){};
}

}  // namespace

void MedianTimes::ReportRuns(const std::vector<Run>& runs) {
  ConsoleReporter::ReportRuns(runs);
  for (const Run& run : runs) {
    if (HasFailed(run) || (run.run_type != Run::RT_Iteration && run.aggregate_name != "median"))
      continue;
    ns_[run.run_name.function_name] = run.GetAdjustedRealTime();
    const auto counted = run.counters.find("instructions");
    instructions_[run.run_name.function_name] =
        counted == run.counters.end() ? 0 : counted->second.value;
  }
}

int BenchMain::Run(int argc, char** argv) const {
  const std::vector<std::string> words(argv, argv + argc);
  benchmark::Initialize(&argc, argv);
  std::string jdk;
  std::map<std::string, std::string*> all = options;
  all["--jdk="] = &jdk;
  for (int i = 1; i < argc; i++) {
    const std::string word = argv[i];
    const size_t end = word.find('=') + 1;  // 0: none
    const auto option = all.find(word.substr(0, end));
    if (option == all.end()) {
      fmt::print(stderr, "{}: unknown option {}\n", program, word);
      return 2;
    }
    *option->second = word.substr(end);
  }
  const auto opened = OpenBenchJdk(jdk, words);
  const Status status = opened.ok() ? set_up(opened.value()) : Status(opened.failure());
  if (!status.ok()) {
    fmt::print(stderr, "{}: {}\n", program, status.failure().message);
    return static_cast<int>(status.failure().code);
  }
  MedianTimes times;
  benchmark::RunSpecifiedBenchmarks(&times);
  compare(times);
  std::fflush(stdout);
  _exit(0);
}

Result<BenchScenes> BenchScenes::Open(const Jdk& jdk, const std::vector<std::string>& names) {
  BenchScenes out;
  ASSIGN_OR_RETURN(auto flags, BaseFlags(jdk.feature));
  auto* shared = static_cast<SharedState*>(mmap(
      nullptr, sizeof(SharedState), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (shared == MAP_FAILED) return ToolFailed("cannot map memory");
  out.shared = shared;
  shared->symbols.Init();
  shared->job.mode = ChildMode::kFuzz;
  for (const std::string& name : names) shared->job.scene_mask |= 1U << *FindScene(name);
  shared->job.hang_limit_ms = 1000;
  shared->job.coverage = 1;
  RETURN_IF_ERROR(SetLaunch(*shared, jdk.libjvm, flags));
  ASSIGN_OR_RETURN(out.environment, ChildEnvironment::SetUp(*shared));
  return out;
}

Result<ParkedScene*> BenchScenes::Find(const std::string& name) {
  const int index = *FindScene(name);
  ParkedScene* found = environment.stage->Find(index);
  if (found == nullptr) return Unable(shared->scenes[index].reason);
  return found;
}

Presented::Presented(ParkedScene& scene)
    : scene_(scene),
      sp_(*scene.thread.last_sp()),
      pc_(*scene.thread.last_pc()),
      fp_(*scene.thread.last_fp()) {
  getcontext(&context_);
  WriteContext(scene.pristine, context_);
  *scene.thread.last_sp() = 0;
  scene.thread.SetState(kStateInJava);
}

Presented::~Presented() {
  *scene_.thread.state() = scene_.guard.true_state;
  *scene_.thread.last_fp() = fp_;
  *scene_.thread.last_pc() = pc_;
  *scene_.thread.last_sp() = sp_;
}

}  // namespace walkhammer
