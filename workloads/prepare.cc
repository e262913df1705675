// SPDX-License-Identifier: Apache-2.0
// Turns a workload of the catalogue into a command line.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <glob.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "harness/process/interrupt.h"
#include "harness/process/spawn.h"
#include "workloads/catalogue.h"
#include "workloads/stanzas.h"

namespace walkhammer {
namespace {

using Values = std::map<std::string, std::string>;

std::string CacheOf(const WorkloadContext& context) {
  return context.cache.empty() ? DefaultCache() : context.cache;
}

// The seed as a non-negative number of 31 bits, for Java programs and awk; small seeds stay as they
// are.
std::string SeedWord(uint64_t seed) { return std::to_string((seed ^ (seed >> 32)) & 0x7fffffff); }

std::vector<std::string> MatchesOf(const std::string& pattern) {
  std::vector<std::string> paths;
  glob_t found = {};
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  return paths;
}

std::string Missing(const Workload& workload, const std::string& pattern) {
  const std::string missing =
      fmt::format("{} is not installed: there is no {}", workload.FullName(), pattern);
  if (workload.packages.empty()) return missing;
  return fmt::format("{}; run: apt-get install --no-install-recommends {}", missing,
                     fmt::join(workload.packages, " "));
}

// The path of the distribution: the user's own, or what fetch.sh verified. CACHE/ID/verified holds
// the digest, and the path of the jar below CACHE/ID.
Result<std::string> DistributionPath(const Workload& workload, const WorkloadContext& context) {
  if (const auto own = context.archives.find(workload.suite); own != context.archives.end())
    return own->second;
  const std::string workloads = context.home + "/workloads";
  ASSIGN_OR_RETURN(auto table, ReadStanzas(workloads + "/distributions"));
  const std::string folder = CacheOf(context) + "/" + workload.file;
  for (const Stanza& stanza : table) {
    const StanzaLine* id = stanza.Find("id");
    const StanzaLine* sha512 = stanza.Find("sha512");
    if (id == nullptr || id->value != workload.file || sha512 == nullptr) continue;
    std::string digest, path;
    std::ifstream verified(folder + "/verified");
    if (std::getline(verified, digest) && digest == sha512->value && std::getline(verified, path) &&
        std::filesystem::exists(folder + "/" + path)) {
      return folder + "/" + path;
    }
  }
  const std::string option =
      CacheOf(context) == DefaultCache() ? "" : fmt::format(" --cache {}", context.cache);
  return Unable(fmt::format("{} is not installed: {} holds no verified copy; run: {}/fetch.sh {}{}",
                            workload.FullName(), folder, workloads, workload.file, option));
}

Status CheckJdk(const Workload& workload, int feature) {
  if (RunsOn(workload, feature)) return Ok();
  return Unable(
      fmt::format("{} does not run on JDK {}: {}", workload.FullName(), feature, workload.why));
}

// The files of the class path, or the jar. kUnable if a pattern has no match.
Result<std::vector<std::string>> FindJars(const Workload& workload, const Values& values) {
  std::vector<std::string> patterns = workload.classpath;
  if (!workload.jar.empty()) patterns.push_back(workload.jar);
  std::vector<std::string> jars;
  for (const std::string& pattern : patterns) {
    const std::string filled = Filled(pattern, values);
    const std::vector<std::string> matches = MatchesOf(filled);
    if (matches.empty()) return Unable(Missing(workload, filled));
    jars.insert(jars.end(), matches.begin(), matches.end());
  }
  return jars;
}

// The size of the workload's input: the size that is asked for or, from "default" on, that of the
// scale; empty if the workload has scales and no sizes.
Result<std::string> SizeFor(const Workload& workload, const WorkloadContext& context) {
  const auto& sizes = workload.sizes;
  if (sizes.empty()) {
    if (context.size.empty()) return std::string();
    return Unable(fmt::format("{} has no sizes, such as {}; give --scale a number",
                              workload.FullName(), context.size));
  }
  const auto refuse = [&](const std::string& asked) {
    return Unable(fmt::format("{} has no input of {}; its sizes are {}", workload.FullName(), asked,
                              fmt::join(sizes, ", ")));
  };
  if (!context.size.empty()) {
    if (!workload.HasSize(context.size)) return refuse("size " + context.size);
    return context.size;
  }
  const auto usual = std::find(sizes.begin(), sizes.end(), "default");
  if (context.scale > sizes.end() - usual)
    return refuse(fmt::format("scale {} (1 is size default)", context.scale));
  return usual[std::max(context.scale, 1) - 1];
}

// What the checks of a workload found.
struct Found {
  Values values;  // of placeholders
  std::vector<std::string> jars;
};

Result<Found> Find(const Workload& workload, int feature, const WorkloadContext& context) {
  RETURN_IF_ERROR(CheckJdk(workload, feature));
  Found found;
  found.values = {{"home", context.home},
                  {"input", context.scratch + "/input"},
                  {"scratch", context.scratch + "/work"},
                  {"seed", SeedWord(context.seed)},
                  {"seconds", std::to_string(context.seconds)},
                  {"threads", std::to_string(context.threads)},
                  {"scale", std::to_string(context.scale)},
                  {"name", workload.name},
                  {"jdk", std::to_string(feature)}};
  ASSIGN_OR_RETURN(found.values["size"], SizeFor(workload, context));
  if (!workload.file.empty()) {
    ASSIGN_OR_RETURN(auto path, DistributionPath(workload, context));
    found.values["file"] = path;
  }
  ASSIGN_OR_RETURN(found.jars, FindJars(workload, found.values));
  return found;
}

// Runs the command to its end, or until this process is interrupted: the command and all that it
// started are killed then. Its output goes to this process's stderr.
Status RunToEnd(const std::vector<std::string>& words) {
  Spawned command;
  RETURN_IF_ERROR(command.Start({.arguments = words}));
  while (!command.HasEnded()) {
    if (Interrupted().load())
      return ToolFailed(fmt::format("interrupted in: {}", fmt::join(words, " ")));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (command.ExitedCleanly()) return Ok();
  return ToolFailed(fmt::format("this command failed: {}", fmt::join(words, " ")));
}

void AddFilled(const std::vector<std::string>& texts, const Values& values,
               std::vector<std::string>& words) {
  for (const std::string& text : texts) words.push_back(Filled(text, values));
}

}  // namespace

bool RunsOn(const Workload& workload, int jdk_feature) {
  return jdk_feature == 0 ||
         (jdk_feature >= workload.oldest_jdk && jdk_feature <= workload.newest_jdk);
}

std::string DefaultCache() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0') return std::string(cache) + "/walkhammer";
  const char* home = std::getenv("HOME");
  return std::string(home == nullptr ? "" : home) + "/.cache/walkhammer";
}

Status CheckWorkload(const Workload& workload, int jdk_feature, const WorkloadContext& context) {
  RETURN_IF_ERROR(Find(workload, jdk_feature, context));
  return Ok();
}

Result<WorkloadCommand> PrepareWorkload(const Workload& workload, int jdk_feature,
                                        const WorkloadContext& context) {
  ASSIGN_OR_RETURN(auto found, Find(workload, jdk_feature, context));
  const Values& values = found.values;

  std::error_code error;
  std::filesystem::create_directories(values.at("scratch"), error);
  if (error) {
    return ToolFailed(fmt::format("cannot make {}: {}", values.at("scratch"), error.message()));
  }
  if (!workload.input.empty()) {
    RETURN_IF_ERROR(RunToEnd({"sh", context.home + "/workloads/input.sh", workload.input,
                              values.at("input"), values.at("seed"), values.at("scale")}));
  }

  WorkloadCommand command;
  command.directory = values.at("scratch");
  command.repeat = workload.repeat;
  command.iteration = workload.iteration;
  command.failure = workload.failure;
  AddFilled(workload.flags, values, command.jvm_flags);
  for (const auto& [feature, flags] : workload.flags_from) {
    if (jdk_feature >= feature) AddFilled(flags, values, command.jvm_flags);
  }
  if (workload.jar.empty()) {
    command.arguments = {"-cp", fmt::format("{}", fmt::join(found.jars, ":")), workload.main};
  } else {
    command.arguments = {"-jar", found.jars.front()};
  }
  AddFilled(workload.args, values, command.arguments);
  return command;
}

}  // namespace walkhammer
