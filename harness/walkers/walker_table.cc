// SPDX-License-Identifier: Apache-2.0
#include "harness/request/walker_table.h"

#include <vector>

#include "harness/walkers/puzzles.h"
#include "harness/walkers/rows.h"

namespace walkhammer {

std::span<const WalkerInfo> AllWalkers() {
  // Puzzles come last: other walkers are appended ahead of them.
  static const std::vector<WalkerInfo> table = [] {
#define WALKHAMMER_ROW(walker) walker,
    std::vector<WalkerInfo> rows = {WALKHAMMER_WALKERS(WALKHAMMER_ROW)};
#undef WALKHAMMER_ROW
    for (const auto& puzzles : {Puzzles(), EnginePuzzles()})
      rows.insert(rows.end(), puzzles.begin(), puzzles.end());
    return rows;
  }();
  return table;
}

std::optional<int> FindWalker(std::string_view name) {
  const size_t at = name.find('@');
  const std::string_view provider = at == name.npos ? "" : name.substr(at + 1);
  auto walkers = AllWalkers();
  for (size_t i = 0; i < walkers.size(); i++)
    if (name == walkers[i].name || (!provider.empty() && name.substr(0, at) == walkers[i].name &&
                                    provider == walkers[i].provider))
      return static_cast<int>(i);
  return std::nullopt;
}

const char* CodeName(const WalkerInfo& walker, int32_t code) {
  for (const DeclaredCode& declared : walker.codes)
    if (declared.code == code) return declared.name;
  return code < walker.private_codes_below ? "implementation_specific" : nullptr;
}

}  // namespace walkhammer
