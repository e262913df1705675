// SPDX-License-Identifier: Apache-2.0
// Whether there is enough data to say that nothing is worse.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/base/numbers.h"
#include "reports/gate_checks.h"

namespace walkhammer {
namespace {

constexpr size_t kNamed = 3;  // walkers and workloads that lack data

std::string_view UnitOf(const GateSides& sides, const std::string& workload) {
  return sides.baseline.scenes.contains(workload) ? kAllScenes : std::string_view(workload);
}

// Mean length in seconds of the runs that walked the unit, of both sides; 0: it is unknown.
double MeanSeconds(const GateSides& sides, const GateVerdict::Data::key_type& unit) {
  std::set<std::pair<const GateSide*, size_t>> runs;
  for (const GateSide* side : {&sides.baseline, &sides.candidate})
    for (const auto& [stratum, codes] : side->codes)
      if (stratum.walker == unit.first && UnitOf(sides, stratum.workload) == unit.second)
        for (size_t run = 0; run < codes.begin()->second.size(); run++)
          if (!codes.begin()->second[run].empty()) runs.emplace(side, run);
  double seconds = 0;
  for (const auto& [side, run] : runs)
    seconds += static_cast<double>(side->runs[run].totals.time_ms) / 1000;
  return runs.empty() ? 0 : seconds / static_cast<double>(runs.size());
}

std::string LackText(const GateSides& sides, const GateVerdict::Data::value_type& unit) {
  const auto& [name, share] = unit;
  const std::string text = fmt::format("{}, {}", name.first, name.second);
  if (share <= 0) return text + " (no state and region with walks of both sides)";
  const double seconds = MeanSeconds(sides, name);
  if (seconds <= 0)
    return fmt::format("{} (needs runs {} times as long)", text, std::ceil(1 / share));
  return fmt::format("{} (its runs took {} s each, and need {} s)", text, std::ceil(seconds),
                     std::ceil(seconds / share));
}

}  // namespace

void NoteData(const GateSides& sides, const std::string& walker, const std::string& workload,
              double share, GateVerdict& verdict) {
  double& most = verdict.data[{walker, std::string(UnitOf(sides, workload))}];
  most = std::max(most, share);
}

void NoteCommonUnits(const GateSides& sides, GateVerdict& verdict) {
  std::set<std::pair<std::string, std::string>> before;
  for (const auto& [stratum, codes] : sides.baseline.codes)
    before.emplace(stratum.walker, UnitOf(sides, stratum.workload));
  for (const auto& [stratum, codes] : sides.candidate.codes)
    if (before.contains({stratum.walker, std::string(UnitOf(sides, stratum.workload))}))
      NoteData(sides, stratum.walker, stratum.workload, 0, verdict);
}

std::string WhyTooLittle(const GateSides& sides, const GateVerdict& verdict) {
  if (!verdict.unmade.empty()) return verdict.unmade;
  if (verdict.data.empty())
    return sides.candidate.guided == sides.candidate.runs.size()
               ? ""
               : "no walker and workload has counts by period on both sides";
  std::string lacks;
  size_t count = 0;
  for (const auto& unit : verdict.data)
    if (unit.second < 1 && ++count <= kNamed)
      lacks += (lacks.empty() ? "" : ", ") + LackText(sides, unit);
  if (count == 0) return "";
  if (count > kNamed) lacks += fmt::format(" and {} more", count - kNamed);
  return fmt::format(
      "neither error codes nor times nor answers have enough data of {}; make longer runs, or more "
      "of them",
      lacks);
}

}  // namespace walkhammer
