// SPDX-License-Identifier: Apache-2.0
#include "harness/request/lookup.h"

#include <optional>
#include <vector>

#include "harness/base/names.h"
#include "harness/request/scene_table.h"
#include "harness/request/walker_table.h"

namespace walkhammer {

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

}  // namespace walkhammer
