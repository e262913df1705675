// SPDX-License-Identifier: Apache-2.0
// What several workers' states come to: counts added, scenes and blocks united.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_CAMPAIGN_SUM_STATE_H_
#define WALKHAMMER_HARNESS_SUPERVISE_CAMPAIGN_SUM_STATE_H_

#include <vector>

#include "harness/shared/shared_state.h"

namespace walkhammer {

// Overwrites what `sum` holds of phase, VM, walks, counts, scenes and coverage. The phase is that
// of the worker that has got least far.
void SumStates(const std::vector<const SharedState*>& states, SharedState& sum);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_CAMPAIGN_SUM_STATE_H_
