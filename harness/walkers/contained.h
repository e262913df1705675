// SPDX-License-Identifier: Apache-2.0
// Contained: Bind's first call of an unknown implementation. Turns a crash or a hang into an error
// message. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_WALKERS_CONTAINED_H_
#define WALKHAMMER_HARNESS_WALKERS_CONTAINED_H_

#include "harness/base/result.h"

namespace walkhammer {

// Runs body(argument), inside the guard if that is in place (the agent installs the guard later).
// kUnable: `body` crashed or hung inside the guard. One thread at a time.
Status Contained(void (*body)(void*), void* argument);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_CONTAINED_H_
