// The names of the scenes, known to parent and child alike. What a scene needs and how it is
// set up lives in scenes.cc and in the Java class wh.Scenes.
// Signal-safe: yes (constant data).
#ifndef WALKHAMMER_HARNESS_SCENES_SCENE_TABLE_H_
#define WALKHAMMER_HARNESS_SCENES_SCENE_TABLE_H_

#include <optional>
#include <span>
#include <string_view>

namespace walkhammer {

struct SceneInfo {
  const char* name;  // kebab-case: in .walk files, and the argument of wh.Scenes.run
  const char* what;  // one line for `list scenes`
};

std::span<const SceneInfo> AllScenes();
std::optional<int> FindScene(std::string_view name);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SCENES_SCENE_TABLE_H_
