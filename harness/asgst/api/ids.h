// SPDX-License-Identifier: Apache-2.0
// What attaching does for the functions for methods and classes. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_ASGST_API_IDS_H_
#define WALKHAMMER_HARNESS_ASGST_API_IDS_H_

namespace walkhammer::asgst {

// Registers the class unload handlers that came before libasgst was attached, as from a client's
// Agent_OnLoad.
void RegisterWaitingHandlers();

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_API_IDS_H_
