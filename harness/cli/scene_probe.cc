// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/scene_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "harness/layout_check/proof.h"
#include "harness/process/scratch.h"
#include "harness/request/scene_table.h"
#include "harness/supervise/child_process.h"

namespace walkhammer {

Result<nlohmann::json> ProbeScenes(const Jdk& jdk) {
  // An idle machine takes 2 s, an emulator 20 to 40 times as long, a load of 20 ten times.
  const auto most_time = std::chrono::seconds(jdk.platform.is_emulated ? 240 : 60);
  ScratchFolder scratch;
  RETURN_IF_ERROR(scratch.made());
  ASSIGN_OR_RETURN(auto shared, SharedMapping::Create());
  SharedState& state = shared->state();
  state.job.mode = ChildMode::kScenes;
  state.job.scene_mask = UINT32_MAX;
  state.job.hang_limit_ms = 1000;
  ChildSetup setup;
  setup.libjvm = jdk.libjvm;
  setup.platform = jdk.platform;
  setup.scratch = scratch.path();
  ASSIGN_OR_RETURN(auto child, ChildProcess::Start(*shared, setup));
  const auto deadline = std::chrono::steady_clock::now() + most_time;
  while (!child->HasEnded()) {
    if (std::chrono::steady_clock::now() > deadline)
      return ToolFailed(
          fmt::format("the JVM did not set up the scenes within {} s; its last output: {}",
                      most_time.count(), child->Output(300)));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (state.phase.load() != ChildPhase::kDone) {
    const std::string message = FieldText(state.message);
    return ToolFailed(message.empty()
                          ? "the JVM died while the scenes were set up: " + child->Output(300)
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
  nlohmann::json layout = nlohmann::json::array();
  for (uint32_t i = 0; i < std::min(state.layout_count.load(), kMaxLayoutRows); i++) {
    const LayoutRow& row = state.layout[i];
    layout.push_back({{"name", FieldText(row.name)},
                      {"present", row.present != 0},
                      {"proof", ProofWord(static_cast<Proof>(row.proof))}});
  }
  return nlohmann::json{{"scenes", std::move(scenes)},
                        {"layout", std::move(layout)},
                        {"safefetch", SafeFetchSourceWord(state.safefetch)}};
}

}  // namespace walkhammer
