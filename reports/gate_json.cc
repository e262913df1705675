// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "reports/gate.h"

namespace walkhammer {
namespace {

using Json = nlohmann::ordered_json;

Json SideJson(const std::string& build, size_t runs, uint64_t walks) {
  return {{"build", build}, {"runs", runs}, {"walks", walks}};
}

Json FamilyJson(const GateFamily& family) {
  return {{"compared", family.compared}, {"not_enough_data", family.not_enough}};
}

}  // namespace

std::string GateJsonText(const GateVerdict& verdict) {
  Json changes = Json::array();
  for (const GateChange& change : verdict.changes)
    changes.push_back({{"effect", GateEffectWord(change.effect)},
                       {"kind", GateKindWord(change.kind)},
                       {"what", change.what},
                       {"details", change.details},
                       {"p", change.p},
                       {"bug", change.bug.empty() ? Json(nullptr) : Json(change.bug)},
                       {"input", change.input.empty() ? Json(nullptr) : Json(change.input)}});
  const Json json = {
      {"gate", 1},
      {"verdict", verdict.word},
      {"why", verdict.why},
      {"exit_code", static_cast<int>(verdict.exit)},
      {"walkers", verdict.walkers},
      {"baseline", SideJson(verdict.baseline, verdict.baseline_runs, verdict.baseline_walks)},
      {"candidate", SideJson(verdict.candidate, verdict.candidate_runs, verdict.candidate_walks)},
      {"changes", changes},
      {"better", verdict.better},
      {"notes", verdict.notes},
      {"compared",
       {{"codes", FamilyJson(verdict.codes)},
        {"times", FamilyJson(verdict.times)},
        {"buckets", FamilyJson(verdict.buckets)}}},
      {"unmet_crash_at_most_per_million", verdict.bound},
      {"line", GateLine(verdict)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace walkhammer
