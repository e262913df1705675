// SPDX-License-Identifier: Apache-2.0
// Which walk a JVM's death is blamed on. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_MATRIX_BLAME_H_
#define WALKHAMMER_HARNESS_SUPERVISE_MATRIX_BLAME_H_

#include <string>
#include <string_view>

#include "harness/shared/stress_state.h"

namespace walkhammer {

struct Blame {
  const SampleJournal* journal = nullptr;  // of the walk; null: no walk was under way
  std::string why;                         // why that walk, for the end of a sentence; may be empty
};

// The walk of the thread that the hs_err log (empty: there is none) says failed; where that thread
// was in no walk, or is not known, the newest walk that was under way.
Blame WalkToBlame(const StressState& state, std::string_view hs_err);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_MATRIX_BLAME_H_
