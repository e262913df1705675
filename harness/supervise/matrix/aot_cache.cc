// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/matrix/aot_cache.h"

#include <chrono>

#include "harness/process/program.h"

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
  if (!program->EndsWithin(kWithin)) return Unable("this JVM makes no AOT cache within 60 s");
  if (program->wait_status() == 0) return Ok();
  return Unable("this JVM makes no AOT cache (" + program->EndText() + "): " + program->output());
}

}  // namespace

Result<std::vector<std::string>> MakeAotCache(const std::string& java, const Platform& platform,
                                              const std::vector<std::string>& flags,
                                              const std::string& folder) {
  if (platform.feature != 0 && platform.feature < kFirstWithCache)
    return Unable("JDK " + std::to_string(platform.feature) +
                  " has no AOT cache: JDK 24 brought it");
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

}  // namespace walkhammer
