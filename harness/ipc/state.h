// SPDX-License-Identifier: Apache-2.0
// Opens a shared state in the JVM's process, or in an engine beside it. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_IPC_STATE_H_
#define WALKHAMMER_HARNESS_IPC_STATE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "harness/base/result.h"
#include "harness/ipc/shared_state.h"

namespace walkhammer {

// Maps the file at `path`, which must be `size` bytes long and begin with `magic`, as a walkhammer
// of this build makes it. The mapping stays for good. Fails with kToolFailed.
Result<void*> MapState(const std::string& path, size_t size, uint64_t magic);

// Maps the file at `path`, which holds a `State`: a SharedState or a StressState.
template <typename State>
Result<State*> OpenStateAt(const std::string& path) {
  ASSIGN_OR_RETURN(auto memory, MapState(path, sizeof(State), State::kMagic));
  return static_cast<State*>(memory);
}

// Maps the SharedState whose file the environment variable WALKHAMMER_STATE names. Null if the
// variable is not set: no parent supervises this process.
Result<SharedState*> OpenState();

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_IPC_STATE_H_
