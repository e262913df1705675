// SPDX-License-Identifier: Apache-2.0
// Sums the states of several workers: adds counts, unites scenes and blocks.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_CAMPAIGN_SUM_STATE_H_
#define WALKHAMMER_HARNESS_SUPERVISE_CAMPAIGN_SUM_STATE_H_

#include <vector>

#include "harness/shared/shared_state.h"

namespace walkhammer {

// Overwrites phase, VM, walks, counts and scenes of `sum`, and adds the workers' blocks to its
// coverage. The phase is the lowest ChildPhase of all workers.
void SumStates(const std::vector<const SharedState*>& states, SharedState& sum);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_CAMPAIGN_SUM_STATE_H_
