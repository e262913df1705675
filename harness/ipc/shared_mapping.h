// SPDX-License-Identifier: Apache-2.0
// SharedMapping: makes and owns the memory of a SharedState. Used by the command, by a fuzz target
// that no command supervises, and by AFL++'s mutator library. OpenState: opens that memory in the
// JVM's process, or in an engine beside it. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_IPC_SHARED_MAPPING_H_
#define WALKHAMMER_HARNESS_IPC_SHARED_MAPPING_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "harness/base/result.h"
#include "harness/ipc/shared_state.h"

namespace walkhammer {

// Memory that processes share: zeroed by the kernel, mapped here at `memory`. A process that
// inherits `fd` can map the memory, too. The caller of MakeSharedMemory owns both.
struct SharedMemory {
  int fd;
  void* memory;
};
Result<SharedMemory> MakeSharedMemory(const char* name, size_t size);

// The parent's side of the mapping that parent and child share. Owns memory and `fd`.
class SharedMapping {
 public:
  static Result<std::unique_ptr<SharedMapping>> Create();
  ~SharedMapping();
  SharedMapping(const SharedMapping&) = delete;
  SharedMapping& operator=(const SharedMapping&) = delete;

  SharedState& state() { return *state_; }
  int fd() const { return fd_; }

 private:
  SharedMapping() = default;
  int fd_ = -1;
  SharedState* state_ = nullptr;
};

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

#endif  // WALKHAMMER_HARNESS_IPC_SHARED_MAPPING_H_
