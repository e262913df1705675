// SPDX-License-Identifier: Apache-2.0
// Minimizer: shrinks a request for as long as the caller's predicate holds. Has no side effects but
// those of the predicate. Deterministic, and idempotent if the predicate's answers are stable.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_MINIMIZER_H_
#define WALKHAMMER_HARNESS_SUPERVISE_MINIMIZER_H_

#include <functional>

#include "harness/request/walk_request.h"

namespace walkhammer {

// The predicate: true if the request still reproduces what the caller wants.
using Reproduces = std::function<bool(const WalkRequest&)>;

struct Minimized {
  WalkRequest request;
  int tried = 0;  // calls of the predicate
};

// Drops edits, restores registers, anchor, state, depth and options to their defaults, and
// simplifies the values that must stay. Keeps only steps that reproduce. `request` itself must
// reproduce. Stops after `most_tries` calls of the predicate, with the best request so far.
Minimized Minimize(const WalkRequest& request, const Reproduces& reproduces, int most_tries);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_MINIMIZER_H_
