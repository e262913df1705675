// SPDX-License-Identifier: Apache-2.0
// The names of the scenes, shared by parent and child. harness/scenes/scenes.cc and the Java class
// wh.Scenes set the scenes up.
// Signal-safe: yes (constant data).
#ifndef WALKHAMMER_HARNESS_REQUEST_SCENE_TABLE_H_
#define WALKHAMMER_HARNESS_REQUEST_SCENE_TABLE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace walkhammer {

struct SceneInfo {
  const char* name;                 // kebab-case: in .walk files, and the argument of wh.Scenes.run
  const char* what;                 // one line for `show scenes`
  const char* step_flag = nullptr;  // a JVM flag that `step --scene` needs to keep the scene
};

// The scene in which a sample is replayed. The words of its stack from stack+kSampledFree to
// stack+kSampledEnd (exclusive) are zero and unused. The sample's sp becomes stack+kSampledSp, so
// words below sp are free, too. All three are byte offsets.
inline constexpr char kSampledScene[] = "sampled";
inline constexpr int32_t kSampledFree = 0x4000;
inline constexpr int32_t kSampledSp = 0x8000;
inline constexpr int32_t kSampledEnd = 0x110000;

std::span<const SceneInfo> AllScenes();
// Returns an index into AllScenes(); nullopt if no scene has this name.
std::optional<int> FindScene(std::string_view name);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_REQUEST_SCENE_TABLE_H_
