// SPDX-License-Identifier: Apache-2.0
// The engine `faults`: walks each scene undisturbed and counts the loads of the walk. Then repeats
// the walk once for each load, and makes that load fail: see FailingLoads. Does this for the thread
// states in_Java and in_native. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CHILD_FAULT_ENGINE_H_
#define WALKHAMMER_HARNESS_CHILD_FAULT_ENGINE_H_

#include "harness/base/result.h"
#include "harness/child/campaign.h"

namespace walkhammer {

// Runs the job of ChildMode::kFaults to its end, until shared.stop is set, or until a walk retires
// the child. The work has a part for each scene and state; part P is for worker P mod
// Job::workers. The sequence number of a walk is 2^32 * part + the number of its failing load, from
// 1. A successor of a child goes on at the sequence number Job::first_walk. Fails with kUnable if
// the machine has no single steps, or no scene is available.
Status FailEachLoad(SharedState& shared, ChildEnvironment& environment);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CHILD_FAULT_ENGINE_H_
