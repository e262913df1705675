// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/identity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>

#include <ctime>
#include <fstream>
#include <vector>

#include "harness/base/shell.h"
#include "harness/hs_err/redact.h"
#include "harness/request/walker_table.h"

namespace walkhammer {

std::string CpuModel() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

std::string Kernel() {
  utsname name{};
  return uname(&name) == 0 ? std::string(name.sysname) + " " + name.release : "unknown";
}

std::string Now(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[40];
  std::strftime(text, sizeof text, format, &parts);
  return text;
}

Day Today() { return *ParseDay(Now("%Y-%m-%d")); }

std::string Joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

namespace {

// The command line of this process, quoted for a shell, without secrets: reports show it.
std::string CommandLine() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return WithoutSecrets(ShellCommand(words));
}

}  // namespace

RunIdentity OwnIdentity() {
  RunIdentity identity;
  identity.tool_version = WALKHAMMER_VERSION;
  identity.cpu_model = CpuModel();
  identity.kernel = Kernel();
  identity.started_at = Now("%Y-%m-%dT%H:%M:%SZ");
  identity.command_line = CommandLine();
  return identity;
}

std::string WalkerNames(std::span<const int> walkers, const char* between) {
  std::vector<std::string_view> names;
  for (const int walker : walkers)
    names.emplace_back(AllWalkers()[static_cast<size_t>(walker)].name);
  return fmt::format("{}", fmt::join(names, between));
}

Status CheckBuild(const std::string& build) {
  if (build.empty() || ParseJdkVersion(build)) return Ok();
  return BadInput(
      fmt::format("--build \"{}\" is not a version of a JDK, such as 28-internal+1234", build));
}

}  // namespace walkhammer
