// SPDX-License-Identifier: Apache-2.0
// The end of a shared state that is in the JVM, or in an engine beside it. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SHARED_STATE_H_
#define WALKHAMMER_HARNESS_SHARED_STATE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "harness/base/result.h"
#include "harness/shared/shared_state.h"

namespace walkhammer {

// Maps the file at `path`, which must be `size` bytes long and begin with `magic`: made by a
// walkhammer of this build. Stays mapped.
Result<void*> MapState(const std::string& path, size_t size, uint64_t magic);

// Maps a file that holds a SharedState or a StressState.
template <typename State>
Result<State*> OpenStateAt(const std::string& path) {
  ASSIGN_OR_RETURN(auto memory, MapState(path, sizeof(State), State::kMagic));
  return static_cast<State*>(memory);
}

// The SharedState that the environment's WALKHAMMER_STATE names. Null where the variable is not
// set: nobody supervises this process.
Result<SharedState*> OpenState();

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SHARED_STATE_H_
