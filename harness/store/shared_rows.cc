// SPDX-License-Identifier: Apache-2.0
#include "harness/store/shared_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "harness/request/scene_table.h"
#include "harness/request/walker_table.h"

namespace walkhammer {
namespace {

std::string StateName(int index) {
  if (index == kMaxStates - 1) return "undeclared";
  const char* word = StateWord(static_cast<uint8_t>(index));
  return word == nullptr ? fmt::format("state-{}", index) : word;
}

std::string WalkerName(uint8_t index) {
  return index < AllWalkers().size() ? AllWalkers()[index].name : fmt::format("walker-{}", index);
}

std::string SceneName(size_t index) {
  return index < AllScenes().size() ? AllScenes()[index].name : fmt::format("scene-{}", index);
}

std::vector<WalkTimeRow> WalkTimeRowsOf(const SharedState& shared) {
  std::vector<WalkTimeRow> rows;
  for (int i = 0; i < WalkerCount(shared.job); i++)
    for (size_t scene = 0; scene < kMaxScenes; scene++)
      for (int slot = 0; slot < kTimeSlots; slot++)
        if (const uint64_t count = shared.walk_times[i][scene][slot]; count > 0)
          rows.push_back({WalkerName(WalkerAt(shared.job, i)), SceneName(scene), 0,
                          TimeSlotBegin(slot), count});
  return rows;
}

}  // namespace

std::string CodeText(int slot) {
  switch (slot) {
    case kCodeFrames:
      return "frames";
    case kCodeOther:
      return "other";
    case kCodeCrash:
      return "crash";
    case kCodeHang:
      return "hang";
    default:
      return std::to_string(1 - slot);
  }
}

RunTotals TotalsOf(const SharedState& shared) {
  RunTotals totals;
  totals.walks = shared.walks.load();
  totals.successful = shared.successful.load();
  totals.walking_cpu_ms = shared.walking_cpu_ns.load() / 1'000'000;
  totals.pristine_walks = shared.pristine_walks.load();
  totals.pristine_true = shared.pristine_true.load();
  totals.contained_crashes = shared.contained_crashes.load();
  totals.request_hash = shared.request_hash.load();
  if (shared.job.churn != 0)
    totals.churn = {shared.churn.collections.load(), shared.churn.java.rounds.load(),
                    shared.churn.java.unloaded.load()};
  const FailedLoads& loads = shared.failed_loads;
  if (shared.job.mode == ChildMode::kFaults)
    totals.failed_loads = {loads.loads.load(),   loads.contained.load(), loads.crashed.load(),
                           loads.hung.load(),    loads.missed.load(),    loads.unseen.load(),
                           loads.finished.load()};
  const uint32_t blocks = std::min(shared.covered.blocks.load(), Covered::kMaxBlocks);
  for (uint32_t i = 0; i < blocks; i++) totals.blocks += shared.covered.hit[i] != 0;
  return totals;
}

std::vector<CountRow> CountRowsOf(const SharedState& shared) {
  std::map<uint8_t, std::vector<int>> places;
  for (int i = 0; i < WalkerCount(shared.job); i++) places[WalkerAt(shared.job, i)].push_back(i);
  std::vector<CountRow> rows;
  for (const auto& [walker, at] : places)
    for (int scene = 0; scene < kMaxScenes; scene++)
      for (int state = 0; state < kMaxStates; state++)
        for (int region = 0; region < kPcRegions; region++)
          for (int code = 0; code < kCodeSlots; code++) {
            uint64_t count = 0;
            for (const int i : at) count += shared.counts[i][scene][state][region][code];
            if (count > 0)
              rows.push_back({WalkerName(walker), SceneName(static_cast<size_t>(scene)),
                              StateName(state), PcRegionWord(static_cast<PcRegion>(region)),
                              CodeText(code), count});
          }
  return rows;
}

std::vector<AgreementRow> AgreementRowsOf(const SharedState& shared) {
  std::vector<AgreementRow> rows;
  for (int w = 1; w < WalkerCount(shared.job); w++)
    for (int realism = 0; realism < kRealisms; realism++)
      for (int region = 0; region < kPcRegions; region++)
        for (int kind = 0; kind < kDisagreements; kind++)
          if (const uint64_t requests = shared.agreement[w][realism][region][kind]; requests > 0)
            rows.push_back({kNoCell, WalkerName(WalkerAt(shared.job, w)),
                            WalkerName(WalkerAt(shared.job, w - 1)), static_cast<Realism>(realism),
                            PcRegionWord(static_cast<PcRegion>(region)),
                            DisagreementWord(static_cast<Disagreement>(kind)), requests});
  return rows;
}

std::vector<SceneRow> SceneRowsOf(const SharedState& shared) {
  std::vector<SceneRow> scenes;
  for (size_t i = 0; i < AllScenes().size() && i < kMaxScenes; i++) {
    const SceneReport& report = shared.scenes[i];
    scenes.push_back({AllScenes()[i].name, report.available != 0, report.pristine_true != 0,
                      report.tried, report.truth_frames, FieldText(report.reason)});
  }
  return scenes;
}

CountsSoFar CountsOf(const SharedState& shared) {
  return {shared.walks.load(), CountRowsOf(shared), WalkTimeRowsOf(shared), {}};
}

}  // namespace walkhammer
