#include "harness/cli/common.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/cli/print.h"
#include "harness/scenes/scene_table.h"
#include "harness/walkers/walker_table.h"

namespace walkhammer {
Result<std::vector<Jdk>> OpenJdks(const std::vector<std::string>& paths) {
  std::vector<Jdk> jdks;
  if (paths.empty()) {
    Result<Jdk> jdk = DefaultJdk();
    if (!jdk.ok()) return jdk.failure();
    jdks.push_back(std::move(jdk.value()));
  }
  for (const std::string& path : paths) {
    Result<Jdk> jdk = OpenJdk(path);
    if (!jdk.ok()) return jdk.failure();
    jdks.push_back(std::move(jdk.value()));
  }
  return jdks;
}

int PrintFailure(const Failure& failure) {
  std::string line = failure.message;
  std::replace(line.begin(), line.end(), '\n', ' ');
  Print(stderr, "walkhammer: {}\n", line);
  return static_cast<int>(failure.code);
}

Result<int> WalkerNamed(std::string_view name) {
  if (const std::optional<int> index = FindWalker(name)) return *index;
  std::vector<std::string_view> names;
  for (const WalkerInfo& walker : AllWalkers()) {
    if (!walker.puzzle) names.emplace_back(walker.name);
  }
  return UnknownName("walker", name, names);
}

Result<int> SceneNamed(std::string_view name) {
  if (const std::optional<int> index = FindScene(name)) return *index;
  std::vector<std::string_view> names;
  for (const SceneInfo& scene : AllScenes()) names.emplace_back(scene.name);
  return UnknownName("scene", name, names);
}

void PrintJson(const nlohmann::json& json) {
  Print(stdout, "{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace walkhammer
