// The oracles' rows, one per file, gathered by table.cc.
#ifndef WALKHAMMER_HARNESS_ORACLES_ROWS_H_
#define WALKHAMMER_HARNESS_ORACLES_ROWS_H_

#include "harness/oracles/oracle.h"

namespace walkhammer {

extern const Oracle kSurvivalOracle, kCrashOracle, kHangOracle, kReturnCodeOracle,
    kFrameCountOracle, kBufferOracle, kMethodIdOracle, kBciOracle, kTruthOracle, kThreadStateOracle,
    kErrnoOracle, kSignalMaskOracle, kSignalSafetyOracle, kStackKeptOracle, kThreadStartOracle,
    kRepeatedFrameOracle, kShadowStackOracle, kAgreementOracle, kFrameKindOracle, kMethodInfoOracle;

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ORACLES_ROWS_H_
