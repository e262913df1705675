// SPDX-License-Identifier: Apache-2.0
// The checks of the gate, each on one kind of change. Each adds what it finds to the verdict.
// Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_GATE_CHECKS_H_
#define WALKHAMMER_REPORTS_GATE_CHECKS_H_

#include "reports/gate.h"

namespace walkhammer {

struct GateSides {
  const GateSide& baseline;
  const GateSide& candidate;
  const GatePolicy& policy;
  const GateReplay& replay;
  const GateAnswers& answers;
};

void CheckBuckets(const GateSides& sides, GateVerdict& verdict);
void CheckWorkloads(const GateSides& sides, GateVerdict& verdict);
void CheckTruth(const GateSides& sides, GateVerdict& verdict);
void CheckCoverage(const GateSides& sides, GateVerdict& verdict);
void CheckCodes(const GateSides& sides, GateVerdict& verdict);
void CheckTimes(const GateSides& sides, GateVerdict& verdict);
// Both JDKs by the corpora and vmStructs, and the answers of runs.
void CheckCorpora(const GateSides& sides, GateVerdict& verdict);
void CheckAnswers(const GateSides& sides, GateVerdict& verdict);

// Notes that a comparison of this walker and workload has `share` of the data that it needs.
void NoteData(const GateSides& sides, const std::string& walker, const std::string& workload,
              double share, GateVerdict& verdict);
// Notes every walker and workload that both sides walked, with no data yet.
void NoteCommonUnits(const GateSides& sides, GateVerdict& verdict);
// Why a comparison without a failure does not pass; empty: it does. Guided runs are compared by
// buckets alone.
std::string WhyTooLittle(const GateSides& sides, const GateVerdict& verdict);

inline constexpr size_t kMostBetter = 20;  // of GateVerdict::better

// What a new bucket of this oracle is: kNewCrash, kNewHang or kNewFinding.
GateKind NewKindOf(std::string_view oracle);

// Adds a change, unless the policy ignores its kind.
void AddChange(GateChange change, const GatePolicy& policy, GateVerdict& verdict);

// How far runs of one build are believed to differ before any were compared: standard deviation, as
// a share of the rate or time, and the degrees of freedom of that belief. Measured:
// docs/explanation/gate-statistics.md.
struct Spread {
  double share, degrees;
};
inline constexpr Spread kCodeSpread{0.025, 16}, kLibraryCodeSpread{0.11, 12},
    kSceneCodeSpread{0.01, 30}, kTimeSpread{0.02, 12};

// Stand for the sum over workloads that both sides have.
inline constexpr char kAllWorkloads[] = "all workloads", kAllScenes[] = "all scenes";

// The belief as a multiple of the variance within a run, where that alone gives a run's rate or
// time the standard deviation `within`, as a share of it.
inline Dispersion PriorOf(const Spread& spread, double within) {
  return {1 + spread.share * spread.share / (within * within), spread.degrees};
}

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_GATE_CHECKS_H_
