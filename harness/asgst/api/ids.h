// SPDX-License-Identifier: Apache-2.0
// What asgst_attach calls in ids.cc, which implements the API for methods and classes.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_ASGST_API_IDS_H_
#define WALKHAMMER_HARNESS_ASGST_API_IDS_H_

namespace walkhammer::asgst {

// Registers the class unload handlers that clients passed before libasgst was attached, such as in
// Agent_OnLoad. Drops them if the layout of this JVM's metadata is unknown.
void RegisterWaitingHandlers();

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_API_IDS_H_
