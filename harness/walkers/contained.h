// SPDX-License-Identifier: Apache-2.0
// Contained: a first call of an implementation that nobody knows yet, from Bind: a crash or a hang
// becomes a sentence. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_WALKERS_CONTAINED_H_
#define WALKHAMMER_HARNESS_WALKERS_CONTAINED_H_

#include "harness/base/result.h"

namespace walkhammer {

// Runs body(argument) in the guard, where that is in place; elsewhere (the agent installs it later)
// as it is. kUnable where it was left. One thread at a time.
Status Contained(void (*body)(void*), void* argument);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_CONTAINED_H_
