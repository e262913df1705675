// SPDX-License-Identifier: Apache-2.0
// The names of the scenes, known to parent and child alike. What a scene needs and how it is
// set up lives in scenes.cc and in the Java class wh.Scenes.
// Signal-safe: yes (constant data).
#ifndef WALKHAMMER_HARNESS_REQUEST_SCENE_TABLE_H_
#define WALKHAMMER_HARNESS_REQUEST_SCENE_TABLE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace walkhammer {

struct SceneInfo {
  const char* name;  // kebab-case: in .walk files, and the argument of wh.Scenes.run
  const char* what;  // one line for `list scenes`
};

// The scene that snapshots of samples are laid into. From stack+kSampledFree to stack+kSampledEnd
// its words are zero and in nobody's use; a snapshot puts the sample's sp at stack+kSampledSp, so
// that there is room below, too.
inline constexpr char kSampledScene[] = "sampled";
inline constexpr int32_t kSampledFree = 0x4000;
inline constexpr int32_t kSampledSp = 0x8000;
inline constexpr int32_t kSampledEnd = 0x110000;

std::span<const SceneInfo> AllScenes();
std::optional<int> FindScene(std::string_view name);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_REQUEST_SCENE_TABLE_H_
