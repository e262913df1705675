// SPDX-License-Identifier: Apache-2.0
// The engine `faults`: walks each scene undisturbed, as its thread is in_Java and in_native, and
// then again and again, so that each load of the walk fails once: see FailingLoads.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CHILD_FAULT_ENGINE_H_
#define WALKHAMMER_HARNESS_CHILD_FAULT_ENGINE_H_

#include "harness/base/result.h"
#include "harness/child/campaign.h"

namespace walkhammer {

// Runs the job of ChildMode::kFaults to its end, or until shared.stop. Scene and state make a part
// of the work; workers take parts in turn, and Job::first_walk says where a successor goes on. The
// sequence number of a walk is 2^32 * part + the number of its load. Fails with kUnable on a
// machine without single steps, and if no scene is available.
Status FailEachLoad(SharedState& shared, ChildEnvironment& environment);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CHILD_FAULT_ENGINE_H_
