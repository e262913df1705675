#include "harness/cli/scene_probe.h"

#include <chrono>
#include <thread>

#include "harness/cli/scratch.h"
#include "harness/record/finding_record.h"
#include "harness/scenes/scene_table.h"
#include "harness/supervise/child_process.h"

namespace walkhammer {

Result<nlohmann::json> ProbeScenes(const Jdk& jdk) {
  constexpr auto kMostTime = std::chrono::seconds(120);
  ScratchFolder scratch;
  auto shared = SharedMapping::Create();
  if (!shared.ok()) return shared.failure();
  SharedState& state = shared.value()->state();
  state.job.mode = ChildMode::kScenes;
  state.job.scene_mask = UINT32_MAX;
  state.job.hang_limit_ms = 1000;
  ChildSetup setup;
  setup.libjvm = jdk.libjvm;
  setup.platform = jdk.platform;
  setup.scratch = scratch.path();
  auto child = ChildProcess::Start(*shared.value(), setup);
  if (!child.ok()) return child.failure();
  const auto deadline = std::chrono::steady_clock::now() + kMostTime;
  while (!child.value()->HasEnded()) {
    if (std::chrono::steady_clock::now() > deadline)
      return ToolFailed("the JVM did not set up the scenes within 120 s");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (state.phase.load() != ChildPhase::kDone) {
    const std::string message = FieldText(state.message);
    return ToolFailed(message.empty() ? "the JVM died while the scenes were set up: " +
                                            child.value()->Output().substr(0, 300)
                                      : message);
  }
  nlohmann::json scenes = nlohmann::json::array();
  for (size_t i = 0; i < AllScenes().size(); i++) {
    const SceneReport& report = state.scenes[i];
    scenes.push_back({{"name", AllScenes()[i].name},
                      {"available", report.available},
                      {"pristine_true", report.pristine_true},
                      {"frames", report.truth_frames},
                      {"reason", FieldText(report.reason)}});
  }
  return scenes;
}

}  // namespace walkhammer
