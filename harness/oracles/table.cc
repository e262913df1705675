// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <vector>

#include "harness/oracles/oracle.h"
#include "harness/oracles/rows.h"

namespace walkhammer {

std::string_view GradeWord(Grade grade) {
  static constexpr std::string_view kWords[] = {"Acceptable", "Interesting", "Forbidden"};
  return grade <= Grade::kForbidden ? kWords[static_cast<int>(grade)] : "?";
}

std::span<const Oracle> AllOracles() {
#define WALKHAMMER_ROW(oracle) oracle,
  static const Oracle table[] = {WALKHAMMER_ORACLES(WALKHAMMER_ROW)};
#undef WALKHAMMER_ROW
  static_assert(sizeof table / sizeof table[0] <= 32);  // a bit each, see OraclesFor
  return table;
}

uint32_t OraclesFor(uint16_t facts) {
  static const std::vector<uint32_t> table = [] {
    std::vector<uint32_t> sets(kByParent);
    for (size_t of = 0; of < sets.size(); of++)
      for (size_t i = 0; i < AllOracles().size(); i++)
        if ((AllOracles()[i].judged & ~of) == 0) sets[of] |= 1U << i;
    return sets;
  }();
  return table[facts % kByParent];
}

std::vector<std::string_view> OracleNames(uint32_t set) {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < AllOracles().size(); i++)
    if ((set >> i & 1) != 0) names.push_back(AllOracles()[i].name);
  return names;
}

bool HoldsOracle(uint32_t set, std::string_view name) {
  const auto names = OracleNames(set);
  return std::find(names.begin(), names.end(), name) != names.end();
}

const Oracle* FindOracle(std::string_view name) {
  for (const Oracle& oracle : AllOracles())
    if (name == oracle.name) return &oracle;
  return nullptr;
}

}  // namespace walkhammer
