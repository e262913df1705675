#include <iterator>

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
  // In the order of judging. Survival first: the parent judges it, by index 0.
  static const Oracle table[] = {
      kSurvivalOracle,     kCrashOracle,       kHangOracle,        kReturnCodeOracle,
      kFrameCountOracle,   kBufferOracle,      kMethodIdOracle,    kBciOracle,
      kTruthOracle,        kThreadStateOracle, kErrnoOracle,       kSignalMaskOracle,
      kSignalSafetyOracle, kStackKeptOracle,   kThreadStartOracle, kRepeatedFrameOracle,
      kShadowStackOracle,  kAgreementOracle,   kFrameKindOracle,   kMethodInfoOracle,
  };
  return table;
}

const Oracle* FindOracle(std::string_view name) {
  for (const Oracle& oracle : AllOracles())
    if (name == oracle.name) return &oracle;
  return nullptr;
}

}  // namespace walkhammer
