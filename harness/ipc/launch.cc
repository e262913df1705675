// SPDX-License-Identifier: Apache-2.0
#include "harness/ipc/launch.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "harness/base/names.h"

namespace walkhammer {
namespace {

constexpr char kJvmFlagsName[] = "jvm_flags.txt";

// The flag in a line of jvm_flags.txt; empty if the line has none for JDK `feature` (0: newest).
std::string FlagFor(int feature, const std::string& line) {
  if (line.starts_with('-')) return line;
  int first = 0, last = INT_MAX, at = 0;
  if (feature == 0) feature = INT_MAX;
  const bool has_last = std::sscanf(line.c_str(), "%d-%d %n", &first, &last, &at) == 2;
  if (!has_last && std::sscanf(line.c_str(), "%d- %n", &first, &at) != 1) return "";
  if (!has_last) last = INT_MAX;
  return at > 0 && feature >= first && feature <= last ? line.substr(static_cast<size_t>(at)) : "";
}

}  // namespace

Status SetLaunch(SharedState& state, const std::string& libjvm, std::vector<std::string> flags,
                 const std::string& provider) {
  // Shenandoah's workers do not stop at safepoints: a periodic cycle could read an edited stack.
  if (std::find(flags.begin(), flags.end(), "-XX:+UseShenandoahGC") != flags.end())
    flags.insert(flags.end(),
                 {"-XX:+UnlockExperimentalVMOptions", "-XX:ShenandoahGuaranteedGCInterval=0"});
  std::string lines;
  for (const std::string& flag : flags) lines += flag + "\n";
  Launch& launch = state.launch;
  if (libjvm.size() >= sizeof launch.libjvm || lines.size() >= sizeof launch.flags)
    return BadInput("the JVM flags or the path of the JDK are too long for walkhammer");
  if (provider.size() >= sizeof launch.provider)
    return BadInput("the path of the provider is too long for walkhammer");
  std::memcpy(launch.libjvm, libjvm.c_str(), libjvm.size() + 1);
  std::memcpy(launch.provider, provider.c_str(), provider.size() + 1);
  std::memcpy(launch.flags, lines.c_str(), lines.size() + 1);
  return Ok();
}

std::vector<std::string> ReadFlags(const std::string& path, int feature) {
  std::vector<std::string> flags;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (std::string flag = FlagFor(feature, line); !flag.empty()) flags.push_back(flag);
  return flags;
}

Result<std::vector<std::string>> BaseFlags(int feature) {
  for (const char* name : {kScenesJarName, kJvmFlagsName})
    if (access(BesideExecutable(name).c_str(), R_OK) != 0)
      return ToolFailed(std::string(name) +
                        " is missing beside the walkhammer command: build it again");
  std::vector<std::string> flags = ReadFlags(BesideExecutable(kJvmFlagsName), feature);
  flags.push_back("-Djava.class.path=" + BesideExecutable(kScenesJarName));
  // A small heap: nothing here allocates much, and CI machines are small.
  flags.insert(flags.end(), {"-Xmx256m", "-XX:-UsePerfData"});
  return flags;
}

}  // namespace walkhammer
