// SPDX-License-Identifier: Apache-2.0
// The oracles' table. An oracle is a file of its own and a row here.
#ifndef WALKHAMMER_HARNESS_ORACLES_ROWS_H_
#define WALKHAMMER_HARNESS_ORACLES_ROWS_H_

#include "harness/oracles/oracle.h"

// In the order of judging. Survival first: the parent judges it, by index 0.
#define WALKHAMMER_ORACLES(ROW) \
  ROW(kSurvivalOracle)          \
  ROW(kCrashOracle)             \
  ROW(kHangOracle)              \
  ROW(kReturnCodeOracle)        \
  ROW(kFrameCountOracle)        \
  ROW(kBufferOracle)            \
  ROW(kMethodIdOracle)          \
  ROW(kBciOracle)               \
  ROW(kTruthOracle)             \
  ROW(kThreadStateOracle)       \
  ROW(kErrnoOracle)             \
  ROW(kSignalMaskOracle)        \
  ROW(kSignalSafetyOracle)      \
  ROW(kStackKeptOracle)         \
  ROW(kThreadStartOracle)       \
  ROW(kRepeatedFrameOracle)     \
  ROW(kShadowStackOracle)       \
  ROW(kAgreementOracle)         \
  ROW(kFrameKindOracle)         \
  ROW(kMethodInfoOracle)        \
  ROW(kOwnProtectionOracle)     \
  ROW(kTraceRequestOracle)      \
  ROW(kWitnessOracle)           \
  ROW(kFailingLoadOracle)

namespace walkhammer {

#define WALKHAMMER_DECLARE_ORACLE(oracle) extern const Oracle oracle;
WALKHAMMER_ORACLES(WALKHAMMER_DECLARE_ORACLE)
#undef WALKHAMMER_DECLARE_ORACLE

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ORACLES_ROWS_H_
