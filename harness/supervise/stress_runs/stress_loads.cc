// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/stress_runs/stress_loads.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>

#include "harness/base/names.h"
#include "harness/ipc/launch.h"
#include "harness/request/lookup.h"
#include "harness/request/scene_table.h"
#include "workloads/archive.h"

namespace walkhammer {
namespace {

StartJava JavaOf(const Jdk& jdk) {
  return [&jdk](const std::vector<std::string>& arguments) {
    std::vector<std::string> words = {jdk.home + "/bin/java"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    ProgramSetup setup;
    setup.arguments = jdk.platform.Command(words, setup.environment);
    return setup;
  };
}

// Adds what the patterns name of a suite with an archive and `all` lacks. Whether the archive has
// it is known once a JDK has listed it.
Status AddUnlisted(const Archives& archives, const std::vector<std::string>& patterns,
                   std::vector<Workload>& all) {
  for (const std::string& pattern : patterns)
    for (const auto& [suite, jar] : archives) {
      if (!pattern.starts_with(suite + ":")) continue;
      const std::string name = pattern.substr(suite.size() + 1);
      const bool listed = std::any_of(
          all.begin(), all.end(), [&](const Workload& each) { return each.FullName() == pattern; });
      if (listed || !IsWorkloadName(name)) continue;
      ASSIGN_OR_RETURN(auto unlisted, UnlistedWorkload(BesideExecutable("workloads"), suite, name));
      all.push_back(std::move(unlisted));
    }
  return Ok();
}

Result<std::vector<Load>> WorkloadLoads(const LoadSettings& settings, uint64_t seed) {
  WorkloadContext context;
  context.home = std::filesystem::path(BesideExecutable("workloads")).parent_path();
  context.seed = seed;
  context.seconds = 0;
  context.threads = settings.threads;
  context.scale = settings.scale;
  context.size = settings.size;
  context.cache = settings.cache;
  ASSIGN_OR_RETURN(context.archives, FindArchives(settings.archives));
  ASSIGN_OR_RETURN(auto all, LoadCatalogues(BesideExecutable("workloads")));
  std::vector<std::string> patterns = settings.workloads;
  if (patterns.empty())
    for (const auto& [suite, jar] : context.archives) patterns.push_back(suite + ":*");
  RETURN_IF_ERROR(AddUnlisted(context.archives, patterns, all));
  ASSIGN_OR_RETURN(auto selected, SelectWorkloads(all, patterns));
  for (const auto& [suite, jar] : context.archives)
    if (std::none_of(selected.begin(), selected.end(),
                     [&suite = suite](const Workload* each) { return each->suite == suite; }))
      return BadInput(
          fmt::format("--{} is for workloads such as \"{}:*\", and none is chosen", suite, suite));
  const auto lists = std::make_shared<ArchiveLists>(context.archives);
  std::vector<Load> loads;
  for (const Workload* workload : selected)
    loads.push_back(
        {workload->FullName(),
         [workload = *workload, context, lists](const Jdk& jdk,
                                                const std::string& folder) -> Result<LoadCommand> {
           RETURN_IF_ERROR(lists->Check(workload, jdk));
           WorkloadContext here = context;
           here.scratch = folder + "/work";
           std::error_code error;
           std::filesystem::create_directories(here.scratch, error);
           ASSIGN_OR_RETURN(auto c, PrepareWorkload(workload, jdk.feature, here));
           return LoadCommand{c.jvm_flags, c.arguments, c.directory,
                              c.repeat,    c.iteration, c.failure};
         },
         [workload = *workload](const Jdk& jdk) { return RunsOn(workload, jdk.feature); }});
  return loads;
}

// The class, jar or module that a command line of java runs: its arguments may hold secrets.
std::string ProgramOf(const std::vector<std::string>& words) {
  static constexpr std::string_view kWithValue[] = {
      "-cp",           "-classpath",     "--class-path",    "-p",
      "--module-path", "--add-modules",  "--add-reads",     "--add-exports",
      "--add-opens",   "--patch-module", "--limit-modules", "--upgrade-module-path",
      "--source"};
  for (size_t i = 0; i < words.size(); i++) {
    if (!words[i].starts_with('-')) return words[i];
    i += std::count(std::begin(kWithValue), std::end(kWithValue), words[i]);
  }
  return words.back();
}

Load JavaLoad(const std::vector<std::string>& words) {
  return {"java:" + ProgramOf(words),
          [words](const Jdk&, const std::string&) -> Result<LoadCommand> {
            return LoadCommand{{}, words, std::filesystem::current_path(), true};
          }};
}

Result<std::vector<Load>> SceneLoads(const std::vector<std::string>& names) {
  std::vector<Load> loads;
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(const int index, SceneNamed(name));
    const SceneInfo& scene = AllScenes()[static_cast<size_t>(index)];
    loads.push_back(
        {"scene:" + name, [&scene](const Jdk& jdk, const std::string&) -> Result<LoadCommand> {
           ASSIGN_OR_RETURN(auto flags, BaseFlags(jdk.feature));
           if (scene.step_flag != nullptr) flags.emplace_back(scene.step_flag);
           return LoadCommand{flags,
                              {"-cp", BesideExecutable(kScenesJarName), "wh.Rehearsal", scene.name},
                              std::filesystem::current_path(),
                              true};
         }});
  }
  return loads;
}

// Nothing to start: the JVM runs already.
Result<std::vector<Load>> AttachedLoad(uint64_t pid) {
  if (kill(static_cast<pid_t>(pid), 0) != 0) {
    if (errno == EPERM)
      return Unable(fmt::format("process {} is another user's: run this as that user", pid));
    return BadInput(fmt::format("there is no process {} that --pid could attach to", pid));
  }
  if (const auto mappings = ReadMappings(std::to_string(pid));
      !mappings.empty() && std::none_of(mappings.begin(), mappings.end(), IsLibjvm))
    return BadInput(fmt::format("process {} runs no JVM, so --pid cannot attach to it", pid));
  return std::vector<Load>{
      {fmt::format("pid:{}", pid),
       [](const Jdk&, const std::string&) -> Result<LoadCommand> { return LoadCommand{}; }}};
}

}  // namespace

bool IsLibjvm(const Mapping& mapping) {
  return mapping.path.find("/libjvm.so") != std::string::npos;
}

Result<Archives> FindArchives(const Archives& given) {
  Archives jars;
  for (const auto& [suite, path] : given) {
    if (path.empty()) continue;
    ASSIGN_OR_RETURN(jars[suite], FindArchive(suite, path));
  }
  return jars;
}

Result<std::set<std::string>> ArchiveLists::Listed(const Workload& workload, const Jdk& jdk) {
  const auto jar = jars_.find(workload.suite);
  if (jar == jars_.end()) return std::set<std::string>();
  std::lock_guard<std::mutex> lock(listing_);
  const std::string key = jar->second + "\n" + jdk.home;
  auto list = lists_.find(key);
  if (list == lists_.end())
    list = lists_.emplace(key, WorkloadsIn(jar->second, workload.list, JavaOf(jdk))).first;
  return list->second;
}

Status ArchiveLists::Check(const Workload& workload, const Jdk& jdk) {
  const auto jar = jars_.find(workload.suite);
  if (jar == jars_.end()) return Ok();
  ASSIGN_OR_RETURN(const auto listed, Listed(workload, jdk));
  return CheckArchiveHolds(workload, jar->second, listed);
}

Result<std::vector<Load>> ChooseLoads(const LoadSettings& settings, uint64_t seed, bool step) {
  const bool workloads = !settings.workloads.empty() ||
                         std::any_of(settings.archives.begin(), settings.archives.end(),
                                     [](const auto& given) { return !given.second.empty(); });
  const int ways = static_cast<int>(workloads) + static_cast<int>(!settings.java.empty()) +
                   static_cast<int>(!settings.scenes.empty()) + static_cast<int>(settings.pid != 0);
  if (ways != 1)
    return BadInput(std::string("say what to run, in one way: --workload NAME (walkhammer show "
                                "workloads), --java \"ARGUMENTS\"") +
                    (step ? ", --scene NAME" : "") + " or --pid PID");
  if (workloads) return WorkloadLoads(settings, seed);
  if (!settings.scenes.empty()) return SceneLoads(settings.scenes);
  if (!settings.java.empty()) return std::vector<Load>{JavaLoad(settings.java)};
  return AttachedLoad(settings.pid);
}

}  // namespace walkhammer
