// SPDX-License-Identifier: Apache-2.0
#include "workloads/archive.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "harness/base/text.h"

namespace walkhammer {
namespace {

constexpr auto kListsWithin = std::chrono::seconds(60);

}  // namespace

Result<std::string> FindArchive(const std::string& suite, const std::string& path) {
  std::error_code error;
  const std::string absolute = std::filesystem::absolute(path, error);
  if (std::filesystem::is_regular_file(absolute, error)) return absolute;
  if (!std::filesystem::is_directory(absolute, error))
    return BadInput(fmt::format("--{}: there is no file or folder {}", suite, path));
  std::vector<std::string> jars;
  for (const auto& entry : std::filesystem::directory_iterator(absolute, error)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(suite + "-") && name.ends_with(".jar") && entry.is_regular_file(error))
      jars.push_back(entry.path());
  }
  std::sort(jars.begin(), jars.end());
  if (jars.size() == 1) return jars.front();
  if (jars.empty()) return BadInput(fmt::format("--{}: no {}-*.jar is in {}", suite, suite, path));
  return BadInput(
      fmt::format("--{}: {} holds several; name one of {}", suite, path, fmt::join(jars, ", ")));
}

Result<std::set<std::string>> WorkloadsIn(const std::string& jar,
                                          const std::vector<std::string>& arguments,
                                          const StartJava& java) {
  std::vector<std::string> words = {"-jar", jar};
  words.insert(words.end(), arguments.begin(), arguments.end());
  ProgramSetup setup = java(words);
  setup.errors_apart = true;  // DaCapo's notices, and what JAVA_TOOL_OPTIONS make the JVM say
  ASSIGN_OR_RETURN(auto program, Program::Start(setup));
  const std::string asked = fmt::format("{} {}", jar, fmt::join(arguments, " "));
  if (!program->EndsWithin(kListsWithin))
    return Unable(fmt::format("{} lists no workloads within 60 s", asked));
  if (program->wait_status() != 0)
    return Unable(fmt::format("{} lists no workloads ({}): {}", asked, program->EndText(),
                              program->output() + program->errors()));
  const std::vector<std::string> names = Words(program->output());
  if (names.empty()) return Unable(fmt::format("{} lists no workloads", asked));
  return std::set<std::string>(names.begin(), names.end());
}

Status CheckArchiveHolds(const Workload& workload, const std::string& jar,
                         const std::set<std::string>& held) {
  if (held.contains(workload.name)) return Ok();
  return Unable(
      fmt::format("{} does not list {}; it lists {}", jar, workload.name, fmt::join(held, ", ")));
}

}  // namespace walkhammer
