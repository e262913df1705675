// SPDX-License-Identifier: Apache-2.0

#include "harness/oracles/oracle.h"
#include "harness/oracles/rows.h"

namespace walkhammer {

std::string_view GradeWord(Grade grade) {
  switch (grade) {
    case Grade::kAcceptable:
      return "Acceptable";
    case Grade::kInteresting:
      return "Interesting";
    case Grade::kForbidden:
      return "Forbidden";
  }
  return "?";
}

std::span<const Oracle> AllOracles() {
#define WALKHAMMER_ROW(oracle) oracle,
  static const Oracle table[] = {WALKHAMMER_ORACLES(WALKHAMMER_ROW)};
#undef WALKHAMMER_ROW
  return table;
}

const Oracle* FindOracle(std::string_view name) {
  for (const Oracle& oracle : AllOracles())
    if (name == oracle.name) return &oracle;
  return nullptr;
}

}  // namespace walkhammer
