// SPDX-License-Identifier: Apache-2.0
// Minimizer: the smallest request that still does the same. Pure: what "the same" means is the
// caller's. Deterministic, and idempotent as long as the caller's answer is stable.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_MINIMIZER_H_
#define WALKHAMMER_HARNESS_SUPERVISE_MINIMIZER_H_

#include <functional>

#include "harness/request/walk_request.h"

namespace walkhammer {

// True if the request still does the same.
using Reproduces = std::function<bool(const WalkRequest&)>;

struct Minimized {
  WalkRequest request;
  int tried = 0;  // requests that were asked about
};

// Drops edits, restores registers, anchor, state, depth and options to their defaults, and brings
// what must stay closer to a plain symbol: no step is kept that does not reproduce. `request`
// itself must reproduce. Stops early, with the best so far, once `most_tries` is used up.
Minimized Minimize(const WalkRequest& request, const Reproduces& reproduces, int most_tries);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_MINIMIZER_H_
